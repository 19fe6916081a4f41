/** A lock is deleted, and made again, in the turn that a change of its participants has waited for. */
import { expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import { MESSAGE_FORMAT } from '../../shared/protocols/protocol.ts'
import type { PeerAnswer } from '../../worker/participant/peers/requests.ts'
import { LOCK, MemoryPlatform } from './memory-platform.ts'

/** What follows the answer of the first lock: the next one of its name, which is born with all three. */
function chosenNext(platform: MemoryPlatform, firstOwner: number) {
  const value = { configuration: platform.defaults(firstOwner), startEpoch: 10 }
  const body = { type: 'chosen', value }
  return { format: MESSAGE_FORMAT, generation: 2, startEpoch: 9, body }
}

it('regression: it is not made to the next lock of its name', async () => {
  const platform = new MemoryPlatform(3)
  const owner = platform.node(firstOwnerOf(LOCK, 3))
  const [asked, removed] = platform.nodes.filter(node => node !== owner)
  const ops = [{ increment: 'n' }] as never
  for (const node of [owner, asked!]) {
    const first = {
      type: 'transact',
      user: `user-${node.id}`,
      opId: `op-${node.id}`,
      ops,
      waitMs: 0,
    } as const
    expect(await platform.during(node.call(first))).toMatchObject({ type: 'done' })
  }
  await platform.advance(1_000)
  const next = chosenNext(platform, owner.id)
  for (const node of platform.nodes) {
    const peer = node.peer.bind(node)
    node.peer = async request => {
      const answer = await peer(request)
      const isRead = JSON.stringify(request).includes('"type":"read-index"')
      if (!isRead || answer.type !== 'messages') return answer
      return { ...answer, messages: [...answer.messages, next] } as unknown as PeerAnswer
    }
  }
  const changed = asked!.call({ type: 'members', change: { remove: removed!.id } })
  expect(await platform.during(changed)).toMatchObject({ type: 'problem', code: 'no_such_lock' })
  expect(asked!.aborts).toBe(0)
  const status = await platform.during(asked!.call({ type: 'status' }))
  expect(status).toMatchObject({ body: { generation: 2 } })
  expect(JSON.stringify(status)).toContain(`"id":${removed!.id},`)
})
