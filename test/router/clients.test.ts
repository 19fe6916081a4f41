/**
 * Participants are told which calls come with the same key, so that one key cannot take all places for
 * waiting.
 */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { createHarness, TICKET_ID, upgraded } from './fake.ts'

const hash = (key: string) => createHash('sha256').update(key).digest('hex')
const entry = (key: string) => ({ name: 'same name', hash: hash(key), locks: ['*'], verbs: ['*'] })
const keys = JSON.stringify([entry('one'), entry('two')])
const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

/** What each waiting call with this key says about its client. */
async function clientsWith(key: string): Promise<unknown[]> {
  const { send, participants } = createHarness({ keys })
  await send('POST', '/v1/locks/jobs/acquire', {}, bearer(key))
  await send('POST', '/v1/locks/jobs/transact', { opId: 'o', ops: [{ get: 'a' }] }, bearer(key))
  await send('GET', `/v1/locks/jobs/tickets/${TICKET_ID}`, undefined, bearer(key))
  return participants.asked.map(({ call }) => (call as { client?: string }).client)
}

it('the same for one key, another for another, and nothing that tells the key', async () => {
  const [one, two] = [await clientsWith('one'), await clientsWith('two')]
  expect(one).toHaveLength(3)
  expect(new Set(one).size).toBe(1)
  expect(one[0]).toMatch(/^[0-9a-f]{16}$/)
  expect(two[0]).not.toBe(one[0])
  expect(await clientsWith('one')).toEqual(one)
})

it('also of a session', async () => {
  const { send, participants } = createHarness({ keys, upgrade: () => new Response() })
  participants.onAll(() => upgraded('socket'))
  const headers = { upgrade: 'websocket', ...bearer('one').headers }
  await send('GET', '/v1/locks/jobs/session', undefined, { headers })
  const [one] = await clientsWith('one')
  expect(participants.opened[0]!.url.searchParams.get('client')).toBe(one)
})

it('where everybody may come in there are no clients', async () => {
  const { send, participants } = createHarness()
  await send('POST', '/v1/locks/jobs/acquire', {})
  expect(participants.asked[0]!.call).not.toHaveProperty('client')
})
