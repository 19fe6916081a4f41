/** Protocols that guard no state as subjects of a simulation. */
import { maekawa } from '../../shared/protocols/maekawa/maekawa.ts'
import type { Protocol, View } from '../../shared/protocols/protocol.ts'
import type { RicartAgrawalaMessage } from '../../shared/protocols/ricart-agrawala/messages.ts'
import { ricartAgrawala } from '../../shared/protocols/ricart-agrawala/ricart-agrawala.ts'
import type { RicartAgrawalaState } from '../../shared/protocols/ricart-agrawala/state.ts'
import { LockInvariants } from './invariants/lock-invariants.ts'
import {
  type MissingBefore,
  missingForMaekawa,
  missingForRicartAgrawala,
} from './invariants/lock-messages.ts'
import type { StateInParts } from './invariants/state-parts.ts'
import { type MemberRecords, RICART_AGRAWALA_RECORDS } from './members/member-records.ts'
import type { Participant } from './participant.ts'
import { drawRicartAgrawala } from './ricart-agrawala-variants.ts'
import type { Subject } from './subject.ts'
import { LOCK_ONLY_CLAIMS, type Variant } from './variant.ts'

const PLAIN: Variant = { options: null, claims: LOCK_ONLY_CLAIMS, plain: LOCK_ONLY_CLAIMS }

export const maekawaSubject = () => lockOnlySubject(maekawa, missingForMaekawa)

export const ricartAgrawalaSubject = (): Subject<RicartAgrawalaState, RicartAgrawalaMessage> => ({
  ...lockOnlySubject(ricartAgrawala, missingForRicartAgrawala, drawRicartAgrawala, RICART_AGRAWALA_RECORDS),
  isChanging: ({ state, isUp }) => isUp && state.soft.changes.length > 0,
})

function lockOnlySubject<State extends StateInParts, Message>(
  protocol: Protocol<State, Message>,
  missingBefore: MissingBefore<Message>,
  drawVariant: Subject<State, Message>['drawVariant'] = () => PLAIN,
  members?: MemberRecords,
): Subject<State, Message> {
  const viewOf = ({ context, state }: Participant<State, Message>): View => protocol.view(context, state)
  return {
    protocol,
    drawVariant,
    ...(members && { members }),
    isMember: ({ context, storage }) =>
      protocol.view(context, protocol.recover(context, storage)).membership === 'member',
    // No participant knows who is inside; the simulator does.
    ownerBy: (witness, participants) =>
      participants.find(participant => viewOf(participant).holders.length > 0)?.id ?? witness.id,
    isIdle: participant => {
      const { membership, waiters, holders } = viewOf(participant)
      return membership === 'member' && waiters.length + holders.length === 0
    },
    cellsOf: ({ id }) => {
      throw new Error(`p${id} has no replica`)
    },
    createChecks: world => new LockInvariants(world, missingBefore),
  }
}
