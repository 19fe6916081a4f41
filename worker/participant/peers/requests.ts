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
  /** Who holds the lock at your place with this fence? Answering changes nothing. */
  | { readonly type: 'who'; readonly fence: number }
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
  | { readonly type: 'holder'; readonly holder: HolderStatus | null }
  | { readonly type: 'ledger-sight'; readonly sight: LedgerSight }
  | { readonly type: 'taken' }
