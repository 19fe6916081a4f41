/**
 * What participants of one lock say to each other: the core's messages with the lock's identity, and those of
 * the birth.
 */
import type { OpaqueMessage } from '../protocols/all.ts'
import type { PresentMembers } from '../protocols/protocol.ts'
import type { LockValue } from './value.ts'

/** Incarnation by process, for those whose storage was lost and that came back. Default: the first. */
export type Incarnations = { readonly [participant: string]: number }

export interface LockEnvelope {
  readonly format: number
  readonly generation: number
  /** E_g, the epoch from which this generation counts. Default: 0. */
  readonly startEpoch?: number
  /** The incarnation of the sender's process when the sender became entitled. Default: 1. */
  readonly incarnation?: number
  /** The incarnations that the sender knows of (G8). */
  readonly known?: Incarnations
  readonly body: LockMessage
}

export type LockMessage = CoreMessage | BirthMessage

/**
 * A message of the core. Its sender has accepted the value in ballot 0, or knows that it is chosen, so the
 * message counts as a vote. The exception is `tentative`: a participant that guesses the value of ballot 0
 * asks the first owner, and nobody else.
 */
export interface CoreMessage {
  readonly type: 'core'
  /** The digest of the value under which the sender acts. */
  readonly digest: string
  /** The sender knows that the value is chosen. */
  readonly chosen?: true
  readonly tentative?: true
  /** The value itself, until the sender has heard that the receiver has it. */
  readonly value?: LockValue
  readonly message: OpaqueMessage
}

export interface AcceptedBallot {
  readonly ballot: number
  readonly value: LockValue
}

export type BirthMessage =
  /** Somebody uses the lock at the sender: what is it? */
  | { readonly type: 'wake'; readonly isLook?: true }
  /** The sender has accepted this value in ballot 0 and acts under it. */
  | { readonly type: 'begun'; readonly value: LockValue }
  /**
   * `life`: of the proposer, which may have lost its storage since, and uses its ballots again. An answer has
   * that of the question.
   */
  | { readonly type: 'prepare'; readonly ballot: number; readonly life?: string }
  | {
      readonly type: 'promise'
      readonly ballot: number
      readonly life?: string
      readonly accepted: AcceptedBallot | null
    }
  | { readonly type: 'accept'; readonly ballot: number; readonly life?: string; readonly value: LockValue }
  | { readonly type: 'accepted'; readonly ballot: number; readonly life?: string }
  /**
   * The sender cannot accept what it was sent: it has promised this ballot. A participant that is stuck
   * proposes a higher one (G7).
   */
  | { readonly type: 'promised'; readonly promised: number }
  /** `isForMember`: to one that came later and has lost its storage, that it is a member. */
  | { readonly type: 'chosen'; readonly value: LockValue; readonly isForMember?: true }
  /** The sender does not know the value with this digest. */
  | { readonly type: 'what'; readonly digest: string }
  /** The sender has no vote. */
  | { readonly type: 'unable'; readonly reason: 'lost' | 'not-ready' }
  /**
   * The envelope says it all: what the receiver sent belongs to a generation that has ended (G9), or to
   * an earlier life.
   */
  | { readonly type: 'outdated' }
  /** The envelope says it all: the generation before this one has ended. The answer is `heard`. */
  | { readonly type: 'ended' }
  | { readonly type: 'heard' }
  /**
   * To a registrar that is no member: these are the members now. It tells whoever asks it. The answer is
   * `moved-heard`.
   */
  | ({ readonly type: 'moved' } & PresentMembers)
  | { readonly type: 'moved-heard'; readonly configuration: number }
  /** The answer to `isForMember`, once the sender has its place among the members again, or has none. */
  | { readonly type: 'back' }
