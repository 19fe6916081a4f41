/**
 * What the router asks of one participant, and how it answers: JSON in the body of one `fetch`, the same
 * whether the participant is a Durable Object next door or a process behind a URL. Paths below `/`:
 *
 *   POST /call      a `ParticipantRequest`, answered by a `ParticipantAnswer` (../answer-response.ts)
 *   POST /peer      messages of the protocol, from another participant
 *   GET  /watch     Server-Sent Events; `?since=`
 *   GET  /session   WebSocket; `?user=` names the session's user, `&client=` its client; `&read=yes` says
 *                   that its key may read; `&key=` and `&request=` are for the log
 *
 * All of them carry `lock` and `participant` in the headers `x-baton-lock` and `x-baton-participant`.
 */
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import type { MembersChange } from '../../shared/api/members-change.ts'
import type { ProblemCode } from '../../shared/api/problems.ts'
import type { Json } from '../../shared/json.ts'
import type { Mode } from '../../shared/protocols/protocol.ts'
import type { ImportPart, ImportPiece } from '../../shared/resource/import.ts'
import type { Caller } from './observe/callers.ts'
import type { MeasurementsReport } from './observe/measurements.ts'

export interface ParticipantRequest {
  readonly call: ParticipantCall
  /** Who asks, for the log. Absent from a router of an earlier version. */
  readonly caller?: Caller
  /** The client gets the answer as it is, see ../answer-response.ts. Absent from a router of before. */
  readonly asItIs?: true
}

/**
 * `user` is a random token that only the client knows: it is part of the ids of its tickets and grants.
 * `client` is the same for all calls with one key, so that places for waiting can be shared fairly between
 * keys; it is absent if there are no keys.
 */
export type ParticipantCall =
  | {
      readonly type: 'acquire'
      readonly user: string
      readonly waitMs: number
      /** `null`: the lock's default. */
      readonly ttlMs: number | null
      readonly ticket: boolean
      readonly confirm: boolean
      /** Default (also for an older router): exclusive. */
      readonly mode?: Mode
      readonly client?: string
      /** What the client calls itself. */
      readonly owner?: string
      /** The location that is nearest to the client, if that is known. */
      readonly near?: string
      /** The router says (`confirm`) when the answer was taken. Absent from a router of before. */
      readonly handsOver?: true
    }
  /** Waits up to `waitMs` for a ticket to become a grant. */
  | { readonly type: 'ticket'; readonly user: string; readonly waitMs: number; readonly client?: string }
  /**
   * `ofWaiter`: all participants are asked, because nobody knows where it waits; each answers with the lock's
   * configuration, whether or not it was there. `ofTicket`: the `acquire` was answered long ago, so none can
   * be on its way.
   */
  | { readonly type: 'withdraw'; readonly user: string; readonly ofWaiter?: true; readonly ofTicket?: true }
  /** The client has the grant that it was given after waiting. */
  | { readonly type: 'confirm'; readonly user: string }
  | {
      readonly type: 'ops'
      readonly user: string
      readonly fence: number
      readonly opId: string
      readonly ops: Json
    }
  | {
      readonly type: 'keepalive'
      readonly user: string
      readonly fence: number
      readonly ttlMs: number | null
      /**
       * Answered after so long, or as soon as the grant is over. Absent (also from a router of before): at
       * once.
       */
      readonly waitMs?: number
    }
  | { readonly type: 'release'; readonly user: string; readonly fence: number }
  | {
      readonly type: 'transact'
      readonly user: string
      readonly opId: string
      readonly ops: Json
      readonly waitMs: number
      readonly client?: string
      readonly owner?: string
      /** The location that is nearest to the client, if that is known. */
      readonly near?: string
    }
  | { readonly type: 'get'; readonly key: string; readonly consistency: Consistency }
  | {
      readonly type: 'list'
      readonly prefix: string
      readonly limit: number
      /** The last key of the page before, or `null`. */
      readonly after: string | null
      readonly consistency: Consistency
    }
  /** This participant's own view; the router puts those of all together. */
  | { readonly type: 'status' }
  /** A page of at most `limit` events from `cursor` on, as `{events, cursor}`. */
  | { readonly type: 'history'; readonly limit?: number; readonly cursor?: string | null }
  /** `fence`: only if this is the holder's. Absent (also from an older router) or `null`: any holder. */
  | { readonly type: 'eject'; readonly fence?: number | null }
  /**
   * Ends the lock, or only the generation that is named. `user` is a random token. `force`: whoever holds it
   * is ejected.
   */
  | {
      readonly type: 'delete'
      readonly user: string
      readonly force: boolean
      readonly generation: number | null
      /**
       * Only if nobody has done anything with it but import it, holds it or waits for it. Its import has
       * failed; nobody is ejected but the user of the import.
       */
      readonly ifUnused?: true
      /** The user of the import, if it has got that far. */
      readonly importer?: string
    }
  /** An operator wants other participants. */
  | { readonly type: 'members'; readonly change: MembersChange }
  /**
   * Everything that counts, as an `ExportPage`: the first of a new export, or one that begins there. `next`:
   * `null`: nobody reads that export any more.
   */
  | { readonly type: 'export'; readonly page?: { readonly id: string; readonly next: number | null } }
  /** Of the holder of a lock that is being made from an export: a part of it, or that there are no more. */
  | {
      readonly type: 'import'
      readonly user: string
      readonly fence: number
      readonly number: number
      readonly part: ImportPart | ImportPiece | null
      readonly droppedThrough: number
    }
  /**
   * Of an object of the index: at most `limit` names that begin with this and come after that one, as an
   * `IndexPage`. `within`: only those that fit one of these patterns, which are in the order of their names.
   */
  | {
      readonly type: 'locks'
      readonly prefix: string
      readonly within?: readonly string[]
      readonly after: string
      readonly limit: number
    }
  /** Gives birth to the lock with this configuration unless it has one; answers with the one it has. */
  | { readonly type: 'configure'; readonly configuration: LockConfiguration }

