/** A session says something to a participant whose process has begun a new life. */
import { expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { PeerRequest } from '../../worker/participant/peers/requests.ts'
import { LOCK, MemoryPlatform } from './memory-platform.ts'

it('regression: it is told that it does not wait', async () => {
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
  const [asked] = platform.nodes.filter(node => node !== owner)
  const ops = [{ increment: 'n' }] as never
  const first = { type: 'transact', user: 'user', opId: 'op', ops, waitMs: 0 } as const
  expect(await platform.during(owner.call(first))).toMatchObject({ type: 'done' })
  await platform.advance(1_000)
  const socket = await asked!.session('session')
  isCut = true
  isReady = false
  await asked!.peer({ type: 'finish', incarnation: 2 })
  asked!.say(socket, { type: 'try' })
  await platform.settle()
  expect(socket.sent).toMatchObject([{ type: 'error', code: 'no_quorum' }])
  expect(socket.closedWith).toBeNull()
  expect(asked!.aborts).toBe(0)
})
