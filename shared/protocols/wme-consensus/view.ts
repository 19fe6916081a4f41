/** What an interpreter may know about a participant between two steps. */

import { suspectsOf } from '../../detector.ts'
import { roundOf } from '../ballots.ts'
import { holdersOf } from '../guarded/grants.ts'
import { isIn, knownIn } from '../members/sets.ts'
import type { Context, View } from '../protocol.ts'
import { isHandedOverIn } from './handover.ts'
import { lengthOf } from './log.ts'
import type { ConsensusState } from './state.ts'

export function view(context: Context, state: ConsensusState): View {
  const { durable, soft } = state
  const { status } = durable.membership
  return {
    membership: status === 'excluded' ? 'joining' : status,
    members: knownIn(context.config, durable.machine, isHandedOverIn(durable)),
    phase: status === 'member' || status === 'blank' ? reportedPhase(state) : status,
    epoch: roundOf(durable.acceptor.promised),
    sequence: lengthOf(durable),
    committed: durable.machine.applied,
    owner: durable.machine.holder?.participant ?? null,
    suspects: suspectsOf(soft.detector).filter(peer => isIn(context.config, durable.machine, peer)),
    waiters: durable.waiters,
    holders: holdersOf(durable.stub),
    endings: durable.stub.endings,
    cells: durable.replica.cells,
  }
}

function reportedPhase({ durable }: ConsensusState): string {
  const { phase } = durable.stub
  if (phase !== 'outside') return phase
  return durable.waiters.length > 0 ? 'requesting' : 'idle'
}
