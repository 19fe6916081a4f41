import { expect } from 'vitest'
import { createHarness, problemOf } from './fake.ts'

/** Sends it and expects the refusal; nobody may have been asked. */
export async function refusal(status: number, method: string, path: string, body?: unknown, headers = {}) {
  const { send, participants, log } = createHarness()
  const response = await send(method, path, body, { headers })
  expect(participants.asked).toEqual([])
  expect(log).toEqual([])
  expect(response.status).toBe(status)
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  return problemOf(response)
}
