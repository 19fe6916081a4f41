/** What the router says of an operation after a try whose fate nobody knows. */
import { describe, expect, it } from 'vitest'
import {
  createHarness,
  DEFAULTS,
  done,
  GRANT_ID,
  place,
  problemOf,
  refuse,
  statusOf,
  stubError,
  usualAnswer,
} from './fake.ts'

const OPERATION = { opId: 'o-1', ops: [{ increment: 'n' }] }
const TRANSACT = '/v1/locks/jobs/transact'
const OPS = `/v1/locks/jobs/grants/${GRANT_ID}/ops`
const EJECT = '/v1/locks/jobs/eject'
const notApplied = { outcome: 'not-applied' }

type Marks = Parameters<typeof stubError>[0]

/** Participant 1 carries the first try out, is reset before it answers, and refuses the second. */
function resetThen(second: Parameters<ReturnType<typeof createHarness>['participants']['on']>[1]) {
  return (marks: Marks) => {
    const harness = createHarness()
    let tries = 0
    harness.participants.onAll(second).on(1, (call, request) => {
      if (call.type !== 'withdraw' && ++tries === 1) throw stubError(marks)
      return call.type === 'withdraw' ? usualAnswer(call, 1) : second(call, request)
    })
    return harness
  }
}

describe.each<[string, Marks]>([
  ['a reset', { durableObjectReset: true }],
  ['a lost connection', { retryable: true }],
])("after %s, within the router's own second try,", (_, marks) => {
  it.each([
    ['transact', TRANSACT, OPERATION, 'locked'],
    ['transact at a participant', TRANSACT, { ...OPERATION, at: 1 }, 'locked'],
    ['transact', TRANSACT, OPERATION, 'ejected'],
    ['transact', TRANSACT, OPERATION, 'too_many'],
    ['transact', TRANSACT, OPERATION, 'no_quorum'],
    ['ops', OPS, OPERATION, 'released'],
    ['ops', OPS, OPERATION, 'expired'],
    ['ops', OPS, OPERATION, 'conflict'],
  ] as const)('%s (%s) is not told that nothing was applied', async (_, path, body, code) => {
    const { send } = resetThen(() => refuse(code, notApplied))(marks)
    const problem = await problemOf(await send('POST', path, body))
    expect(problem.outcome).toBe('unknown')
  })

  it('nor is a transact at a participant that is none any more', async () => {
    const configuration = { ...DEFAULTS, number: 4_097, participants: [place(2, 'enam'), place(3, 'apac')] }
    const { send } = resetThen(call =>
      call.type === 'status' ? done(200, statusOf({ configuration })) : { type: 'elsewhere', configuration },
    )(marks)
    const problem = await problemOf(await send('POST', TRANSACT, { ...OPERATION, at: 1 }))
    expect(problem).toMatchObject({ code: 'no_quorum', outcome: 'unknown' })
  })

  it('what was applied is told as applied', async () => {
    for (const path of [TRANSACT, OPS]) {
      const { send } = resetThen(call => usualAnswer(call, 1))(marks)
      expect((await send('POST', path, OPERATION)).status).toBe(200)
      const applied = resetThen(() => refuse('ejected', { outcome: 'applied' }))(marks)
      expect(await problemOf(await applied.send('POST', path, OPERATION))).toMatchObject({
        outcome: 'applied',
      })
    }
  })

  it('ops whose fate under its grant is settled is told what it is', async () => {
    const settled = { ...notApplied, more: { settled: true } }
    const { send } = resetThen(() => refuse('ejected', settled))(marks)
    expect(await problemOf(await send('POST', OPS, OPERATION))).toMatchObject({ outcome: 'not-applied' })
  })

  it('a transact has its own grant at each try: what one settles says nothing about the other', async () => {
    const settled = { ...notApplied, more: { settled: true } }
    const { send } = resetThen(() => refuse('ejected', settled))(marks)
    const problem = await problemOf(await send('POST', TRANSACT, OPERATION))
    expect(problem.outcome).toBe('unknown')
    expect(problem.settled).toBeUndefined()
  })

  it('a participant that is none any more leaves a transact in doubt', async () => {
    const moved = { ...DEFAULTS, number: 2, participants: [place(4, null)] }
    const { send } = resetThen(() => ({ type: 'elsewhere', configuration: moved }))(marks)
    const problem = await problemOf(await send('POST', TRANSACT, { ...OPERATION, at: 1 }))
    expect(problem).toMatchObject({ code: 'no_quorum', outcome: 'unknown' })
  })

  it('an eject is not told that nobody was ejected', async () => {
    const { send } = resetThen(() => refuse('conflict'))(marks)
    const problem = await problemOf(await send('POST', EJECT, { fence: 7 }))
    expect(problem).toMatchObject({ code: 'conflict', outcome: 'unknown' })
    expect(problem.detail).toContain('may have')
  })
})

