/**
 * Limits that take thousands of calls to reach, tested on participants in Node, where a call costs next to
 * nothing.
 */
import { expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { ParticipantAnswer, ParticipantCall } from '../../worker/participant/calls.ts'
import { FakeLock, requestTo } from './fake-object.ts'

async function ask(lock: FakeLock, call: ParticipantCall): Promise<ParticipantAnswer> {
  const response = await lock.objects[0]!.participant.fetch(requestTo('/call', { call }))
  return (await response.json()) as ParticipantAnswer
}

const transact = (opId: string): ParticipantCall => {
  return { type: 'transact', user: opId, opId, ops: [{ increment: 'n' }], waitMs: 1_000 }
}

it('one more linearizable read than a participant has under way is too many', async () => {
  const lock = await FakeLock.create(3)
  expect(await ask(lock, transact('first'))).toMatchObject({ status: 200 })
  // From now on nobody answers the questions of reads.
  lock.gate = new Promise(() => {})
  const read: ParticipantCall = { type: 'get', key: 'n', consistency: 'linearizable' }
  const answers: ParticipantAnswer[] = []
  for (let count = 0; count < API_LIMITS.waiters; count++)
    void ask(lock, read).then(answer => answers.push(answer))
  expect(await ask(lock, read)).toMatchObject({ type: 'problem', code: 'too_many', retryAfterSeconds: 1 })
  expect(answers).toEqual([])
  expect(await ask(lock, { ...read, consistency: 'local' })).toMatchObject({
    status: 200,
    body: { value: 1 },
  })
})

it('one more call than a participant has under way is too many, except for what makes room', async () => {
  const lock = await FakeLock.create(3)
  const acquire = { type: 'acquire', waitMs: 0, ttlMs: 600_000, ticket: true, confirm: false } as const
  const held = await ask(lock, { ...acquire, user: 'holder' })
  const { fence } = (held as unknown as { body: { grant: { fence: number } } }).body.grant
  const queued = ask(lock, { ...acquire, user: 'next' })
  // Here only the test wakes the object when its time has come.
  await new Promise(resolve => setTimeout(resolve, 50))
  await lock.objects[0]!.participant.alarm()
  expect(await queued).toMatchObject({ status: 202 })
  const poll: ParticipantCall = { type: 'ticket', user: 'next', waitMs: 600_000 }
  const polls = Array.from({ length: API_LIMITS.callsInFlight }, () => ask(lock, poll))
  const tooMany = { type: 'problem', code: 'too_many', retryAfterSeconds: 1 }
  expect(await ask(lock, poll)).toMatchObject(tooMany)
  expect(await ask(lock, { type: 'get', key: 'n', consistency: 'local' })).toMatchObject(tooMany)
  expect(await ask(lock, transact('refused'))).toMatchObject({ ...tooMany, outcome: 'not-applied' })
  expect(await ask(lock, { type: 'status' })).toMatchObject({
    status: 200,
    body: { gauges: { calls: API_LIMITS.callsInFlight + 1 } },
  })
  expect(await ask(lock, { type: 'keepalive', user: 'holder', fence, ttlMs: null })).toMatchObject({
    status: 200,
  })
  expect(await ask(lock, { type: 'release', user: 'holder', fence })).toMatchObject({ status: 204 })
  // All of them asked for the one ticket, and there is room again.
  const grants = (await Promise.all(polls)).map(answer => JSON.stringify(answer))
  expect(new Set(grants).size).toBe(1)
  expect(JSON.parse(grants[0]!)).toMatchObject({ status: 200, body: { grant: { participant: 1 } } })
  expect(await ask(lock, { type: 'withdraw', user: 'next' })).toMatchObject({ status: 204 })
  expect(await ask(lock, transact('taken'))).toMatchObject({ status: 200, body: { results: [{ value: 1 }] } })
})

it('the last operations are answered again, as many as promised; older ones are new ones', async () => {
  const lock = await FakeLock.create(1)
  const count = async (opId: string) => {
    const { body } = (await ask(lock, transact(opId))) as unknown as {
      body: { results: { value: number }[] }
    }
    return body.results[0]!.value
  }
  for (let index = 1; index <= API_LIMITS.resultsKept; index++) await count(`op-${index}`)
  expect(await count('op-1')).toBe(1)
  expect(await count('one more')).toBe(API_LIMITS.resultsKept + 1)
  expect(await count('op-2')).toBe(2)
  expect(await count('op-1')).toBe(API_LIMITS.resultsKept + 2)
})
