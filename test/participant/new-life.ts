/** Locks that are in use, and processes that begin a new life while they are. */
import { expect } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { PeerRequest } from '../../worker/participant/peers/requests.ts'
import { LOCK, type MemoryNode, type MemoryPlatform } from './memory-platform.ts'

/** Has the lock born at its first owner, by an operation that all others hear of. */
export async function useLock(
  platform: MemoryPlatform,
): Promise<{ owner: MemoryNode; others: MemoryNode[] }> {
  const owner = platform.node(firstOwnerOf(LOCK, platform.nodes.length))
  const ops = [{ increment: 'n' }] as never
  const first = { type: 'transact', user: 'user', opId: 'op', ops, waitMs: 0 } as const
  expect(await platform.during(owner.call(first))).toMatchObject({ type: 'done' })
  await platform.advance(1_000)
  return { owner, others: platform.nodes.filter(node => node !== owner) }
}

/**
 * Gives each participant a process with a ledger. Returns what begins a new life of one of them: from then on
 * the ledgers are silent, and nobody hears the messages of the others.
 */
export function withProcesses(platform: MemoryPlatform): (node: MemoryNode) => Promise<void> {
  const defaults = platform.defaults.bind(platform)
  platform.defaults = id => {
    const { participants, ...rest } = defaults(id)
    return { ...rest, participants: participants.map(place => ({ ...place, url: `https://${place.id}` })) }
  }
  let isCut = false
  for (const node of platform.nodes) {
    const peer = node.peer.bind(node)
    node.peer = async (request: PeerRequest) => {
      if (isCut && (request.type === 'messages' || request.type === 'ask-ledger'))
        throw new Error('unreachable')
      if (request.type !== 'ask-ledger') return peer(request)
      const { generation, token } = request.question
      const answer = { generation, token, verdict: 'entitled', incarnation: 1, known: {} } as const
      return { type: 'ledger-answer', answer }
    }
  }
  return async node => {
    isCut = true
    await node.peer({ type: 'finish', incarnation: 2 })
  }
}

/** Nobody hears what this participant proposes as a change of the members. */
export function loseChanges(platform: MemoryPlatform, asked: MemoryNode): void {
  const isLost = (request: PeerRequest) =>
    request.type === 'messages' &&
    request.from === asked.id &&
    JSON.stringify(request.messages).includes('"type":"change"')
  for (const receiver of platform.nodes) {
    const peer = receiver.peer.bind(receiver)
    receiver.peer = async request => {
      if (isLost(request)) throw new Error('unreachable')
      return peer(request)
    }
  }
}
