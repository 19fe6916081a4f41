/**
 * What must happen at a certain time happens even if the instance is gone by then: the alarm wakes another
 * one.
 */
import { beforeEach, expect, it } from 'vitest'
import { MemoryPlatform } from './memory-platform.ts'

const HELD = { user: 'ann', waitMs: 1_000, ttlMs: 30_000, ticket: false, confirm: false }

let platform: MemoryPlatform

beforeEach(() => {
  platform = new MemoryPlatform(3)
})

const holderOf = async (id: number) => {
  const status = await platform.during(platform.node(id).call({ type: 'status' }))
  return (status as { readonly body?: { readonly holder: unknown } }).body?.holder
}

it('a grant whose holder vanishes ends, though everybody is evicted in between', async () => {
  const owner = platform.node(1)
  await platform.during(owner.call({ ...HELD, type: 'acquire' }))
  expect(await holderOf(1)).not.toBeNull()
  await platform.advance(2_000)
  for (const node of platform.nodes) node.restart()
  const before = owner.journal.length
  await platform.advance(60_000)
  expect(owner.journal.length).toBeGreaterThan(before)
  expect(owner.alarmAt).toBeNull()
  expect(await holderOf(1)).toBeNull()
})
