/** The guarded state as this stub has it, and what its log says beyond that. */
import type { GuardedState } from '../protocol.ts'
import { fenceOf } from './fence.ts'
import { entriesAfter, entryAt, lengthOf } from './log.ts'
import type { WmeState } from './state.ts'

export function guarded(state: WmeState): GuardedState {
  const { durable, soft } = state
  return {
    replica: durable.replica,
    committed: soft.committed,
    nextSequence: lengthOf(durable) + 1,
    onTheWay: () => entriesAfter(durable, soft.committed).filter(entry => entry.kind === 'operation'),
    latestFence: () => latestFence(state),
    fencesUsed: () => fenceOf(durable.epoch.epoch, lengthOf(durable)),
  }
}

function latestFence({ durable }: WmeState): number | null {
  for (let at = lengthOf(durable); at > durable.base.sequence; at--) {
    const entry = entryAt(durable, at)!
    if (entry.kind === 'grant') return fenceOf(entry.epoch, at)
  }
  // The log is cut only where it is committed, and a holder remembers its grant.
  return durable.stub.grant?.fence ?? (durable.base.sequence === 0 ? -1 : null)
}
