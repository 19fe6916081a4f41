/** A participant learns that its process has begun a new life while somebody waits for other participants. */
import { expect, it } from 'vitest'
import { MemoryPlatform } from './memory-platform.ts'
import { loseChanges, useLock, withProcesses } from './new-life.ts'

it('regression: whoever waits is answered, and the instance goes on', async () => {
  const platform = new MemoryPlatform(3)
  const beginNewLife = withProcesses(platform)
  const [asked, removed] = (await useLock(platform)).others
  loseChanges(platform, asked!)
  const changed = asked!.call({ type: 'members', change: { remove: removed!.id } })
  const settled = changed.catch(error => error)
  await platform.settle()
  await beginNewLife(asked!)
  expect(await platform.during(settled)).toMatchObject({ type: 'problem', outcome: 'unknown' })
  expect(asked!.aborts).toBe(0)
})
