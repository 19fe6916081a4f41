/** All messages of this protocol. `decided` always says how far the sender has applied the log. */
import type { OfSet } from '../members/sets.ts'
import type { ParticipantId } from '../protocol.ts'
import type { SnapshotMessage } from '../snapshots.ts'
import type { Command } from './commands.ts'
import type { Entry, Machine, Round } from './state.ts'

/** The preliminary broadcast: these commands are to be decided. */
export interface RequestMessage {
  readonly type: 'request'
  readonly commands: readonly Command[]
  readonly decided: number
}

/**
 * The coordinator's proposals for the instances after `previous`. A `digest` always covers the commands up to
 * the place that is named before it; it is `null` if the sender no longer knows it.
 */
export interface ProposeMessage {
  readonly type: 'propose'
  readonly ballot: number
  readonly previous: number
  readonly digest: string | null
  readonly commands: readonly Command[]
  readonly decided: number
  /** The set of members of which a majority has promised this ballot. Absent: the first one. */
  readonly config?: number
}

/** Everything up to `through` is decided, or accepted by the sender in this ballot. */
export interface AckMessage {
  readonly type: 'ack'
  readonly ballot: number
  readonly through: number
  readonly digest: string
}

/** Everything up to `decided` is decided, as proposed in this ballot (message-optimal). */
export interface DecisionMessage {
  readonly type: 'decision'
  readonly ballot: number
  readonly decided: number
  readonly digest: string
}

// ---------------------------------------------------------------- a new coordinator

export interface PrepareMessage {
  readonly type: 'prepare'
  readonly ballot: number
  /** Earlier versions do not say it. */
  readonly decided?: number
}

export interface PromiseMessage {
  readonly type: 'promise'
  readonly ballot: number
  readonly decided: number
  readonly digest: string
  /** What the sender has accepted after `decided`. */
  readonly entries: readonly Entry[]
  /** The set of members at that place. Absent: the first one. */
  readonly config?: number
}

export interface RejectMessage {
  readonly type: 'reject'
  readonly promised: number
}

// ---------------------------------------------------------------- suspicion

export interface PingMessage {
  readonly type: 'ping'
  readonly ballot: number
  readonly decided: number
  /** The name of this ping. */
  readonly ping?: number
}

export interface AliveMessage {
  readonly type: 'alive'
  readonly ballot: number
  readonly decided: number
  /** The ping that it answers. */
  readonly ping?: number
}

/** Do you not hear `about` either? */
export interface InquiryMessage {
  readonly type: 'inquiry'
  readonly about: ParticipantId
  readonly round: Round
  readonly ballot: number
  readonly decided: number
}

/** I do not. */
export interface InquiryReplyMessage {
  readonly type: 'inquiry-reply'
  readonly about: ParticipantId
  readonly round: Round
}

// ---------------------------------------------------------------- catching up

export interface CatchUpRequestMessage {
  readonly type: 'catch-up-request'
  readonly decided: number
}

export interface CatchUpMessage {
  readonly type: 'catch-up'
  readonly ballot: number
  /** The decided commands after this place. */
  readonly previous: number
  readonly digest: string | null
  readonly commands: readonly Command[]
  readonly decided: number
}

/** The sender's log does not reach back far enough: ask me for a snapshot, page by page (snapshots.ts). */
export interface SnapshotOfferMessage {
  readonly type: 'snapshot-offer'
  readonly ballot: number
  readonly decided: number
}

// ---------------------------------------------------------------- other members

/** An operator wants the receiver to be a member: it should say that it is there (learner.ts). */
export interface InviteMessage {
  readonly type: 'invite'
  readonly decided: number
}

/** The sender is no member, and has applied the log up to `decided`. */
export interface JoinMessage {
  readonly type: 'join'
  readonly incarnation: number
  /** Where it is, as the set of members says it. Absent: an empty address. */
  readonly address?: string
  readonly decided: number
  /** It has been brought up to date before. */
  readonly isPrimed: boolean
}

/** The receiver is not among the members. A hint who is. */
export interface ElsewhereMessage extends OfSet {
  readonly type: 'elsewhere'
  readonly decided: number
}

/** The receiver is a member, and may not have everything from before the set. */
export interface HandoverMessage {
  readonly type: 'handover'
  readonly decided: number
}

/** The answer of one that has. */
export interface InstalledMessage {
  readonly type: 'installed'
  readonly decided: number
}

/** The state after all that is decided in `machine`. */
export interface SnapshotPoint {
  readonly ballot: number
  readonly machine: Machine
}

export type ConsensusMessage =
  | RequestMessage
  | ProposeMessage
  | AckMessage
  | DecisionMessage
  | PrepareMessage
  | PromiseMessage
  | RejectMessage
  | PingMessage
  | AliveMessage
  | InquiryMessage
  | InquiryReplyMessage
  | CatchUpRequestMessage
  | CatchUpMessage
  | SnapshotOfferMessage
  | InviteMessage
  | JoinMessage
  | ElsewhereMessage
  | HandoverMessage
  | InstalledMessage
  | SnapshotMessage<SnapshotPoint>
