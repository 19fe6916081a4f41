/**
 * All messages between stubs, one union on `type`. The paper's name stands in capitals where there is one.
 *
 * Every message carries the sender's epoch. A receiver in another epoch does not act on it (with the few
 * exceptions noted below): a participant that is behind is told so, or asks (`catch-up-request`).
 */

import type { Incarnations, ReadyChange } from '../members/changes.ts'
import type { OfSet } from '../members/sets.ts'
import type { ParticipantId } from '../protocol.ts'
import type { SnapshotMessage } from '../snapshots.ts'
import type { Entry, Round } from './state.ts'

export type WmeMessage =
  | RequestMessage
  | InvokeMessage
  | InvokeAckMessage
  | DoInvokeMessage
  | PingMessage
  | AliveMessage
  | PreVoteMessage
  | PreVoteReplyMessage
  | NewEpochMessage
  | PrepareMessage
  | PromiseMessage
  | AcceptMessage
  | AcceptedMessage
  | RejectMessage
  | DecisionMessage
  | CatchUpRequestMessage
  | CatchUpMessage
  | SnapshotOfferMessage
  | SnapshotMessage<SnapshotPoint>
  | JoinMessage
  | InviteMessage
  | ChangeMessage
  | ElsewhereMessage
  | HandoverMessage
  | InstalledMessage
  | EjectMessage
  | EjectDoneMessage
  | ReadIndexMessage
  | ReadIndexReplyMessage

/**
 * REQUEST: `participant` wants the token. It usually is the sender, but a peer may pass the request on. It is
 * taken in every epoch, since it is repeated anyway.
 */
export interface RequestMessage {
  readonly type: 'request'
  readonly epoch: number
  readonly participant: ParticipantId
  readonly requestId: number
}

/**
 * INVOKE and GRANTED in one: new entries of the log, from its owner. Both take the next sequence number, and
 * one message may carry a grant and the operations that follow it. `previous` is the sequence before the
 * first entry, and `digest` covers the log up to there; each entry has its own.
 */
export interface InvokeMessage {
  readonly type: 'invoke'
  readonly epoch: number
  readonly previous: number
  readonly digest: string
  readonly entries: readonly Entry[]
  /** What the owner knows to be committed: a DOINVOKE that rides along. */
  readonly committed: number
}

/** ACK, cumulative: the sender durably holds the log of this epoch up to `length`. */
export interface InvokeAckMessage {
  readonly type: 'invoke-ack'
  readonly epoch: number
  readonly length: number
  readonly digest: string
}

/** DOINVOKE (Figure 4): everything up to `committed` may be invoked. */
export interface DoInvokeMessage {
  readonly type: 'do-invoke'
  readonly epoch: number
  readonly committed: number
  readonly digest: string
}

/**
 * ◇P: are you there? Carries the wiped participants that the sender wants readmitted, in case the owner
 * cannot hear them.
 */
export interface PingMessage {
  readonly type: 'ping'
  readonly epoch: number
  readonly length: number
  readonly joins: Incarnations
  /** The name of this ping. */
  readonly ping?: number
}

/** ◇P: I am here, with this epoch and this log. Also the answer to any message from an older epoch. */
export interface AliveMessage {
  readonly type: 'alive'
  readonly epoch: number
  readonly length: number
  /** The ping that it answers. */
  readonly ping?: number
}

/** Do you, too, hear nothing from this owner? All are asked before anybody seals (trap B10). */
export interface PreVoteMessage {
  readonly type: 'pre-vote'
  readonly epoch: number
  readonly length: number
  /** The owner that is meant. */
  readonly owner: ParticipantId
  readonly round: Round
}

export interface PreVoteReplyMessage {
  readonly type: 'pre-vote-reply'
  readonly epoch: number
  readonly round: Round
}

/** NEWEP: the sender has sealed this epoch, and this is the end of its log. */
export interface NewEpochMessage {
  readonly type: 'new-epoch'
  readonly epoch: number
  /** `entries` are those above `committed`; everything below is on a majority already. */
  readonly committed: number
  /** The digest of the log up to `committed`. */
  readonly digest: string
  readonly entries: readonly Entry[]
  /** The owner according to the sender's log. */
  readonly owner: ParticipantId
  /** Whether somebody waits for the token at the sender. */
  readonly requesting: boolean
  readonly joins: Incarnations
  /** A change of the members that the sender wants. */
  readonly change?: ReadyChange
}

// Single-decree Paxos of one epoch, see paxos.ts.

/** What the participants agree on at the end of an epoch, with the members of the next one. */
export interface Decision extends OfSet {
  /** The owner that the next epoch begins with. */
  readonly owner: ParticipantId
  /** The log of the epoch ends with `entries`, which follow the sequence `base`. */
  readonly base: number
  readonly digest: string
  readonly entries: readonly Entry[]
  readonly incarnations: Incarnations
}

