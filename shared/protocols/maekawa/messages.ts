/**
 * All messages of the algorithm (section 4). Each carries the sequence number of the request that it is
 * about, so a message about a request that is over is recognised (K4). A LOCKED begins a round of its
 * arbiter. A node that gives that lock back, or is asked to, names the round, so that a late message of one
 * round does not touch the lock of the next.
 *
 * Each message also carries the highest sequence number that its sender knows of. The paper says that a
 * request's number is greater than any that was "sent, received, or observed", but not how one is observed. A
 * node receives only the requests of the nodes in whose sets it is. Without this field, a node that was never
 * asked would go on with low numbers and overtake those whose numbers have grown, again and again.
 */
import type { OperatorMessage } from '../lock-only/operators.ts'

export type MaekawaMessage = NumberedMessage | OperatorMessage

export type NumberedMessage = Section4Message & Highest

/** A Lamport clock. It is durable at its sender before it is sent. */
export interface Highest {
  readonly highest: number
}

export type Section4Message =
  | RequestMessage
  | LockedMessage
  | FailedMessage
  | InquireMessage
  | RelinquishMessage
  | ReleaseMessage
  | AreYouThereMessage

/**
 * Sent to every member of S_i. It also says that every earlier request of its sender is over, and up to which
 * fence.
 */
export interface RequestMessage {
  readonly type: 'request'
  readonly sequence: number
  readonly fence: number
}

/** The arbiter is locked for this request and knows of no fence above this one. */
export interface LockedMessage {
  readonly type: 'locked'
  readonly sequence: number
  readonly round: number
  readonly fence: number
}

/** An earlier request locks the arbiter, or will lock it before this one. */
export interface FailedMessage {
  readonly type: 'failed'
  readonly sequence: number
}

/** An earlier request waits: will the request that locks the arbiter succeed? */
export interface InquireMessage {
  readonly type: 'inquire'
  readonly sequence: number
  readonly round: number
}

/** It will not succeed yet: the lock of this round is given back, and the request waits again. */
export interface RelinquishMessage {
  readonly type: 'relinquish'
  readonly sequence: number
  readonly round: number
}

/**
 * This request and all earlier ones of its sender are over; no grant under them had a fence above this one.
 */
export interface ReleaseMessage {
  readonly type: 'release'
  readonly sequence: number
  readonly fence: number
}

/**
 * Not in the paper, which loses no message. Another node has waited for the lock of this request so long that
 * it asked twice. A node that is inside learns that somebody waits for it; a node that is not inside releases
 * again.
 */
export interface AreYouThereMessage {
  readonly type: 'are-you-there'
  readonly sequence: number
}
