/**
 * A participant hears in one request that it was removed and that the lock was deleted since. Whoever waited
 * there is told that it has left, though it cannot say any more where the lock went on.
 */
import { expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { PeerRequest } from '../../worker/participant/peers/requests.ts'
import { LOCK, type MemoryNode, MemoryPlatform } from './memory-platform.ts'

type Messages = Extract<PeerRequest, { type: 'messages' }>

/** It exchanges nothing with anybody, until all that one of them had to tell it comes in one request. */
function cutOff(platform: MemoryPlatform, node: MemoryNode, teller: MemoryNode): () => Promise<void> {
  const ends = platform.nodes.map(({ peer }) => peer)
  const kept: Messages[] = []
  for (const [index, receiver] of platform.nodes.entries()) {
    receiver.peer = async request => {
      const isCut = receiver === node || ('from' in request && request.from === node.id)
      if (!isCut) return ends[index]!.call(receiver, request)
      if (request.type === 'messages' && request.from === teller.id) kept.push(request)
      throw new Error('unreachable')
    }
  }
  return async () => {
    for (const [index, receiver] of platform.nodes.entries()) receiver.peer = ends[index]!
    await node.peer({ ...kept[0]!, messages: kept.flatMap(({ messages }) => messages) })
  }
}

it('who waits where the lock has been is answered, though the lock is deleted by then', async () => {
  const platform = new MemoryPlatform(3)
  const owner = platform.node(firstOwnerOf(LOCK, 3))
  const removed = platform.nodes.find(node => node !== owner)!
  const acquire = { type: 'acquire', waitMs: 60_000, ttlMs: null, ticket: false, confirm: true } as const
  await platform.during(owner.call({ ...acquire, user: 'holder' }))
  const waiting = removed.call({ ...acquire, user: 'waiter' })
  await platform.settle()
  const letThrough = cutOff(platform, removed, owner)
  const changed = await platform.during(owner.call({ type: 'members', change: { remove: removed.id } }))
  expect(changed).toMatchObject({ type: 'done', status: 200 })
  const remove = { type: 'delete', user: 'operator', force: true, generation: null } as const
  expect(await platform.during(owner.call(remove))).toMatchObject({ status: 204 })
  await letThrough()
  const answer = await platform.during(waiting)
  expect(answer).toMatchObject({
    type: 'problem',
    code: 'no_quorum',
    detail: expect.stringContaining('has left the lock'),
  })
  expect(removed.aborts).toBe(0)
})
