/** The nearest participant serves; if it does not answer, the next one does, where that is safe. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_TIMES } from '../../worker/router/context.ts'
import { ANYWHERE, AT_HOME, OPERATION } from './calls-of-a-lock.ts'
import {
  createHarness,
  DEFAULTS,
  done,
  NEAR_1,
  NEAR_2,
  NEAR_3,
  never,
  place,
  problemOf,
  refuse,
  statusOf,
  USER,
  usualAnswer,
} from './fake.ts'

const crash = () => {
  throw new Error('Network connection lost.')
}

it('a silence is remembered until the others have been asked: six of thirteen may be silent', () => {
  const { silenceMs, probeAfterMs, probeMs } = DEFAULT_TIMES
  expect(silenceMs).toBeGreaterThan(6 * (probeAfterMs + probeMs))
})

describe.each(ANYWHERE)('%s %s', (method, path, body) => {
  it.each([
    [NEAR_1, 1],
    [NEAR_2, 2],
    [NEAR_3, 3],
    [undefined, 1],
  ])('from %j is served by participant %i', async (cf, nearest) => {
    const { send, participants } = createHarness()
    expect((await send(method, path, body, { ...(cf && { cf }) })).status).toBeLessThan(300)
    expect(participants.order()).toEqual([nearest])
  })

  it.each([
    ['breaks', crash],
    ['answers 500', () => new Response('no', { status: 500 })],
    ['answers nonsense', () => new Response('no')],
    ['answers another service', () => Response.json({ hello: 1 })],
    ['does not know us', () => new Response(null, { status: 401 })],
    ['has no quorum', () => refuse('no_quorum')],
    ['never answers', never],
  ])('is served by the next one if the nearest %s', async (_, behaviour) => {
    const { send, participants } = createHarness()
    participants.on(1, behaviour)
    const response = await send(method, path, body, { cf: NEAR_1 })
    expect(response.status).toBeLessThan(300)
    expect(participants.order()[0]).toBe(1)
    expect(participants.asked.find(({ participant }) => participant !== 1)?.participant).toBe(2)
  })

  it('is refused with 503 no_quorum if nobody answers', async () => {
    const { send, participants, log } = createHarness()
    participants.onAll(crash)
    const response = await send(method, path, body)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    const problem = await problemOf(response)
    expect(problem).toMatchObject({ code: 'no_quorum', retryable: true })
    expect(problem.detail).toMatch(/^No participant of this lock answered/)
    expect(problem.outcome).toBe(path.endsWith('transact') ? 'unknown' : undefined)
    expect(new Set(participants.order())).toEqual(new Set([1, 2, 3]))
    expect(log.map(({ level }) => level)).toEqual(['warning', 'warning', 'warning'])
    expect(JSON.stringify(problem)).not.toContain('Network')
  })
})

describe.each(AT_HOME)('%s %s', (method, path, body) => {
  it('is served by the participant that its id names, wherever the request comes from', async () => {
    const { send, participants } = createHarness()
    const elsewhere = path.replace('/1-', '/3-')
    expect((await send(method, elsewhere, body, { cf: NEAR_2 })).status).toBeLessThan(300)
    expect(participants.order()).toEqual([3])
  })

  it.each([
    ['breaks', crash],
    ['never answers', never],
  ])('is refused with 503 and asked of nobody else if that one %s', async (_, behaviour) => {
    const { send, participants } = createHarness()
    participants.on(1, behaviour)
    const response = await send(method, path, body)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    const problem = await problemOf(response)
    expect(problem).toMatchObject({ code: 'no_quorum', retryable: true })
    expect(problem.outcome).toBe(path.endsWith('ops') ? 'unknown' : undefined)
    expect(new Set(participants.order())).toEqual(new Set([1]))
  })

  it('is over if the lock has no such participant', async () => {
    const { send, participants } = createHarness()
    const response = await send(method, path.replace('/1-', '/9-'), body)
    const isTicket = path.includes('tickets')
    expect(response.status).toBe(isTicket ? 404 : 410)
    expect(await problemOf(response)).toMatchObject({ code: isTicket ? 'no_such_ticket' : 'ejected' })
    // One, and then everybody: one alone may have missed that it came.
    expect(participants.order('status')).toEqual([1, 1, 2, 3])
    expect(participants.asked).toHaveLength(4)
  })
})

describe('at', () => {
  it.each([
    ['POST', '/v1/locks/jobs/acquire', { at: 3 }],
    ['POST', '/v1/locks/jobs/transact', { ...OPERATION, at: 3 }],
    ['GET', '/v1/locks/jobs/state/a?at=3', undefined],
    ['GET', '/v1/locks/jobs/state?at=3', undefined],
  ])('decides who serves %s %s, also if that one is gone', async (method, path, body) => {
    const { send, participants } = createHarness()
    expect((await send(method, path, body, { cf: NEAR_1 })).status).toBe(200)
    participants.on(3, crash)
    const response = await send(method, path, body)
    expect(response.status).toBe(503)
    expect((await problemOf(response)).detail).toMatch(/^Participant 3 of this lock did not answer/)
    expect(new Set(participants.order())).toEqual(new Set([3]))
  })

  it.each([
    ['POST', '/v1/locks/jobs/acquire', { at: 9 }],
    ['POST', '/v1/locks/jobs/transact', { ...OPERATION, at: 9 }],
    ['GET', '/v1/locks/jobs/state/a?at=9', undefined],
    ['GET', '/v1/locks/jobs/state?at=9', undefined],
    ['GET', '/v1/locks/jobs/watch?at=9', undefined],
  ])('that the lock does not have: 400 for %s %s', async (method, path, body) => {
    const { send } = createHarness()
    const response = await send(method, path, body)
    expect(response.status).toBe(400)
    expect((await problemOf(response)).errors).toMatchObject([{ path: 'at' }])
  })

  it('is looked for in the configuration as the participants know it', async () => {
    const { send, participants } = createHarness()
    const configuration = { ...DEFAULTS, participants: [1, 2, 3, 4, 5].map(id => place(id, null)) }
    participants.on(1, crash).on(2, () => done(200, statusOf({ configuration })))
    expect((await send('POST', '/v1/locks/jobs/acquire', { at: 5 })).status).toBe(200)
    expect((await send('POST', '/v1/locks/jobs/acquire', { at: 4 })).status).toBe(200)
    expect(participants.order('acquire')).toEqual([5, 4])
    expect(participants.order('status').at(-1)).toBe(2)
  })
})

describe('after a silence', () => {
  it('an acquire is withdrawn where it was not heard of', async () => {
    const { send, participants, background } = createHarness()
    participants.on(1, call => (call.type === 'withdraw' ? usualAnswer(call, 1) : never()))
    const response = await send('POST', '/v1/locks/jobs/acquire', {}, { cf: NEAR_1 })
    expect(await response.json()).toMatchObject({ grant: { participant: 2 } })
    await Promise.all(background)
    const [first, , withdrawal] = participants.asked.filter(({ participant }) => participant === 1)
    expect(withdrawal?.call).toEqual({ type: 'withdraw', user: (first!.call as { user: string }).user })
    expect(participants.order('withdraw')).toEqual([1])
  })

  it.each([
    ['locked', { outcome: 'not-applied' }],
    ['conflict', {}],
    ['no_quorum', { outcome: 'not-applied' }],
    ['ejected', { outcome: 'not-applied' }],
  ] as const)('nobody can say that a transact was not applied, so %s says unknown', async (code, more) => {
    const { send, participants } = createHarness()
    participants.onAll(() => refuse(code, more)).on(1, crash)
    const response = await send('POST', '/v1/locks/jobs/transact', OPERATION)
    expect(await problemOf(response)).toMatchObject({ code, outcome: 'unknown' })
  })

  it('but a transact that was heard of by all keeps its outcome', async () => {
    const { send, participants } = createHarness()
    participants.onAll(() => refuse('no_quorum', { outcome: 'not-applied' }))
    const response = await send('POST', '/v1/locks/jobs/transact', OPERATION)
    expect(await problemOf(response)).toMatchObject({ code: 'no_quorum', outcome: 'not-applied' })
  })

  it('a transact goes on under the same opId', async () => {
    const { send, participants } = createHarness()
    participants.on(1, crash).on(2, () => refuse('no_quorum', { outcome: 'unknown' }))
    expect((await send('POST', '/v1/locks/jobs/transact', OPERATION)).status).toBe(200)
    const opIds = participants.asked.map(({ call }) => call.type === 'transact' && call.opId)
    expect(opIds.filter(Boolean)).toEqual(['o-1', 'o-1', 'o-1'])
  })

  it('the silent one is asked last for a while, and first again when it has answered', async () => {
    let now = 1_000_000
    const { send, participants } = createHarness({ now: () => now })
    const read = async () => {
      participants.asked.length = 0
      expect((await send('GET', '/v1/locks/jobs/state/a', undefined, { cf: NEAR_1 })).status).toBe(200)
      return participants.order()
    }
    participants.on(1, crash)
    expect(await read()).toEqual([1, 2])
    expect(await read()).toEqual([2])
    participants.on(1, call => usualAnswer(call, 1))
    expect(await read()).toEqual([2])
    now += 1_001
    expect(await read()).toEqual([1])
  })

  it('is remembered no longer because the clock was set back', async () => {
    let now = 10_000_000
    const { send, participants } = createHarness({ now: () => now })
    const read = async () => {
      participants.asked.length = 0
      await send('GET', '/v1/locks/jobs/state/a', undefined, { cf: NEAR_1 })
      return participants.order()
    }
    participants.on(1, crash)
    expect(await read()).toEqual([1, 2])
    participants.on(1, call => usualAnswer(call, 1))
    now -= 3_600_000
    expect(await read()).toEqual([1])
  })

  it('of everybody, everybody is asked again', async () => {
    const { send, participants } = createHarness()
    participants.onAll(crash)
    expect((await send('GET', '/v1/locks/jobs/state/a')).status).toBe(503)
    participants.onAll(call => usualAnswer(call, 1))
    expect((await send('GET', '/v1/locks/jobs/state/a')).status).toBe(200)
  })
})

it('a grant id is of use only with the whole user', async () => {
  const { send, participants } = createHarness()
  await send('DELETE', `/v1/locks/jobs/grants/1-1025-${USER}`)
  expect(participants.asked[0]?.call).toEqual({ type: 'release', user: USER, fence: 1025 })
})
