/** A session says something to a participant whose process has begun a new life. */
import { expect, it } from 'vitest'
import { MemoryPlatform } from './memory-platform.ts'
import { useLock, withProcesses } from './new-life.ts'

it('regression: it is told that it does not wait', async () => {
  const platform = new MemoryPlatform(3)
  const beginNewLife = withProcesses(platform)
  const [asked] = (await useLock(platform)).others
  const socket = await asked!.session('session')
  await beginNewLife(asked!)
  asked!.say(socket, { type: 'try' })
  await platform.settle()
  expect(socket.sent).toMatchObject([{ type: 'error', code: 'no_quorum' }])
  expect(socket.closedWith).toBeNull()
  expect(asked!.aborts).toBe(0)
})
