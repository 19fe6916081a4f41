/** What an interpreter may know about a node between two steps. */
import { viewOfLocalQueue } from '../lock-only/local-queue.ts'
import { knownIn } from '../members/sets.ts'
import type { Context, View } from '../protocol.ts'
import { isHandedOverIn } from './members.ts'
import type { RicartAgrawalaState } from './state.ts'

export function view(context: Context, { durable, soft }: RicartAgrawalaState): View {
  const { membership, own, localQueue, group } = durable
  const { status } = membership
  const fences = [...localQueue.holders, ...localQueue.endings].map(({ fence }) => fence)
  return {
    ...viewOfLocalQueue(localQueue),
    membership: status === 'leaving' ? 'member' : status,
    // With a modulus the members stay (6.4).
    ...(context.config.options?.modulus === undefined && {
      members: knownIn(context.config, group, isHandedOverIn(durable)),
    }),
    phase: status === 'member' || (status === 'leaving' && own.phase !== 'idle') ? own.phase : status,
    sequence: Math.max(0, ...fences),
    // Only the nodes that are inside know who is inside.
    owner: own.phase === 'inside' ? context.config.self : null,
    suspects: Object.keys(soft.silentSince).map(Number),
  }
}