export interface PrepareMessage {
  readonly type: 'prepare'
  readonly epoch: number
  readonly ballot: number
}

export interface PromiseMessage {
  readonly type: 'promise'
  readonly epoch: number
  readonly ballot: number
  readonly accepted: AcceptedValue | null
}

export interface AcceptedValue {
  readonly ballot: number
  readonly value: Decision
}

export interface AcceptMessage {
  readonly type: 'accept'
  readonly epoch: number
  readonly ballot: number
  readonly value: Decision
}

export interface AcceptedMessage {
  readonly type: 'accepted'
  readonly epoch: number
  readonly ballot: number
}

export interface RejectMessage {
  readonly type: 'reject'
  readonly epoch: number
  readonly ballot: number
  /** The higher ballot that the acceptor has promised. */
  readonly promised: number
}

export interface DecisionMessage {
  readonly type: 'decision'
  readonly epoch: number
  readonly value: Decision
}

/** I am behind: this is what I have. */
export interface CatchUpRequestMessage {
  readonly type: 'catch-up-request'
  readonly epoch: number
  readonly length: number
  /** Up to here the sender's log is the log of all; above it, entries may have been rolled back. */
  readonly committed: number
}

/** What a participant that is behind needs, from any participant that has it: the rest of the log. */
export interface CatchUpMessage extends OfSet {
  readonly type: 'catch-up'
  readonly epoch: number
  readonly epochOwner: ParticipantId
  readonly epochStart: number
  readonly incarnations: Incarnations
  /** The sequence before the first entry, and the digest of the log up to there. */
  readonly previous: number
  readonly digest: string
  readonly entries: readonly Entry[]
  readonly committed: number
  /** The length of the sender's log, which may be more than fits one message. */
  readonly length: number
}

/** The sender's log does not reach back far enough: ask me for a snapshot, page by page (snapshots.ts). */
export interface SnapshotOfferMessage extends OfSet {
  readonly type: 'snapshot-offer'
  readonly epoch: number
  readonly committed: number
  readonly incarnations: Incarnations
}

/** The state after all entries up to `sequence`, and the epoch that the sender was in. */
export interface SnapshotPoint extends OfSet {
  readonly epoch: number
  readonly epochOwner: ParticipantId
  readonly epochStart: number
  readonly incarnations: Incarnations
  readonly sequence: number
  readonly owner: ParticipantId
  readonly granted: readonly number[]
  readonly digest: string
  readonly droppedThrough: number
  /** The length of the sender's log. */
  readonly length: number
}

/**
 * My storage is gone: take me back as a new incarnation (trap D2). A newcomer says the same, and once it has
 * been brought up to date, what it has (rule M3: it is primed).
 */
export interface JoinMessage {
  readonly type: 'join'
  readonly incarnation: number
  readonly address?: string
  readonly position?: Position
}

/** How far a participant is. */
export interface Position {
  readonly epoch: number
  readonly length: number
  readonly committed: number
}

/** You are to become a member: come and get what there is. */
export interface InviteMessage {
  readonly type: 'invite'
  readonly epoch: number
}

/** To the owner: end this epoch, and let the next one have these members (rule M7). */
export interface ChangeMessage {
  readonly type: 'change'
  readonly epoch: number
  readonly change: ReadyChange
}

/** You are not among the members that I know, or I am not any more. This is a hint whom to ask (rule M10). */
export interface ElsewhereMessage extends OfSet {
  readonly type: 'elsewhere'
  readonly epoch: number
}

/** You are a member of this epoch: are you in it? */
export interface HandoverMessage {
  readonly type: 'handover'
  readonly epoch: number
}

/** I am in this epoch, with everything that came before it. */
export interface InstalledMessage {
  readonly type: 'installed'
  readonly epoch: number
}

/** An operator forces out whoever holds a grant with at most this fence. */
export interface EjectMessage {
  readonly type: 'eject'
  readonly epoch: number
  readonly fence: number
  /** The same in each repetition. An earlier version has none. */
  readonly round?: Round
}

export interface EjectDoneMessage {
  readonly type: 'eject-done'
  readonly epoch: number
  readonly fence: number
  /** The fence of the user that is inside now. */
  readonly holder: number | null
}

/**
 * How far must a replica be to have everything that is committed now? All are asked for a linearizable read.
 */
export interface ReadIndexMessage {
  readonly type: 'read-index'
  readonly epoch: number
  readonly round: Round
}

export interface ReadIndexReplyMessage {
  readonly type: 'read-index-reply'
  readonly epoch: number
  readonly round: Round
  /** The sender knows that everything up to here is committed. */
  readonly committed: number
  readonly digest: string
  /** Nothing that the sender holds above this is an operation. */
  readonly operations: number
}
