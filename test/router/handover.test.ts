/** A grant that was waited for is handed over; and an acquire is withdrawn by its waiter's name. */
import { describe, expect, it } from 'vitest'
import { userOfWaiter } from '../../shared/api/ids.ts'
import type { ParticipantCall } from '../../worker/participant/calls.ts'
import { createHarness, DEFAULTS, done, type Harness, place, problemOf, refuse, usualAnswer } from './fake.ts'

const ACQUIRE = '/v1/locks/jobs/acquire'
const WAITER = 'w'.repeat(22)

/** All participants grant after waiting. */
function waited(): Harness {
  const harness = createHarness()
  harness.participants.onAll(call => {
    const answer = usualAnswer(call, 1)
    return call.type === 'acquire' && answer.type === 'done' ? { ...answer, isUntaken: true } : answer
  })
  return harness
}

const heard = ({ participants }: Harness, type: ParticipantCall['type']) =>
  participants.asked.filter(({ call }) => call.type === type).map(({ call }) => call)

const userOf = (harness: Harness): string => (heard(harness, 'acquire')[0] as { user: string }).user

describe('a grant that was waited for', () => {
  it('is confirmed once its answer was read, which is as it would be otherwise', async () => {
    const harness = waited()
    const response = await harness.send('POST', ACQUIRE, {})
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(heard(harness, 'confirm')).toEqual([])
    expect(await response.json()).toMatchObject({ grant: { fence: 1025, participant: 1 } })
    await Promise.all(harness.background)
    expect(heard(harness, 'confirm')).toEqual([{ type: 'confirm', user: userOf(harness) }])
    expect(heard(harness, 'withdraw')).toEqual([])
  })

  it('is withdrawn if the connection breaks at the first byte', async () => {
    const harness = waited()
    const response = await harness.send('POST', ACQUIRE, {})
    const reader = response.body!.getReader()
    const { value } = await reader.read()
    expect(new TextDecoder().decode(value)).toBe('{')
    await reader.cancel()
    await Promise.all(harness.background)
    expect(heard(harness, 'withdraw')).toEqual([{ type: 'withdraw', user: userOf(harness) }])
    expect(heard(harness, 'confirm')).toEqual([])
  })

  it('is neither while nobody reads: the participant ends it', async () => {
    const harness = waited()
    await harness.send('POST', ACQUIRE, {})
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(heard(harness, 'confirm')).toEqual([])
    expect(heard(harness, 'withdraw')).toEqual([])
  })

  it('is confirmed although the participant does not answer the first time', async () => {
    const harness = waited()
    const response = await harness.send('POST', ACQUIRE, { at: 1 })
    let failures = 0
    harness.participants.on(1, call => {
      if (failures++ === 0) throw new Error('lost')
      return usualAnswer(call, 1)
    })
    await response.text()
    await Promise.all(harness.background)
    expect(heard(harness, 'confirm')).toHaveLength(2)
  })

  it('is the only one that is handed over', async () => {
    const harness = createHarness()
    const response = await harness.send('POST', ACQUIRE, {})
    await response.json()
    await Promise.all(harness.background)
    expect(heard(harness, 'confirm')).toEqual([])
  })
})

describe('a waiter that the client has named', () => {
  it('is the user, marked as named by a client', async () => {
    const { send, participants } = createHarness()
    await send('POST', ACQUIRE, { waiter: WAITER })
    expect(participants.asked[0]!.call).toMatchObject({ type: 'acquire', user: userOfWaiter(WAITER) })
  })

  it.each(['', 'short', 'w'.repeat(23), `${'w'.repeat(21)}!`])('is refused if it is %j', async waiter => {
    const { send } = createHarness()
    expect(await problemOf(await send('POST', ACQUIRE, { waiter }))).toMatchObject({ code: 'bad_request' })
    if (waiter === '') return
    const response = await send('DELETE', `/v1/locks/jobs/waiters/${encodeURIComponent(waiter)}`)
    expect(response.status).toBe(400)
  })

  it('is withdrawn at every participant, also at those that only the participants know of', async () => {
    const { send, participants } = createHarness()
    const configuration = { ...DEFAULTS, number: 2, participants: [...DEFAULTS.participants, place(4, 'oc')] }
    participants.onAll(() => done(200, { configuration } as never))
    const response = await send('DELETE', `/v1/locks/jobs/waiters/${WAITER}`)
    expect(response.status).toBe(204)
    expect(participants.order('withdraw').sort()).toEqual([1, 2, 3, 4])
  })

  it('may still wait where nobody answers: that is said', async () => {
    const { send, participants } = createHarness()
    participants.on(2, () => {
      throw new Error('unreachable')
    })
    participants.on(3, () => refuse('no_quorum'))
    const response = await send('DELETE', `/v1/locks/jobs/waiters/${WAITER}`)
    expect(response.headers.get('retry-after')).toBe('1')
    const problem = await problemOf(response)
    expect(problem).toMatchObject({ code: 'no_quorum', retryable: true })
    expect(problem.detail).toContain('2, 3')
  })
})
