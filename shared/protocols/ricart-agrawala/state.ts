/**
 * The state of one node, plain JSON:
 *   `durable`  what storage holds, record by record (records.ts); a value is replaced, never changed in
 *   place;
 *   `soft`     what may be lost at any moment: the others are asked again. Nothing is derived.
 */
import type { LocalQueue, LocalQueueTimer } from '../lock-only/local-queue.ts'
import type { Operators } from '../lock-only/operators.ts'
import type { MemberChange, RequestedChange } from '../members/changes.ts'
import type { OfSet } from '../members/sets.ts'
import type { Mode, ParticipantId } from '../protocol.ts'
import type { SetTimers } from '../step.ts'
import type { Group, GroupSet } from './messages.ts'

// ---------------------------------------------------------------- durable

export interface Durable {
  membership: Membership
  group: Group
  own: OwnRequest
  highest: Highest
  /** The paper's Reply_Deferred: the requests that wait for this node to leave. By participant. */
  deferred: { [participant: string]: Deferred }
  /** The change of the group that this node makes while it is inside. */
  sponsoring: Sponsoring | null
  localQueue: LocalQueue
}

export type Membership =
  /** This node has never started. */
  | { readonly status: 'blank' }
  | { readonly status: 'member'; readonly incarnation: number }
  /**
   * A member that serves the users it has, takes no others, and then takes itself out (7.3). Without a
   * request: because operators have changed the members.
   */
  | { readonly status: 'leaving'; readonly incarnation: number; readonly request: string | null }
  | { readonly status: 'left'; readonly incarnation: number }
  /** Operators have changed the members: it is none any more, for good (R13). */
  | { readonly status: 'removed'; readonly incarnation: number }
  /** New, wiped, declared dead, or on its way back: it answers, but may not ask (7.2.3, trap D2). */
  | { readonly status: 'joining'; readonly incarnation: number; readonly request: string | null }

export interface OwnRequest {
  /** `requesting` and `inside` are both the paper's Requesting_Critical_Section. */
  readonly phase: 'idle' | 'requesting' | 'inside'
  /** The paper's Our_Sequence_Number. */
  readonly request: number
  readonly mode: Mode
  /** The nodes whose REPLY is needed: the members when the number was chosen. */
  readonly asked: readonly ParticipantId[]
  /** Fences that were given out under this request. */
  readonly grants: number
  /** Local users that followed one another while another node was known to wait. */
  readonly handoffs: number
}

export interface Highest {
  /** The paper's Highest_Sequence_Number: of any request sent or received, this node's own included. */
  readonly request: number
}

export interface Deferred {
  readonly request: number
  readonly incarnation: number
  readonly mode: Mode
  /** 6.3, waiting: the nodes that have let it pass so far; from here it goes on around the ring. */
  readonly passed: readonly ParticipantId[] | null
}

export type Change = NodeChange | SetChange

/** One node comes or goes. */
export type NodeChange =
  | {
      readonly type: 'add'
      readonly participant: ParticipantId
      readonly incarnation: number
      readonly name: number
    }
  | {
      readonly type: 'remove'
      readonly participant: ParticipantId
      readonly incarnation: number
    }

/** The set of members changes, or what is known about it; the nodes in the group stay as they are. */
export type SetChange =
  /** R9: an operator's change begins. */
  | { readonly type: 'plan'; readonly change: MemberChange }
  /** R11: all newcomers are in. */
  | { readonly type: 'arrived' }
  /** R14: the group is the set. */
  | { readonly type: 'reached' }
  /** R12: these newcomers cannot be reached. `incarnation` of the one that was on its way in is over. */
  | {
      readonly type: 'cancel'
      readonly unreached: readonly ParticipantId[]
      readonly incarnation: number | null
    }

export interface Sponsoring {
  readonly change: Change
  /** An operator wants this node to be a member, and it has never been one. */
  readonly isNewcomer?: true
  /** The group that this change makes. */
  readonly group: Group
}

// ---------------------------------------------------------------- soft

/** A set of participants. */
export type Participants = { [participant: string]: true }

export interface Soft {
  /**
   * The nodes that have sent a REPLY to the present request: a set, so that a REPLY that comes twice counts
   * once.
   */
  replies: Participants
  /**
   * 6.1: whether silence may still become a REPLY. Not after a restart: then all nodes are asked for an
   * answer.
   */
  isSilenceCounted: boolean
  /** 6.1: the nodes whose silence says nothing: they deferred, or the transport did not reach them. */
  explicit: Participants
  /** 7.4: the nodes that were asked whether they are there, and since when they have not answered. */
  silentSince: { [participant: string]: number }
  /** 7.4: declared dead here; the group does not know it yet. */
  dead: Participants
  /** What others asked this node to sponsor, in order; at most one wish each. */
  wishes: NodeChange[]
  /** The nodes that have acknowledged the change that this node sponsors. */
  acknowledged: Participants
  /** Those of them that are not in the group, but on their way in. */
  joiners: NodeChange[]
  /** How many sponsors were tried. */
  sponsorsTried: number
  /** The members, as somebody said, while this node is not in the group. */
  hint: OfSet<GroupSet> | null
  /** Operators' changes of the members that this node was asked for. */
  changes: RequestedChange[]
  /** How often newcomers of the present set were called without an answer. */
  calls: number
  /** How often the one on its way in was welcomed without an answer. */
  welcomes: number
  /** How often newcomers were called since there was a new one. */
  callRepeats: number
  operators: Operators
  repeatAttempts: number
  timers: SetTimers<TimerName>
}

export type TimerName = LocalQueueTimer | 'repeat' | 'silence' | 'dead' | 'members'

export interface RicartAgrawalaState {
  durable: Durable
  soft: Soft
}
