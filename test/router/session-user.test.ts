import { expect, it } from 'vitest'
import { createHarness, stubError, upgraded } from './fake.ts'

it('a session that is opened again, after an answer that got lost, is another user', async () => {
  const { send, participants } = createHarness()
  let tries = 0
  participants.on(1, () => {
    if (++tries === 1) throw stubError({ retryable: true })
    return upgraded('socket')
  })
  await send('GET', '/v1/locks/jobs/session?at=1', undefined, { headers: { upgrade: 'websocket' } }).catch(
    () => {},
  )
  const users = participants.opened.map(({ url }) => url.searchParams.get('user'))
  expect(users).toHaveLength(2)
  expect(new Set(users).size).toBe(2)
})
