/**
 * The state of one node, plain JSON, in three parts:
 *   `durable`  what storage holds, record by record (records.ts); a value is replaced, never changed in
 *   place;
 *   `derived`  a function of `durable` and the configuration;
 *   `soft`     what may be lost at any moment: the node asks again, and is answered again.
 *
 * A node has two roles: it requests the critical section for its own users, and it arbitrates for all nodes i
 * with this node in S_i.
 */
import type { LocalQueue, LocalQueueTimer } from '../lock-only/local-queue.ts'
import type { Operators } from '../lock-only/operators.ts'
import type { ParticipantId } from '../protocol.ts'
import type { SetTimers } from '../step.ts'
import type { Request } from './precedence.ts'

// ---------------------------------------------------------------- durable

export interface Durable {
  membership: Membership
  own: OwnRequest
  arbiter: Arbiter
  /** The paper's WAITING QUEUE, in order of precedence: at most one request of each node. */
  waiting: Request[]
  /** By node: its requests up to this sequence number are over. */
  ended: { [node: string]: number }
  /** The highest fence known here: used by this node, or told to it as an arbiter. */
  fence: Fence
  /** The highest sequence number that this node has heard of and that is in no other record. */
  observed: Observed
  localQueue: LocalQueue
}

/**
 * A node that has lost its storage does not know whom it is locked for, so it takes part no longer (trap D2).
 */
export interface Membership {
  readonly status: 'blank' | 'member'
}

export interface OwnRequest {
  readonly phase: 'idle' | 'requesting' | 'inside'
  /** The number of the present request, or of the last one. */
  readonly sequence: number
  /**
   * By member: the last round of its lock that this request has given back. A lock of that round no longer
   * counts.
   */
  readonly relinquished: { readonly [member: string]: number }
  /** Local users that followed one another while another node was known to wait. */
  readonly handoffs: number
}

export interface Arbiter {
  /** Counts the locks. */
  readonly round: number
  /** The paper's locking REQUEST. */
  readonly locker: Request | null
}

export interface Fence {
  readonly fence: number
}

export interface Observed {
  readonly sequence: number
}

// ---------------------------------------------------------------- derived and soft

export interface Derived {
  /** S_i, this node included. */
  members: readonly ParticipantId[]
  /** The highest sequence number of any request that was sent, received or observed here. It never falls. */
  highest: number
}

export interface Lock {
  readonly round: number
  /** The highest fence that the arbiter knew. */
  readonly fence: number
}

export interface Soft {
  /**
   * The LOCKED of each member of S_i that has sent one for the present request, unless the lock was given
   * back.
   */
  locked: { [member: string]: Lock }
  /** The members that have sent FAILED. A member that has sent LOCKED since counts as locked. */
  failed: { [member: string]: true }
  /** The round of each INQUIRE that waits for an answer, including those whose LOCKED has not arrived yet. */
  inquired: { [member: string]: number }
  /** Whether another node is known to wait until this node leaves. */
  isWaitedFor: boolean
  /** As an arbiter: the last round whose locker was sent an INQUIRE. */
  inquiredRound: number
  operators: Operators
  repeatAttempts: number
  timers: SetTimers<TimerName>
}

export type TimerName = LocalQueueTimer | 'repeat'

export interface MaekawaState {
  durable: Durable
  derived: Derived
  soft: Soft
}