it('an eject that the next participant refuses after a silence may have ejected somebody', async () => {
  const { send, participants } = createHarness()
  participants
    .on(1, () => {
      throw new Error('Network connection lost.')
    })
    .on(2, () => refuse('conflict'))
  expect(await problemOf(await send('POST', EJECT, { fence: 7 }))).toMatchObject({ outcome: 'unknown' })
})

it('regression: a delete that finds the lock held, after a silence, may itself hold it', async () => {
  const { send, participants } = createHarness()
  participants
    .on(1, () => {
      throw new Error('Network connection lost.')
    })
    .on(2, () => refuse('locked'))
  const problem = await problemOf(await send('DELETE', '/v1/locks/jobs?generation=1'))
  expect(problem).toMatchObject({ code: 'locked', outcome: 'unknown' })
  expect(problem.detail).toContain('may still delete it')
  participants.on(1, () => refuse('locked'))
  expect((await problemOf(await send('DELETE', '/v1/locks/jobs?generation=1'))).outcome).toBeUndefined()
})

it.each([
  ['DELETE', '/v1/locks/jobs?generation=1', undefined],
  ['POST', EJECT, {}],
  ['POST', '/v1/locks/jobs/participants', { remove: 3 }],
  ['POST', '/v1/locks/jobs/acquire', { waitMs: 0 }],
] as const)(
  '%s %s: that the others refuse says nothing of the one that is silent',
  async (method, path, body) => {
    const { send, participants } = createHarness()
    participants
      .onAll(() => refuse('no_quorum', notApplied))
      .on(1, () => {
        throw new Error('Network connection lost.')
      })
    const problem = await problemOf(await send(method, path, body))
    expect(problem).toMatchObject({ code: 'no_quorum', outcome: 'unknown' })
  },
)

it.each([
  '/v1/locks/jobs/state/a',
  '/v1/locks/jobs/state/a?at=1',
  '/v1/locks/jobs/state',
  '/v1/locks/jobs/export',
  '/v1/locks/jobs/watch',
])('GET %s: a read has no outcome, in doubt or not', async path => {
  const { send, participants } = createHarness()
  participants.onAll(() => refuse('no_quorum', notApplied))
  expect((await problemOf(await send('GET', path))).outcome).toBeUndefined()
  participants.on(1, () => {
    throw new Error('Network connection lost.')
  })
  expect((await problemOf(await send('GET', path))).outcome).toBeUndefined()
})

it('without a doubt every outcome stays what it is', async () => {
  const { send, participants } = createHarness()
  participants.on(1, () => refuse('locked', notApplied))
  expect(await problemOf(await send('POST', TRANSACT, OPERATION))).toMatchObject(notApplied)
  participants.on(1, () => refuse('released', notApplied))
  expect(await problemOf(await send('POST', OPS, OPERATION))).toMatchObject(notApplied)
  participants.on(1, () => refuse('conflict'))
  expect((await problemOf(await send('POST', EJECT, { fence: 7 }))).outcome).toBeUndefined()
  participants.on(1, () => done(200, { epoch: 3 }))
  expect((await send('POST', EJECT, { fence: 7 })).status).toBe(200)
})
