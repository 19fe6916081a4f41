/**
 * The state of one participant, plain JSON, in two parts (nothing is worth deriving):
 *   `durable`  what storage holds, record by record (records.ts); a value is replaced, never changed in
 *   place;
 *   `soft`     what may be lost at any moment: it is learned again from the others, which repeat what
 *   matters.
 */
import type { Detector } from '../../detector.ts'
import type { Replica } from '../../resource/replica.ts'
import type { Asking } from '../asking.ts'
import type { Grant, PendingOperation as GuardedOperation } from '../guarded/grants.ts'
import type { Incarnations, RequestedChange } from '../members/changes.ts'
import type { MemberSet, OfSet } from '../members/sets.ts'
import type { Ending, ParticipantId } from '../protocol.ts'
import type { Claim } from '../running-digest.ts'
import type { Outgoing } from '../snapshots.ts'
import type { SetTimers } from '../step.ts'
import type { Waiter } from '../waiting-users.ts'
import type { Command, EjectCommand, Lane, MembersCommand, NumberedCommand } from './commands.ts'
import type { PromiseMessage, SnapshotPoint } from './messages.ts'

export type { Grant, Waiter }

export interface ConsensusState {
  durable: Durable
  soft: Soft
}

// ---------------------------------------------------------------- durable

export interface Durable {
  membership: Membership
  acceptor: Acceptor
  /**
   * What this participant has accepted, instance by instance, without gaps. Everything up to
   * `machine.applied` is decided.
   */
  log: Entry[]
  machine: Machine
  stub: Stub
  lanes: { [lane in Lane]: OwnLane }
  handover: Handover
  /** Local users that wait, in order of arrival. */
  waiters: Waiter[]
  replica: Replica
}

export type Membership =
  /** This participant has never started. */
  | { readonly status: 'blank' }
  | { readonly status: 'member' }
  /**
   * Its storage was lost, and with it what it promised and accepted, so it must not vote (trap D2). It is not
   * taken back: this baseline goes on with the others and refuses the users of this participant. An operator
   * may replace it by another one.
   */
  | { readonly status: 'excluded' }
  /** No member yet: it has no vote, but may have been brought up to date (learner.ts). */
  | { readonly status: 'joining'; readonly incarnation: number; readonly isPrimed?: true }
  /** Not a member any more, for good. `hasData`: others may still need what it has (handover.ts). */
  | { readonly status: 'removed'; readonly hasData: boolean }

/** What this participant knows about the set of members, beyond what is decided. */
export interface Handover {
  /** A majority of this set is known to have everything from before it. */
  readonly config: number
}

/** Multi-Paxos: one promise for all instances that are not decided yet. */
export interface Acceptor {
  /**
   * The highest ballot seen. Nothing is accepted in a lower one. Its coordinator is the one that is expected
   * to propose.
   */
  readonly promised: number
  /**
   * The last ballot that this participant is or was the coordinator of: a majority promised, so it may
   * propose. -1: none.
   */
  readonly prepared: number
  /** The set of members of which a majority has promised it (rule P6). Absent: the first one. */
  readonly preparedFor?: number
}

/** One consensus instance. */
export interface Entry {
  readonly position: number
  /** The ballot in which it was accepted. */
  readonly ballot: number
  readonly command: Command
  /** The digest of the commands up to and including this one (running-digest.ts). */
  readonly digest: string
}

/** The replicated state machine without the resource: equal at all participants that have applied as much. */
export interface Machine extends OfSet<ConsensusSet> {
  /** All instances up to here are decided and applied. */
  readonly applied: number
  /** The digest of the commands up to there (running-digest.ts). */
  readonly digest: string
  readonly holder: Holder | null
  /** The fence of the last grant, over or not; -1 before the first. */
  readonly latestFence: number
  /** At most one for each participant. */
  readonly queue: readonly Request[]
  /** The last command that was decided, by lane and participant. */
  readonly numbers: { readonly [lane in Lane]: readonly number[] }
  /** A field of the replica's table of results. It is here so that it is written in the same record. */
  readonly droppedThrough: number
}

export interface ConsensusSet extends MemberSet {
  /** The lives in which those came that the lock was not born with: no other life of theirs is a member. */
  readonly incarnations: Incarnations
}

