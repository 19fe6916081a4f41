/** `409 locked` says who holds the lock, whichever participant was asked. */
import { describe, expect, it } from 'vitest'
import type { ParticipantAnswer, ParticipantCall } from '../../worker/participant/calls.ts'
import {
  createHarness,
  DEFAULTS,
  done,
  EXPIRES_AT,
  NEAR_1,
  never,
  place,
  problemOf,
  refuse,
  statusOf,
} from './fake.ts'

const SINCE = '2026-11-16T11:59:00.000Z'
const holder = { participant: 3, fence: 1030, expiresAt: EXPIRES_AT, since: SINCE, owner: 'checkout-7' }
const OPERATION = { opId: 'one', ops: [{ increment: 'n' }] }

const answering =
  (status: ParticipantAnswer, refusal: ParticipantAnswer = refuse('locked')) =>
  (call: ParticipantCall) =>
    call.type === 'status' ? status : refusal

describe('409 locked', () => {
  it.each([
    ['acquire', { waitMs: 0 }],
    ['transact', OPERATION],
  ])('of %s tells the holder at another participant, and who waits', async (call, body) => {
    const { send, participants } = createHarness()
    const waitingSince = '2026-11-16T11:59:30.000Z'
    participants
      .on(1, answering(done(200, statusOf({ queue: 1, waitingSince: '2026-11-16T11:59:31.000Z' }))))
      .on(2, answering(done(200, statusOf({ queue: 2, waitingSince }))))
      .on(3, answering(done(200, statusOf({ holder }))))
    const response = await send('POST', `/v1/locks/jobs/${call}`, body, { cf: NEAR_1 })
    expect(response.status).toBe(409)
    expect(await problemOf(response)).toMatchObject({
      code: 'locked',
      detail: `The lock was not granted in time: it is held by checkout-7 at participant 3 until ${EXPIRES_AT}, unless it is kept alive.`,
      holder,
      waiting: { count: 3, since: waitingSince },
    })
  })

  it('leaves out what a silent participant would know, and does not wait for it twice', async () => {
    const { send, participants } = createHarness()
    participants.onAll(answering(done(200, statusOf()))).on(3, never)
    const problem = await problemOf(await send('POST', '/v1/locks/jobs/acquire', { waitMs: 0 }))
    expect(problem).toMatchObject({ code: 'locked', waiting: { count: 0, since: null } })
    expect(problem.holder).toBeUndefined()
    const before = participants.order('status')
    await send('POST', '/v1/locks/jobs/acquire', { waitMs: 0 })
    expect(participants.order('status').slice(before.length).sort()).toEqual([1, 2])
  })

  it('keeps what the participant that refused has said, unless somebody has come since', async () => {
    const { send, participants } = createHarness()
    const told = { ...holder, participant: 1, fence: 2_000 }
    const refusal = refuse('locked', { more: { holder: told } })
    participants.onAll(answering(done(200, statusOf()), refusal))
    const kept = await problemOf(await send('POST', '/v1/locks/jobs/acquire', { waitMs: 0 }))
    expect(kept.holder).toEqual(told)
    participants.onAll(answering(done(200, statusOf({ holder: { ...holder, fence: 3_000 } })), refusal))
    const newer = await problemOf(await send('POST', '/v1/locks/jobs/acquire', { waitMs: 0 }))
    expect(newer.holder).toMatchObject({ fence: 3_000 })
  })

  it('asks nobody when the lock is granted', async () => {
    const { send, participants } = createHarness()
    expect((await send('POST', '/v1/locks/jobs/acquire', {})).status).toBe(200)
    expect(participants.order('status')).toEqual([])
  })
})

const ONE_OF_THREE =
  'Nobody is known to hold this lock, but only 1 of its 3 participants answer, and it needs 2.'

