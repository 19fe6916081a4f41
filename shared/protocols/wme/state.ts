/**
 * The state of one stub, plain JSON, in three parts:
 *   `durable`  what storage holds, record by record (records.ts); a value is replaced, never changed in
 *   place;
 *   `derived`  a function of `durable`, kept so that it need not be computed at every step;
 *   `soft`     what may be lost at any moment: it is learned again from the others, which repeat what
 *   matters.
 */
import type { Detector } from '../../detector.ts'
import type { Json } from '../../json.ts'
import type { Replica } from '../../resource/replica.ts'
import type { Asking } from '../asking.ts'
import type { Grant as GuardedGrant, PendingOperation as GuardedOperation } from '../guarded/grants.ts'
import type { Incarnations, RequestedChange } from '../members/changes.ts'
import type { OfSet } from '../members/sets.ts'
import type { Ending, ParticipantId } from '../protocol.ts'
import type { Claim } from '../running-digest.ts'
import type { Outgoing } from '../snapshots.ts'
import type { Waiter as WaitingUser } from '../waiting-users.ts'
import type { ProposedChange } from './change-of-members.ts'
import type { Phase } from './figure-3-states.ts'
import type { Hint } from './learner.ts'
import type { AcceptedValue, Decision, NewEpochMessage, SnapshotPoint } from './messages.ts'

// ---------------------------------------------------------------- the log

export type Entry = GrantEntry | OperationEntry

/** The token goes to `to`. Every entry into the critical section is one of these (trap A8). */
export interface GrantEntry {
  readonly kind: 'grant'
  readonly sequence: number
  readonly epoch: number
  /** The owner that wrote it. */
  readonly by: ParticipantId
  readonly to: ParticipantId
  readonly requestId: number
  /** The digest of the log up to and including this entry (running-digest.ts). */
  readonly digest: string
}

export interface OperationEntry {
  readonly kind: 'operation'
  readonly sequence: number
  readonly epoch: number
  readonly by: ParticipantId
  /** The fence of the grant under which it was issued. */
  readonly fence: number
  readonly opId: string
  readonly operation: Json
  /** The weight of the operation, computed once, when it was issued. */
  readonly weight: number
  readonly digest: string
}

// ---------------------------------------------------------------- durable

export interface Durable {
  membership: Membership
  epoch: EpochRecord
  stub: StubRecord
  paxos: PaxosRecord
  base: LogBase
  progress: Progress
  /** The entries after `base.sequence`, without gaps. */
  log: Entry[]
  /** Local users that wait, in order of arrival. */
  waiters: Waiter[]
  /** The last grants of this participant that are over, newest last, for users that missed the news. */
  endings: EndingRecord[]
  replica: Replica
}

export type Membership =
  /** This participant has never started. */
  | { readonly status: 'blank' }
  | { readonly status: 'member' }
  /** Its storage was lost: it neither votes nor acknowledges until it is readmitted (trap D2). */
  | {
      readonly status: 'joining'
      readonly incarnation: number
      /** It is no member yet, and has been brought up to date (learner.ts). */
      readonly isPrimed?: true
    }
  /**
   * A decision has named other members. It keeps what it has until a majority of them has it too
   * (handover.ts), and is never a member again under its number.
   */
  | { readonly status: 'removed'; readonly hasData: boolean }

export interface EpochRecord extends OfSet {
  /** The paper's curEp. */
  readonly epoch: number
  /** The owner that the epoch began with; after that the last grant in the log says who it is. */
  readonly owner: ParticipantId
  /** The length of the log when the epoch began: everything up to here is decided. */
  readonly start: number
  /** The paper's block: once set, nothing is appended or acknowledged in this epoch. */
  readonly sealed: boolean
  readonly incarnations: Incarnations
  /**
   * A majority of the members is known to be in this epoch (handover.ts). Said only of the first of a set.
   */
  readonly isHandedOver?: true
}

export interface StubRecord {
  /** The paper's state; see figure-3-states.ts. */
  readonly phase: Phase
  /** The paper's reqId: the last request of this participant. */
  readonly requestId: number
  readonly grant: Grant | null
  /** The paper's lastIssuedOp. */
  readonly pendingOperation: PendingOperation | null
  /** Local users that followed one another while a remote participant was waiting. */
  readonly handoffs: number
}

/** `sequence` is the grant's place in the log: everything issued under it comes later. */
export type EndingRecord = Ending & { readonly sequence: number }

export interface Grant extends GuardedGrant {
  readonly sequence: number
}

export interface PendingOperation extends GuardedOperation {
  readonly weight: number
  /** Its place in the log; `null` while it waits for the decision of a sealed epoch. */
  readonly sequence: number | null
  /** Its user leaves with it. */
  readonly thenExit?: true
}

export interface Waiter extends WaitingUser {
  readonly confirm: boolean
}

/** Acceptor and proposer of this epoch's consensus. */
export interface PaxosRecord {
  readonly promised: number
  readonly accepted: AcceptedValue | null
  /** The highest ballot that this participant has used. */
  readonly ballot: number
}

/** Where the kept log begins, and what the dropped entries said. */
export interface LogBase {
  readonly sequence: number
  readonly owner: ParticipantId
  readonly granted: readonly number[]
  readonly digest: string
}

export interface Progress {
  /** All operations up to here are applied to the replica. */
  readonly applied: number
  readonly droppedThrough: number
}

