/** Bodies that do not come as they should. */

import { expect, it } from 'vitest'
import { readLimited } from '../../worker/limited-body.ts'
import { createHarness, problemOf } from './fake.ts'

const TRANSACT = 'http://baton.test/v1/locks/jobs/transact'
const headers = { 'content-type': 'application/json' }

it('one that breaks off is refused, and is no defect', async () => {
  const { app, participants, log } = createHarness()
  const body = new ReadableStream<Uint8Array>({
    start: controller => controller.enqueue(new TextEncoder().encode('{"opId"')),
    pull: controller => controller.error(new Error('Network connection lost.')),
  })
  const request = new Request(TRANSACT, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
  const response = await app.fetch(request, {})
  expect(response.status).toBe(400)
  expect((await problemOf(response)).errors).toMatchObject([
    { in: 'body', path: '', message: 'broke off before its end' },
  ])
  expect(participants.asked).toEqual([])
  expect(log).toEqual([])
})

it.each(['GET', 'HEAD'])('a %s has none', async method => {
  const { send, participants } = createHarness()
  const options = { headers: { 'content-length': '5' } }
  expect((await send(method, '/v1/locks/jobs', undefined, options)).status).toBe(400)
  expect((await send(method, '/v1/locks/jobs/state/a', undefined, options)).status).toBe(400)
  expect(participants.asked).toEqual([])
  const empty = { headers: { 'content-length': '0' } }
  expect((await send(method, '/v1/locks/jobs', undefined, empty)).status).toBe(200)
})

it('a body is never longer than it may be, whatever its length says', async () => {
  const message = (length: number, said: string | null) => {
    const headers = new Headers(said === null ? {} : { 'content-length': said })
    const { body } = new Response('x'.repeat(length))
    return { headers, body, arrayBuffer: async () => new TextEncoder().encode('x'.repeat(length)).buffer }
  }
  for (const said of [null, '10', '3']) {
    expect(await readLimited(message(10, said), 9)).toBe('too-large')
    expect(await readLimited(message(10, said), 10)).toHaveLength(10)
  }
  expect(await readLimited(message(3, '10'), 9)).toBe('too-large')
})