describe('without a majority', () => {
  it.each([
    ['POST', '/acquire', { waitMs: 0 }, undefined],
    ['POST', '/transact', OPERATION, 'not-applied'],
    ['DELETE', '?force=true&generation=1', undefined, undefined],
  ] as const)('regression: %s %s is no_quorum, if nobody is known to hold it', async (...asked) => {
    const [method, path, body, outcome] = asked
    const { send, participants } = createHarness()
    const refusal = refuse('locked', outcome && { outcome })
    participants.onAll(never).on(1, answering(done(200, statusOf()), refusal))
    const response = await send(method, `/v1/locks/jobs${path}`, body, { cf: NEAR_1 })
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    const problem = await problemOf(response)
    expect(problem).toMatchObject({ code: 'no_quorum', detail: ONE_OF_THREE })
    expect(problem.outcome).toBe(outcome)
  })

  it('a lock that somebody holds is locked', async () => {
    const { send, participants } = createHarness()
    participants.onAll(never).on(1, answering(done(200, statusOf({ holder }))))
    const response = await send('POST', '/v1/locks/jobs/acquire', { waitMs: 0 }, { cf: NEAR_1 })
    expect(response.status).toBe(409)
  })

  it('those count that know of no such lock, and those that were silent and are back', async () => {
    const { send, participants } = createHarness()
    participants.onAll(never).on(1, answering(done(200, statusOf())))
    const acquire = () => send('POST', '/v1/locks/jobs/acquire', { waitMs: 0 }, { cf: NEAR_1 })
    expect((await acquire()).status).toBe(503)
    participants.on(2, answering(refuse('no_such_lock')))
    expect((await acquire()).status).toBe(409)
  })
})

describe('without a majority of those that are participants now', () => {
  // 2 and 3 have left, and answer. 4 and 5 have come, and do not.
  const configuration = { ...DEFAULTS, number: 2, participants: [1, 4, 5].map(id => place(id, 'oc')) }

  it.each([
    ['POST', '/acquire', { waitMs: 0 }],
    ['DELETE', '?force=true&generation=1', undefined],
  ] as const)('regression: %s %s is no_quorum: those that have left do not count', async (...asked) => {
    const [method, path, body] = asked
    for (const ofThoseThatLeft of [done(200, statusOf()), refuse('no_such_lock')]) {
      const { send, participants } = createHarness()
      participants.onAll(answering(ofThoseThatLeft)).on(1, answering(done(200, statusOf({ configuration }))))
      participants.on(4, never).on(5, never)
      const response = await send(method, `/v1/locks/jobs${path}`, body, { cf: NEAR_1 })
      expect(await problemOf(response)).toMatchObject({ code: 'no_quorum', detail: ONE_OF_THREE })
    }
  })
})

describe('owner', () => {
  it('reaches the participant', async () => {
    const { send, participants } = createHarness()
    await send('POST', '/v1/locks/jobs/acquire', { owner: 'checkout-7' })
    await send('POST', '/v1/locks/jobs/transact', { ...OPERATION, owner: 'ünï 😀' })
    await send('POST', '/v1/locks/jobs/acquire', {})
    const owners = participants.asked.map(({ call }) => ('owner' in call ? call.owner : 'none'))
    expect(owners).toEqual(['checkout-7', 'ünï 😀', 'none'])
  })

  it.each([
    ['', 'owner'],
    ['x'.repeat(129), 'owner'],
    ['a\nb', 'owner'],
    ['\u001b[31mred', 'owner'],
    ['\ud800', 'owner'],
    [7, 'owner'],
    [null, 'owner'],
    [{ name: 'x' }, 'owner'],
  ])('400 for %j', async (owner, path) => {
    const { send, participants } = createHarness()
    for (const [call, body] of [
      ['acquire', {}],
      ['transact', OPERATION],
    ] as const) {
      const problem = await problemOf(await send('POST', `/v1/locks/jobs/${call}`, { ...body, owner }))
      expect(problem).toMatchObject({ status: 400, code: 'bad_request', errors: [{ in: 'body', path }] })
    }
    expect(participants.asked).toEqual([])
  })

  it('may have 128 characters, whatever they are', async () => {
    const { send } = createHarness()
    for (const owner of ['x'.repeat(128), '😀'.repeat(128)])
      expect((await send('POST', '/v1/locks/jobs/acquire', { owner })).status).toBe(200)
  })
})
