/** The replicated state machine with a lock (wme-consensus) as the subject of a simulation. */
import type { Protocol } from '../../shared/protocols/protocol.ts'
import { ConsensusInvariants } from './invariants/consensus-invariants.ts'
import type { StateInParts } from './invariants/state-parts.ts'
import { CONSENSUS_RECORDS } from './members/member-records.ts'
import type { Subject } from './subject.ts'
import { CHANGING_CONSENSUS_CLAIMS, CONSENSUS_CLAIMS } from './variant.ts'

export function consensusSubject<State extends StateInParts, Message>(
  protocol: Protocol<State, Message>,
): Subject<State, Message> {
  return {
    protocol,
    drawVariant(random, _participants, isChanging) {
      // One that has lost its storage is not taken back, but operators replace it.
      const claims = isChanging ? CHANGING_CONSENSUS_CLAIMS : CONSENSUS_CLAIMS
      const consensus = random.chance(0.5) ? 'latency-optimal' : 'message-optimal'
      return { options: { consensus }, claims, plain: claims }
    },
    members: CONSENSUS_RECORDS,
    isChanging: ({ state, isUp }) => isUp && (state.soft as { changes?: unknown[] }).changes!.length > 0,
    isMember: ({ context, storage }) =>
      protocol.view(context, protocol.recover(context, storage)).membership === 'member',
    ownerBy: ({ id, context, state }) => protocol.view(context, state).owner ?? id,
    // Its view does not say whether it has questions of operators and readers, so a participant that is cut
    // off counts as busy.
    isIdle: () => false,
    cellsOf: ({ context, state }) => protocol.view(context, state).cells ?? {},
    createChecks: world => new ConsensusInvariants(world),
  }
}
