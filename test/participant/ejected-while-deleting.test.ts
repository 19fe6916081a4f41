/** Whoever deletes a lock is its holder for a moment, and may lose it like others. */
import { expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import { LOCK, MemoryPlatform } from './memory-platform.ts'

it('regression: who was ejected before the last word was heard is told to ask again', async () => {
  const platform = new MemoryPlatform(3)
  const owner = platform.node(firstOwnerOf(LOCK, 3))
  const other = platform.nodes.find(node => node !== owner)!
  const ops = [{ increment: 'n' }] as never
  const first = { type: 'transact', user: 'user', opId: 'op', ops, waitMs: 0 } as const
  expect(await platform.during(owner.call(first))).toMatchObject({ type: 'done' })
  await platform.advance(1_000)
  let isCut = true
  for (const receiver of platform.nodes) {
    const peer = receiver.peer.bind(receiver)
    receiver.peer = async request => {
      const ends = ['from' in request ? request.from : null, receiver.id]
      if (isCut && ends.includes(owner.id)) throw new Error('unreachable')
      return peer(request)
    }
  }
  const remove = { type: 'delete', user: 'operator', force: true, generation: null } as const
  const deleted = owner.call(remove)
  expect(await platform.during(other.call({ type: 'eject' }))).toMatchObject({ type: 'done' })
  isCut = false
  expect(await platform.during(deleted)).toMatchObject({ type: 'problem', code: 'no_quorum' })
  expect(await platform.during(owner.call(remove))).toMatchObject({ type: 'done', status: 204 })
})
