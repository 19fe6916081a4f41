/**
 * What the objects of a lock, and the ledgers of processes, ask each other: JSON in the body of a request and
 * of its response.
 */
import type { IndexEntry } from '../../../shared/api/lock-index.ts'
import type { LedgerSight, Sight } from '../../../shared/birth/existence.ts'
import type {
  LedgerAnswer,
  LedgerHealth,
  LedgerLook,
  LedgerMessage,
  LedgerQuestion,
} from '../../../shared/birth/ledger-types.ts'
import type { LockEnvelope } from '../../../shared/birth/messages.ts'
import type { HolderStatus } from '../calls.ts'

/** A message between participants of one lock. */
export type Message = LockEnvelope

/** A participant that is watched wants to hear of the holders of another one, of this generation's lock. */
export interface WatchLease {
  readonly from: number
  /** Of a participant that came after the birth of its lock: where it is. */
  readonly address?: string
  readonly generation: number
}

/** What a participant sees of the holder: who is inside at its own place, and which grants are over. */
export interface Sighting {
  readonly holder: HolderStatus | null
  /** All grants up to this fence are over; -1 if it knows of none. */
  readonly over: number
}

export type PeerRequest =
  /** Everything that one turn sends to one peer. */
  | {
      readonly type: 'messages'
      readonly from: number
      /** Of a participant that came after the birth of its lock: where it is. */
      readonly address?: string
      readonly messages: readonly Message[]
    }
  /** What do you know of this lock? Answering changes nothing. */
  | { readonly type: 'look' }
  /**
   * Who holds the lock at your place with this fence? With `watch`: whoever it is, and tell me for a while
   * when that changes. Answering changes nothing else; an earlier version knows nothing of `watch`.
   */
  | { readonly type: 'who'; readonly fence: number; readonly watch?: WatchLease }
  /** To a participant that is watched and has asked for it: who holds the lock at my place now. */
  | ({ readonly type: 'holder-news'; readonly from: number; readonly generation: number } & Sighting)
  /** From the ledger of this process to a participant that was lost: be taken back. */
  | { readonly type: 'finish'; readonly incarnation: number; readonly generation?: number }
  /** To an object of the index, from a participant of this process: what has become of its lock. */
  | { readonly type: 'list-lock'; readonly lock: string; readonly entry: IndexEntry }
  | LedgerRequest

/** To a ledger, from the ledger of another process or from a participant in its own. */
export type LedgerRequest =
  | { readonly type: 'ledger'; readonly from: number; readonly messages: readonly LedgerMessage[] }
  | { readonly type: 'ask-ledger'; readonly question: LedgerQuestion }
  | { readonly type: 'look-ledger'; readonly look: LedgerLook }
  | {
      readonly type: 'tell-ledger'
      readonly lock: string
      readonly generation: number
      readonly incarnation: number
    }
  /** From the router of its own process, for `GET /healthz`. */
  | { readonly type: 'ledger-health' }

export type PeerAnswer =
  /** What the peer's steps answered, so that an acknowledgement costs no request of its own. */
  | { readonly type: 'messages'; readonly messages: readonly Message[] }
  | { readonly type: 'ledger'; readonly messages: readonly LedgerMessage[] }
  | { readonly type: 'ledger-answer'; readonly answer: LedgerAnswer }
  | { readonly type: 'ledger-health'; readonly health: LedgerHealth }
  | { readonly type: 'sight'; readonly sight: Sight }
  /** `owner`: who has the token, as far as it knows. Only a question with `watch` is answered with more. */
  | {
      readonly type: 'holder'
      readonly holder: HolderStatus | null
      readonly over?: number
      readonly owner?: number | null
    }
  /** To `holder-news`: whether anybody still watches there. */
  | { readonly type: 'heard'; readonly isWatched: boolean }
  | { readonly type: 'ledger-sight'; readonly sight: LedgerSight }
  | { readonly type: 'taken' }
