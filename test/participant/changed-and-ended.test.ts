/** A lock is deleted while somebody waits for a change of its participants. */
import { expect, it } from 'vitest'
import { MemoryPlatform } from './memory-platform.ts'
import { loseChanges, useLock } from './new-life.ts'

it('regression: whoever wanted the change is answered, and the instance goes on', async () => {
  const platform = new MemoryPlatform(3)
  const { owner, others } = await useLock(platform)
  const [asked, removed] = others
  loseChanges(platform, asked!)
  const changed = asked!.call({ type: 'members', change: { remove: removed!.id } })
  const settled = changed.catch(error => error)
  await platform.settle()
  const remove = { type: 'delete', user: 'operator', force: true, generation: null } as const
  expect(await platform.during(owner.call(remove))).toMatchObject({ type: 'done', status: 204 })
  expect(await platform.during(settled)).toMatchObject({ type: 'problem', code: 'no_such_lock' })
  expect(asked!.aborts).toBe(0)
})