// ---------------------------------------------------------------- derived and soft

export interface Derived {
  /** The members of the epoch, by number. */
  members: readonly ParticipantId[]
  /** The paper's curOwner: who has the token according to the log (trap A1: never a state of its own). */
  owner: ParticipantId
  /** The paper's granted: the last request of each participant that was granted. Indexed by participant. */
  granted: number[]
  /** The weight of all entries of the kept log together. */
  logWeight: number
  /** The last entry of the kept log that is more than a re-entry: others need to hear of it. Otherwise 0. */
  lastNews: number
  /** The last grant in it with which the token went to another participant. Otherwise 0. */
  lastHandover: number
}

/**
 * Names one asking of a question. It contains the number of the asker's life, so that a late answer to a
 * question of an earlier life is not taken for an answer to a question of this one.
 */
export type Round = string

export interface Request {
  readonly participant: ParticipantId
  readonly requestId: number
}

export interface Soft extends Asking {
  /**
   * The largest sequence known to be on a majority, with all operations up to it applied. Never below
   * `progress.applied`.
   */
  committed: number
  /** How long the log of each participant is known to be, in this epoch. */
  acknowledged: number[]
  /**
   * Acknowledgements that came before the entries that they are for: they are compared once those are here.
   */
  claims: (Claim | null)[]
  /** Up to where the log was sent to each participant, in this epoch. */
  sent: number[]
  /** The paper's reqs: at most one for each other participant. */
  requests: Request[]
  detector: Detector
  watch: Watch | null
  /** Until then the owner is watched for the sake of a participant that asked for the token (rule T4). */
  leaseUntil: number
  /** The participants that have asked this one whether it hears the owner, with the round to answer in. */
  voters: { [participant: string]: Round }
  /** This participant's own question, and the participants that agreed that the owner is silent. */
  preVote: { round: Round; agreed: boolean[] } | null
  /** The incarnation with which this process started. */
  life: number
  /** How many questions were asked in this life. */
  rounds: number
  /** The NEWEPs of this epoch by sender, indexed by participant. */
  newEpochs: (NewEpochMessage | null)[]
  proposal: Proposal | null
  proposeAttempts: number
  /** The highest ballot seen in this epoch. */
  highestBallot: number
  /** Wiped participants that ask to be taken back. */
  joins: { [participant: string]: number }
  /** Operators' requests to eject, waiting for the owner's answer. */
  ejects: Eject[]
  /** At the owner: in which round of each participant it has last forced somebody out. */
  forcedOut: { [participant: string]: Round }
  /** Operators' requests to change the members, made here (change-of-members.ts). */
  changes: RequestedChange[]
  /** The change that another participant has asked the owner for. */
  proposed: ProposedChange | null
  /** The members that are known to be in the first epoch of their set. */
  installed: ParticipantId[]
  /** The members of the highest epoch that a participant that is none was told of (learner.ts). */
  hint: Hint | null
  /**
   * Linearizable reads that wait for the answers of a majority, or for what those answers say to be applied
   * here.
   */
  reads: Read[]
  /** The request that was last broadcast, and in which epoch, so that it is not broadcast at every step. */
  announced: { epoch: number; requestId: number } | null
  /** Snapshots under way (snapshots.ts). */
  outgoing: Outgoing<SnapshotPoint> | null
  repeatAttempts: number
  idleRepeats: number
  /** The committed sequence that each participant was last told (wme-2). */
  told: number[]
  /** How long each participant takes to acknowledge, in milliseconds; `null` if it is not known. */
  roundTrips: (number | null)[]
  /** Entries that each participant was sent and has not acknowledged, and when that began. */
  awaited: ({ length: number; since: number } | null)[]
  /** The participants that were asked first, the last time that not all were. */
  quick: ParticipantId[]
  /** The timers that are set. */
  timers: { [timer in TimerName]?: true }
}

/** The owner that is being watched. */
export interface Watch {
  readonly peer: ParticipantId
  /** Its time is over. */
  silent: boolean
  /** When its time is over, by the clock of this participant. */
  dueAt: number
  /** That time has passed unnoticed once, because this participant itself stood still. */
  isExcused: boolean
}

export interface Eject {
  request: string
  round: Round
  /** Whoever was granted the token up to this fence is meant. */
  fence: number
  /** Who had the token when the operator asked. */
  owner: ParticipantId
  /** The operator has named the fence: nobody else is meant. */
  isNamed: boolean
  /** Whether the owner has said who the present holder is. */
  isSettled: boolean
}

export interface Read {
  request: string
  /** The epoch in which the read was asked; in a new one it is asked again. `null`: not asked yet. */
  epoch: number | null
  round: Round
  answered: boolean[]
  /** The replica must have applied everything up to here. */
  target: number
}

export type TimerName =
  | 'repeat'
  | 'heartbeat'
  | 'suspect'
  | 'propose'
  | 'flush'
  | 'confirm'
  | 'spread'
  | 'ttl'
  | 'wait'
  | 'snapshot'

export interface Proposal {
  ballot: number
  /** Indexed by participant: what it had accepted, `null` for nothing, `undefined` for no answer. */
  promises: (AcceptedValue | null | undefined)[]
  /** Set once a majority has promised. */
  value: Decision | null
  accepted: boolean[]
}

export interface WmeState {
  durable: Durable
  derived: Derived
  soft: Soft
}
