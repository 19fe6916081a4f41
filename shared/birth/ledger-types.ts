/**
 * The interface of the ledger: one for each process, where processes can lose their storage one by one. It
 * knows in which locks this process has voted, and so tells a participant that was lost from one that is new.
 */
import type { DurableRecord, ParticipantId } from '../protocols/protocol.ts'
import type { Incarnations } from './messages.ts'

export interface LedgerContext {
  readonly self: ParticipantId
  readonly registrars: number
  /** The default protocol of this version of the deployment promises strict exclusion. */
  readonly isStrict: boolean
  readonly limits: LedgerLimits
  readonly timing: LedgerTiming
}

export interface LedgerLimits {
  /** How many locks one process may vote in. */
  readonly locks: number
  /** Entries of the index in one message. */
  readonly entriesPerPage: number
}

export interface LedgerTiming {
  readonly repeatMs: number
  readonly repeatMaxMs: number
  /** The time between two locks that are finished in the background. */
  readonly finishMs: number
  /** How many may be on their way at a time: each costs all of its participants a few requests. */
  readonly finishAtOnce: number
  /** Before those that could not be finished are tried again, or others in their place. */
  readonly finishAgainMs: number
}

export const DEFAULT_LEDGER_LIMITS: LedgerLimits = { locks: 250_000, entriesPerPage: 1_000 }
export const DEFAULT_LEDGER_TIMING: LedgerTiming = {
  repeatMs: 250,
  repeatMaxMs: 5_000,
  finishMs: 50,
  finishAtOnce: 4,
  finishAgainMs: 10_000,
}

// ---------------------------------------------------------------- objects ask

export interface LedgerQuestion {
  readonly lock: string
  readonly generation: number
  /** Durable in the object before it asks. The ledger lists the lock with it, once. */
  readonly token: string
  /**
   * The incarnation of this process as others know it: if it is higher than the ledger's own, the ledger
   * heals once more.
   */
  readonly incarnation: number
}

/** A question that lists nothing. */
export interface LedgerLook {
  readonly lock: string
  readonly generation: number
  /** As the object has stored it; `null`: it has asked for nothing yet. */
  readonly token: string | null
}

export interface LedgerAnswer {
  readonly generation: number
  readonly token: string
  readonly verdict: 'entitled' | 'lost' | 'not-ready'
  /** Why it is not ready, in words. */
  readonly detail?: string
  readonly incarnation: number
  /** What is known when the lock is listed: votes carry it from then on (G8). */
  readonly known: Incarnations
  readonly isStrict?: true
}

/**
 * For an operator who wants to replace a machine: the next one may be lost once all are healed and have
 * finished.
 */
export interface LedgerHealth {
  /** The process takes part, and knows what it has lost. */
  readonly healed: boolean
  /** Locks in which its participant was lost and has not been taken back. */
  readonly unfinishedLocks: number
}

// ---------------------------------------------------------------- durable

/** Under the key `ledger`; each lock has a record `lock/<name>` of its own. */
export type LedgerRecord =
  /**
   * Not founded. A new nonce is drawn for each collector, so that what an earlier one collected is worth
   * nothing.
   */
  | {
      readonly status: 'blank'
      readonly nonce: string
      readonly collector: string | null
      /** The nonces of this very storage that were given to earlier collectors. */
      readonly earlier: readonly string[]
    }
  | FoundedRecord

export interface FoundedRecord {
  readonly status: 'founded'
  readonly founding: Founding
  readonly nonce: string
  /** 0: replaced, and its number is not known yet. */
  readonly incarnation: number
  /** Whether this process may vote. */
  readonly isHealed: boolean
  readonly known: Incarnations
}

/** What the first registrar collected: one nonce of every process, in order. */
export interface Founding {
  readonly collector: string
  readonly nonces: readonly string[]
  /** All processes had a default protocol that promises strict exclusion (G13). */
  readonly isStrict?: true
}

export interface LedgerEntry {
  /** The highest generation voted in here, with the token of the object that did; 0: none. */
  readonly voted: number
  readonly token: string | null
  /** Votes in generations up to this one are lost. */
  readonly lost: number
  /** The participant that was lost has been taken back. */
  readonly isFinished?: true
}

// ---------------------------------------------------------------- messages

export type LedgerMessage =
  /** From the first registrar, not founded: are all processes new? */
  | { readonly type: 'gather'; readonly collector: string }
  /** `isStrict`: what the defaults of the sender promise. */
  | { readonly type: 'blank'; readonly collector: string; readonly nonce: string; readonly isStrict?: true }
  /** A process that is not founded is here. */
  | { readonly type: 'hello' }
  /** What the sender was founded with, and what it knows. */
  | {
      readonly type: 'founded'
      readonly founding: Founding
      readonly known: Incarnations
      /** The sender has forgotten nothing: it was never replaced, or is healed. */
      readonly isSure: boolean
    }
  /** The sender's process has this incarnation now. */
  | {
      readonly type: 'note'
      readonly collector: string
      readonly nonce: string
      readonly incarnation: number
    }
  | {
      readonly type: 'noted'
      readonly nonce: string
      readonly incarnation: number
      readonly known: Incarnations
    }
  /** Asks for the locks after this name that the receiver has voted in or lost. */
  | {
      readonly type: 'list'
      readonly nonce: string
      readonly incarnation: number
      readonly after: string
    }
  | {
      readonly type: 'index'
      readonly nonce: string
      readonly incarnation: number
      readonly after: string
      readonly entries: readonly (readonly [lock: string, generation: number])[]
      readonly isLast: boolean
    }

// ---------------------------------------------------------------- inputs and effects

export type LedgerInput =
  /** `random` differs at each start. */
  | { readonly type: 'start'; readonly random: string }
  | { readonly type: 'message'; readonly from: ParticipantId; readonly message: LedgerMessage }
  | { readonly type: 'timer'; readonly timer: LedgerTimer }
  | { readonly type: 'ask'; readonly question: LedgerQuestion }
  /** A participant that was lost has been taken back. */
  /** `incarnation`: the life of the process in which the others have taken its participant back. */
  | {
      readonly type: 'finished'
      readonly lock: string
      readonly generation: number
      readonly incarnation: number
    }

export type LedgerTimer = 'repeat' | 'finish'

export type LedgerEffect =
  | { readonly type: 'save'; readonly records: readonly DurableRecord[] }
  | { readonly type: 'send'; readonly to: ParticipantId; readonly message: LedgerMessage }
  | { readonly type: 'set-timer'; readonly timer: LedgerTimer; readonly afterMs: number }
  /** For the object that asked, and only after the save. */
  | { readonly type: 'answer'; readonly lock: string; readonly answer: LedgerAnswer }
  /** For the object of this lock: the input `finish`. */
  | {
      readonly type: 'finish'
      readonly lock: string
      readonly incarnation: number
      /** What was lost is of this generation, or of an earlier one. */
      readonly generation: number
    }