export type Consistency = 'local' | 'linearizable'

export type ParticipantAnswer =
  | {
      readonly type: 'done'
      readonly status: 200 | 201 | 202 | 204
      readonly body: Json
      /** A grant that ends soon, unless the router says with a `confirm` that the client has it. */
      readonly isUntaken?: true
    }
  | {
      readonly type: 'problem'
      readonly code: ProblemCode
      readonly detail: string
      readonly outcome?: 'applied' | 'not-applied' | 'unknown'
      readonly retryAfterSeconds?: number
      /** Further members of the problem, such as `holder`. */
      readonly more?: { readonly [member: string]: Json }
    }
  /** This participant has no part in this lock: ask one of these. */
  | { readonly type: 'elsewhere'; readonly configuration: LockConfiguration }

/** The body of a `status` answer. */
export interface ParticipantStatus {
  readonly configuration: LockConfiguration
  /** Absent from a participant of an earlier version. */
  readonly generation?: number
  readonly phase: string
  readonly epoch: number
  readonly sequence: number
  readonly owner: number | null
  /** Local users that wait. */
  readonly queue: number
  readonly suspects: readonly number[]
  /** Requests to other participants since the object was last loaded. */
  readonly peerRequests: number
  /** Since then, too. Absent from a participant of an earlier version. */
  readonly measurements?: MeasurementsReport
  readonly gauges?: {
    readonly calls: number
    readonly watchers: number
    readonly sessions: number
    readonly stateWeight: number
  }
  /** Somebody is in its critical section here. */
  readonly holder: HolderStatus | null
  /** Since when the first of the local users waits; `null` if nobody does. Absent from an earlier version. */
  readonly waitingSince?: string | null
  /** When the participants last changed, of a lock that follows its work; `null`: never. */
  readonly movedAt?: string | null
  /** By the clock that the other times are from. Absent from an earlier version. */
  readonly now?: string
}

export interface HolderStatus {
  readonly participant: number
  readonly fence: number
  readonly expiresAt: string
  readonly since: string
  readonly owner?: string
}
