/** A lock is deleted while somebody waits for a change of its participants. */
import { expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { PeerRequest } from '../../worker/participant/peers/requests.ts'
import { LOCK, MemoryPlatform } from './memory-platform.ts'

it('regression: whoever wanted the change is answered, and the instance goes on', async () => {
  const platform = new MemoryPlatform(3)
  const owner = platform.node(firstOwnerOf(LOCK, 3))
  const [asked, removed] = platform.nodes.filter(node => node !== owner)
  const ops = [{ increment: 'n' }] as never
  const first = { type: 'transact', user: 'user', opId: 'op', ops, waitMs: 0 } as const
  expect(await platform.during(owner.call(first))).toMatchObject({ type: 'done' })
  await platform.advance(1_000)
  const isLost = (request: PeerRequest) =>
    request.type === 'messages' &&
    request.from === asked!.id &&
    JSON.stringify(request.messages).includes('"type":"change"')
  for (const receiver of platform.nodes) {
    const peer = receiver.peer.bind(receiver)
    receiver.peer = async request => {
      if (isLost(request)) throw new Error('unreachable')
      return peer(request)
    }
  }
  const changed = asked!.call({ type: 'members', change: { remove: removed!.id } })
  const settled = changed.catch(error => error)
  await platform.settle()
  const remove = { type: 'delete', user: 'operator', force: true, generation: null } as const
  expect(await platform.during(owner.call(remove))).toMatchObject({ type: 'done', status: 204 })
  expect(await platform.during(settled)).toMatchObject({ type: 'problem', code: 'no_such_lock' })
  expect(asked!.aborts).toBe(0)
})
