/** A participant learns that its process has begun a new life while somebody waits for other participants. */
import { expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { PeerRequest } from '../../worker/participant/peers/requests.ts'
import { LOCK, MemoryPlatform } from './memory-platform.ts'

it('regression: whoever waits is answered, and the instance goes on', async () => {
  const platform = new MemoryPlatform(3)
  const defaults = platform.defaults.bind(platform)
  platform.defaults = id => {
    const { participants, ...rest } = defaults(id)
    return { ...rest, participants: participants.map(place => ({ ...place, url: `https://${place.id}` })) }
  }
  let isReady = true
  let isCut = false
  for (const node of platform.nodes) {
    const peer = node.peer.bind(node)
    node.peer = async (request: PeerRequest) => {
      if (request.type === 'messages' && isCut) throw new Error('unreachable')
      if (request.type !== 'ask-ledger') return peer(request)
      if (!isReady) throw new Error('the ledger is silent')
      const { generation, token } = request.question
      const answer = { generation, token, verdict: 'entitled', incarnation: 1, known: {} } as const
      return { type: 'ledger-answer', answer }
    }
  }
  const owner = platform.node(firstOwnerOf(LOCK, 3))
  const [asked, removed] = platform.nodes.filter(node => node !== owner)
  const ops = [{ increment: 'n' }] as never
  const first = { type: 'transact', user: 'user', opId: 'op', ops, waitMs: 0 } as const
  expect(await platform.during(owner.call(first))).toMatchObject({ type: 'done' })
  await platform.advance(1_000)
  for (const receiver of platform.nodes) {
    const peer = receiver.peer.bind(receiver)
    receiver.peer = async request => {
      const isChange = request.type === 'messages' && JSON.stringify(request).includes('"type":"change"')
      if (isChange) throw new Error('unreachable')
      return peer(request)
    }
  }
  const changed = asked!.call({ type: 'members', change: { remove: removed!.id } })
  const settled = changed.catch(error => error)
  await platform.settle()
  isCut = true
  isReady = false
  await asked!.peer({ type: 'finish', incarnation: 2 })
  expect(await platform.during(settled)).toMatchObject({ type: 'problem', outcome: 'unknown' })
  expect(asked!.aborts).toBe(0)
})
