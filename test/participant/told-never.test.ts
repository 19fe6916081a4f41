/** A lock is deleted again and again while one of its participants is away. */
import { expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import { LOCK, MemoryPlatform } from './memory-platform.ts'

it('regression: calls that were answered before it has heard are forgotten', async () => {
  const platform = new MemoryPlatform(3)
  const owner = platform.node(firstOwnerOf(LOCK, 3))
  platform.nodes.find(node => node !== owner)!.isAway = true
  const ops = [{ increment: 'n' }] as never
  for (let count = 0; count < 3; count++) {
    const use = { type: 'transact', user: `user-${count}`, opId: `op-${count}`, ops, waitMs: 5_000 } as const
    expect(await platform.during(owner.call(use))).toMatchObject({ type: 'done' })
    const remove = { type: 'delete', user: `operator-${count}`, force: true, generation: null } as const
    expect(await platform.during(owner.call(remove))).toMatchObject({ type: 'done', status: 204 })
  }
  const inside = owner as unknown as {
    instance: { participant: { parts: { lock: { tellers: unknown[] } } } }
  }
  expect(inside.instance.participant.parts.lock.tellers).toEqual([])
})
