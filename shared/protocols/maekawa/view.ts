/** What an interpreter may know of a node between two steps. */
import { viewOfDesk } from '../lock-only/desk.ts'
import type { Context, View } from '../protocol.ts'
import type { MaekawaState } from './state.ts'

export function view({ config }: Context, { durable }: MaekawaState): View {
  return {
    ...viewOfDesk(durable.desk),
    membership: durable.membership.status,
    phase: durable.own.phase,
    sequence: durable.fence.fence,
    owner: durable.own.phase === 'inside' ? config.self : null,
    suspects: [],
  }
}
