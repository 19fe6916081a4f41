/**
 * What the simulator must know about a protocol beyond its interface, and the checks that run along with it.
 */

import type { Json } from '../../shared/json.ts'
import type {
  DurableRecord,
  Emitted,
  Envelope,
  Input,
  ParticipantId,
  Protocol,
  UserInput,
} from '../../shared/protocols/protocol.ts'
import type { Cells } from '../../shared/resource/resource.ts'
import type { MemberRecords } from './members/member-records.ts'
import type { Participant } from './participant.ts'
import type { Random } from './random.ts'
import type { Variant } from './variant.ts'
import type { World } from './world.ts'

export interface Subject<State, Message> {
  readonly protocol: Protocol<State, Message>
  /**
   * Which variant of the protocol a run is about, and which faults it claims to survive. `isChanging`:
   * operators change the members.
   */
  drawVariant(random: Random, participants: number, isChanging: boolean): Variant
  /** How its storage tells who the members are. Absent: the members of this protocol stay. */
  readonly members?: MemberRecords
  /** Whether what is in storage makes it a member: it may vote, and its storage counts. */
  isMember(participant: Participant<State, Message>): boolean
  /**
   * The participant that has the token as far as this one knows, or that has a user inside: the interesting
   * victim.
   */
  ownerBy(
    witness: Participant<State, Message>,
    participants: readonly Participant<State, Message>[],
  ): ParticipantId
  /** No user waits at this participant or is inside, and nothing is pending. */
  isIdle(participant: Participant<State, Message>): boolean
  /** An operator's change of the members is under way here. */
  isChanging?(participant: Participant<State, Message>): boolean
  /** Up to which sequence the stored replica has applied the log, if the protocol saves what may wait. */
  appliedBy?(storage: ReadonlyMap<string, Json>): number
  /** The replica of the resource. Not called for a lock that guards none. */
  cellsOf(participant: Participant<State, Message>): Readonly<Cells>
  createChecks(world: World<State, Message>): Checks<State, Message>
}

/** Called by the interpreter of the effects. Each throws a `Violation` if something is wrong. */
export interface Checks<State, Message> {
  /** A user's event has reached its stub, and the step that it causes begins. */
  said(participant: Participant<State, Message>, event: UserInput): void
  /** The records of this step are in the participant's storage; if they may wait, perhaps not on its disk. */
  saved(participant: Participant<State, Message>, records: readonly DurableRecord[], mayWait: boolean): void
  /** This message leaves; the save that precedes it has been made. */
  sent(participant: Participant<State, Message>, to: ParticipantId, message: Envelope<Message>): void
  /** The step wants this said. `isLost`: a crash came before it was. */
  emitted(participant: Participant<State, Message>, event: Emitted, isLost: boolean): void
  /** The step is over and all its effects have happened. */
  stepped(participant: Participant<State, Message>, input: Input<Message>): void
  /** Called with the state that the process had when it stopped. */
  crashed(participant: Participant<State, Message>): void
  /** The storage is now what it was before the saves that waited when the process stopped. */
  fellBack(participant: Participant<State, Message>): void
  wiped(participant: Participant<State, Message>): void
  /** The run is over. */
  finished(): void
}