export interface Request {
  readonly participant: ParticipantId
  readonly request: number
}

export interface Holder extends Request {
  /** The place in the log where it became the holder. */
  readonly fence: number
}

/** What the users of this participant were told. */
export interface Stub {
  readonly phase: 'outside' | 'cs-idle' | 'cs-issuing' | 'leaving'
  /** The last fence that a user was let in with: a grant is used once. */
  readonly usedFence: number
  readonly grant: Grant | null
  readonly pendingOperation: PendingOperation | null
  /** The last grants of this participant that are over, newest last, for users that missed the news. */
  readonly endings: readonly Ending[]
}

export interface PendingOperation extends GuardedOperation {
  /** Its place in the log, if it has one, is above this. */
  readonly after: number
}

/** The command that is to be decided next in this lane. */
export interface OwnLane {
  /** The number of the last command, decided or not. */
  readonly number: number
  readonly command: NumberedCommand | null
}

// ---------------------------------------------------------------- soft

/**
 * Names one asking of a question. It contains the asker's life, so that late answers to an earlier life do
 * not count.
 */
export type Round = string

export interface Soft extends Asking {
  /**
   * How far each participant is known to have accepted, in one ballot, and what of it has not been compared
   * yet.
   */
  acknowledged: { ballot: number; through: number[]; claims: (Claim | null)[] }
  /** The weight of all entries of the kept log together. */
  logWeight: number
  /** As coordinator: up to where the log was proposed to each participant. */
  sent: number[]
  /** As coordinator: the decision that all were told (message-optimal). */
  told: number
  /** The prepare phase of a ballot of this participant. */
  candidacy: { ballot: number; promises: (PromiseMessage | null)[] } | null
  /** Commands of others that are not decided yet. */
  requested: Command[]
  /** Operators' changes of the members that this participant was asked for. */
  changes: RequestedChange[]
  /** Those that it wants decided, here or elsewhere, at most one for each participant. */
  asked: AskedChange[]
  /** Members that are known to have everything from before the set. */
  installed: ParticipantId[]
  /** Who the members are, as somebody said, while this participant is none. */
  hint: (OfSet & { readonly decided: number }) | null
  /** How often what concerns the members was said again since there was something new. */
  calls: number
  /** This participant's own wish to force the holder out. */
  ejection: EjectCommand | null
  /** Operators' requests that wait until the holder with this fence is out. */
  ejects: { request: string; fence: number }[]
  /** Linearizable reads; `barrier` is the number of the command that they wait for. */
  reads: { request: string; barrier: number | null }[]
  detector: Detector
  watched: ParticipantId[]
  /** The peers that have been silent for too long, in this watch: an older suspicion may be out of date. */
  silent: ParticipantId[]
  /**
   * When the watched peers are pinged next, whether that was noticed late the last time, and when the
   * questions about silent ones were last repeated.
   */
  beat: { dueAt: number; isExcused: boolean; repeatedAt: number | null }
  /** Until then peers are watched for the sake of a participant that asked for something (rule T4). */
  leaseUntil: number
  /**
   * This participant's questions whether a majority finds a peer silent: about which peer, and who agreed.
   */
  inquiries: { [about: string]: { round: Round; agreed: boolean[] } }
  /** The participants that asked, about which peer, and that wait for the answer. */
  voters: { [about: string]: { [voter: string]: Round } }
  life: number
  rounds: number
  /** Snapshots under way (snapshots.ts). */
  outgoing: Outgoing<SnapshotPoint> | null
  /** Counts the peers that were asked without knowing whether they know more. */
  guesses: number
  repeatAttempts: number
  idleRepeats: number
  timers: SetTimers<TimerName>
}

export interface AskedChange {
  readonly command: MembersCommand
  /** It counts as long as it is asked for: the participant that wants it repeats it. */
  readonly until: number
  /** How long the coordinator waits for a holder that has to go. */
  readonly drainUntil: number
  /** Those that have shown since that they are there. */
  readonly heard: readonly ParticipantId[]
}

export type TimerName = 'repeat' | 'heartbeat' | 'ttl' | 'wait' | 'snapshot' | 'members'
