/** What an interpreter may know about a stub between two steps. */
import { suspectsOf } from '../../detector.ts'
import { holdersOf } from '../guarded/grants.ts'
import { knownIn } from '../members/sets.ts'
import type { Context, View } from '../protocol.ts'
import { inCriticalSection } from './figure-3-states.ts'
import { isHandedOverIn } from './handover.ts'
import { lengthOf } from './log.ts'
import type { WmeState } from './state.ts'

export function view(context: Context, state: WmeState): View {
  const { durable, derived, soft } = state
  return {
    membership: durable.membership.status,
    members: knownIn(context.config, durable.epoch, isHandedOverIn(durable.epoch)),
    phase: isOutside(state) ? durable.membership.status : reportedPhase(context, state),
    epoch: durable.epoch.epoch,
    sequence: lengthOf(durable),
    committed: soft.committed,
    owner: derived.owner,
    suspects: suspectsOf(soft.detector).filter(peer => derived.members.includes(peer)),
    waiters: durable.waiters,
    // A user that is entering is not in yet: it is still the first of those that wait.
    holders: inCriticalSection(durable.stub.phase) ? holdersOf(durable.stub) : [],
    endings: durable.endings,
    cells: durable.replica.cells,
  }
}

const isOutside = ({ durable: { membership } }: WmeState): boolean =>
  membership.status === 'joining' || membership.status === 'removed'

/** The paper's state of this stub, TOKEN_HELD included. */
function reportedPhase(context: Context, { durable, derived }: WmeState): string {
  const { phase } = durable.stub
  return phase === 'idle' && derived.owner === context.config.self ? 'token-held' : phase
}
