import { expect, it } from 'vitest'
import { createHarness, refuse, stubError, usualAnswer } from './fake.ts'

it('an acquire that may have been granted before its participant was overloaded is withdrawn', async () => {
  const { send, participants, background } = createHarness()
  let tries = 0
  participants.on(1, call => {
    if (call.type !== 'acquire') return usualAnswer(call, 1)
    // Carried out (the grant is stored), and reset before the answer left; then too busy for the second try.
    if (++tries === 1) throw stubError({ durableObjectReset: true })
    throw stubError({ overloaded: true })
  })
  const response = await send('POST', '/v1/locks/jobs/acquire', { ttlMs: 600_000 })
  await Promise.all(background)
  expect(response.status).toBe(429)
  expect(participants.order('withdraw')).toEqual([1])
})

it('so is one whose second try the participant has no room for', async () => {
  const { send, participants, background } = createHarness()
  let tries = 0
  participants.on(1, call => {
    if (call.type !== 'acquire') return usualAnswer(call, 1)
    if (++tries === 1) throw stubError({ retryable: true })
    return refuse('too_many')
  })
  expect((await send('POST', '/v1/locks/jobs/acquire', { ttlMs: 600_000 })).status).toBe(429)
  await Promise.all(background)
  expect(participants.order('withdraw')).toEqual([1])
})
