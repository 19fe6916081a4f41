/**
 * The messages of Ricart and Agrawala, one union. The paper's are REQUEST and REPLY (2.2), DEFERRED (6.1),
 * the REQUEST that travels around a ring (6.3), ARE_YOU_THERE and YES_I_AM_HERE (7.4), and the "special
 * message" for a node that is no longer in the group (7.4). The paper leaves open how a group changes (7.2,
 * 7.3): those messages are ours.
 *
 * A request is named by its maker, the maker's incarnation and its number, and so is everything that answers
 * it. An answer to any other request is ignored.
 */
import type { OperatorMessage } from '../lock-only/operators.ts'
import type { MemberSet, OfSet } from '../members/sets.ts'
import type { Members as Addresses, Mode, ParticipantId } from '../protocol.ts'

export interface RequestName {
  /**
   * The sequence number. With a modulus (6.4) only its residue is compared; the whole number is the request's
   * name.
   */
  readonly request: number
  readonly incarnation: number
}

/** 2.2: the sender wants to enter. */
export interface RequestMessage extends RequestName {
  readonly type: 'request'
  readonly mode: Mode
}

/** 2.2: the sender lets the request go first. */
export interface ReplyMessage extends RequestName {
  readonly type: 'reply'
}

/** 6.1: with implicit replies, the sender does not let the request go first; its REPLY follows. */
export interface DeferredMessage extends RequestName {
  readonly type: 'deferred'
}

/**
 * 6.3: a request on its way around the ring, with the nodes that let it pass and (marking) those that did
 * not.
 */
export interface RingRequestMessage extends RequestName {
  readonly type: 'ring-request'
  readonly origin: ParticipantId
  readonly mode: Mode
  readonly passed: readonly ParticipantId[]
  readonly deferredBy: readonly ParticipantId[]
}

/**
 * 7.4, and the way in which every request is repeated: it carries the request and is answered by the normal
 * rule.
 */
export interface AreYouThereMessage extends RequestName {
  readonly type: 'are-you-there'
  readonly mode: Mode
}

/** 7.4: the sender is alive and still defers. */
export interface YesIAmHereMessage extends RequestName {
  readonly type: 'yes-i-am-here'
}

/**
 * 7.4: the node that sent that incarnation is not in the group, or was followed by another incarnation,
 * `known`.
 */
export interface NotAMemberMessage {
  readonly type: 'not-a-member'
  readonly incarnation: number
  readonly known: number
}

/** 7.2: a new, wiped or returning node asks a sponsor. */
export interface JoinMessage extends Joining {
  readonly type: 'join'
  /** Where it is, as the set of members says it. Absent: an empty address. */
  readonly address?: string
}

/**
 * R10: an operator wants the receiver to be a member, together with these: it should say that it is there.
 */
export interface InviteMessage {
  readonly type: 'invite'
  readonly members: readonly ParticipantId[]
  /** The sender's group: a node that has left is called back only by a later one than it left (R16). */
  readonly number: number
}

/** R10: the receiver is not among the members. A hint who is. */
export interface ElsewhereMessage extends OfSet<GroupSet> {
  readonly type: 'elsewhere'
}

/** The sponsor, inside its critical section, announces the new group. */
export interface ChangeMessage {
  readonly type: 'change'
  readonly group: Group
}

/** `highest`: the highest number that the sender has seen or used itself (7.2.3, method 1). */
export interface ChangeAckMessage {
  readonly type: 'change-ack'
  readonly number: number
  readonly highest: number
  /** Set if the sender is not in the group, but on its way in. */
  readonly joining: Joining | null
  /** Who is in the sender's group, if that is a later one (R17). */
  readonly later?: readonly ParticipantId[]
}

export interface Joining {
  readonly incarnation: number
  readonly name: number
}

/** All members have acknowledged: the new node may begin. */
export interface WelcomeMessage {
  readonly type: 'welcome'
  readonly group: Group
  readonly highest: number
  readonly incarnation: number
}

/** The new node has begun: the sponsor may release. */
export interface WelcomeAckMessage {
  readonly type: 'welcome-ack'
  readonly number: number
}

/** The nodes that take part. */
export interface Group {
  /** 0 for the group that the lock was born with, then a fence: unique, and larger than all before. */
  readonly number: number
  readonly members: Members
  /**
   * The nodes that have left or were declared dead, with their last incarnation: what comes late from it is
   * out of date.
   */
  readonly gone: { readonly [participant: string]: number }
  /** Who is to take part, once operators have changed it. The group follows, node by node (members.ts). */
  readonly set?: GroupSet
}

export interface GroupSet extends MemberSet {
  /** Who sees to it that the group becomes this set. */
  readonly carrier: ParticipantId
  /** The members before; they are needed as long as the change may come to nothing. */
  readonly before: Addresses
  /** R11: all newcomers are in, so that the others may go. */
  readonly hasArrived: boolean
  /** R14: the group was this set, and a member that stays has told all of them. */
  readonly isReached: boolean
  /** R12: the change that came to nothing, and the newcomers that could not be reached. */
  readonly cancelled?: { readonly change: string; readonly unreached: readonly ParticipantId[] }
}

/** The paper's NAMES (7.1), each with the participant's present incarnation. */
export type Members = {
  readonly [participant: string]: { readonly name: number; readonly incarnation: number }
}

export type RicartAgrawalaMessage =
  | RequestMessage
  | ReplyMessage
  | DeferredMessage
  | RingRequestMessage
  | AreYouThereMessage
  | YesIAmHereMessage
  | NotAMemberMessage
  | JoinMessage
  | InviteMessage
  | ElsewhereMessage
  | ChangeMessage
  | ChangeAckMessage
  | WelcomeMessage
  | WelcomeAckMessage
  | OperatorMessage
