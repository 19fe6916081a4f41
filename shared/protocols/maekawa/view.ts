/** What an interpreter may know about a node between two steps. */
import { viewOfLocalQueue } from '../lock-only/local-queue.ts'
import type { Context, View } from '../protocol.ts'
import type { MaekawaState } from './state.ts'

export function view({ config }: Context, { durable }: MaekawaState): View {
  return {
    ...viewOfLocalQueue(durable.localQueue),
    membership: durable.membership.status,
    phase: durable.own.phase,
    sequence: durable.fence.fence,
    owner: durable.own.phase === 'inside' ? config.self : null,
    suspects: [],
  }
}
