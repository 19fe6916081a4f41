/**
 * A recorded history: what users and stubs said to each other (the paper's seven events, section 2) and what
 * each stub said to its replica (`invoke`, `response`), and when the participants of the lock changed. The
 * service and the simulator record it; the checker judges it.
 *
 * A history is a header and its events in the order of their time. As a file it has one JSON value per line,
 * the header first.
 */
import type { Json } from '../json.ts'
import type { Mode } from '../protocols/protocol.ts'

export interface HistoryHeader {
  readonly format: 1
  readonly protocol: string
  /** Number of participants. */
  readonly participants: number
  /** The resource that the operations are for; the checker replays them on it. */
  readonly resource: string
  /**
   * How many results a replica remembers: if an `opId` is invoked again within that many, it is answered and
   * not applied.
   */
  readonly resultsKept: number
  /**
   * How many local users may follow one another while others wait. Absent: not known, and nothing is judged
   * by it.
   */
  readonly localHandoffs?: number
}

/**
 * One user is one client automaton: it tries, is in, leaves, and may try again. Its name is unique in the
 * history.
 */
interface UserEvent {
  /** Milliseconds, or any other unit that never goes back. */
  readonly at: number
  readonly user: string
  /** The participant whose stub the user talks to. */
  readonly participant: number
}

export type UserStubEvent =
  /**
   * `mode`: whether it shares the lock with readers. Default: exclusive, if neither this event nor the `try`
   * says.
   */
  | (UserEvent & { readonly type: 'try'; readonly mode?: Mode; readonly owner?: string })
  | (UserEvent & {
      readonly type: 'crit'
      readonly fence: number
      readonly epoch: number
      readonly mode?: Mode
      /** What the client calls itself, if it said so; and when the grant ends unless it is kept alive. */
      readonly owner?: string
      readonly expiresAt?: number
    })
  | (UserEvent & {
      readonly type: 'issue'
      readonly fence: number
      readonly opId: string
      readonly operation: Json
    })
  | (UserEvent & {
      readonly type: 'outcome'
      readonly fence: number
      readonly opId: string
      readonly sequence: number
      readonly result: Json
    })
  | (UserEvent & { readonly type: 'exit'; readonly fence: number })
  | (UserEvent & { readonly type: 'rem'; readonly fence: number })
  | (UserEvent & {
      readonly type: 'ejected'
      readonly fence: number
      readonly reason: EjectionReason
      /**
       * What became of the operation that was pending, if there was one: `not-applied` means that nobody ever
       * applies it.
       */
      readonly pending?: { readonly opId: string; readonly outcome: 'not-applied' | 'unknown' }
    })
  /** The waiting user gave up (or its time to wait ended) before `crit`. */
  | (UserEvent & { readonly type: 'withdrawn' })
  /** The user is gone, wherever it was in its automaton. Nothing more comes from it or reaches it. */
  | (UserEvent & { readonly type: 'crash' })

export type EjectionReason = 'suspected' | 'expired' | 'operator'

interface ReplicaEvent {
  readonly at: number
  readonly participant: number
}

export type StubResourceEvent =
  /** The operation at this place of the log is invoked on this participant's replica. */
  | (ReplicaEvent & {
      readonly type: 'invoke'
      readonly sequence: number
      readonly fence: number
      readonly opId: string
      readonly operation: Json
    })
  /** The replica's answer; `hash` is the hash of its cells afterwards (optional: hashing may be sampled). */
  | (ReplicaEvent & {
      readonly type: 'response'
      readonly sequence: number
      readonly opId: string
      readonly result: Json
      readonly hash?: string
    })
  /** The replica jumped to a snapshot of the state after `sequence`. */
  | (ReplicaEvent & { readonly type: 'restore'; readonly sequence: number; readonly hash: string })
  /**
   * The process began again with a replica that has applied everything up to `sequence`: what it applied
   * later was not written yet, and is applied again.
   */
  | (ReplicaEvent & { readonly type: 'restart'; readonly sequence: number })
  /** The replica lost everything and is empty again. */
  | (ReplicaEvent & { readonly type: 'wipe' })

/**
 * The participant has heard that the lock has other participants from now on; it may be one of them or not.
 * Older histories have no such events.
 */
export type MembersEvent = ReplicaEvent & {
  readonly type: 'members'
  /** Names the set: a number that is higher than that of all before. */
  readonly configuration: number
  readonly members: readonly { readonly id: number; readonly location: string | null }[]
  /** Who wanted it: an operator, or the lock itself, which follows its work. */
  readonly by: 'operator' | 'follow'
}

/** Marks that only the liveness properties look at. */
export type MarkEvent =
  /** From here on nothing goes wrong: all participants are up, reach each other and know who waits. */
  | { readonly at: number; readonly type: 'calm' }
  /** Something goes wrong: the calm is over. */
  | { readonly at: number; readonly type: 'fault' }
  /** From here on these participants are up and reach each other: progress is owed to their users. */
  | {
      readonly at: number
      readonly type: 'healed'
      readonly participants: readonly number[]
      /** How many members the lock has then. Default: as many as the header says. */
      readonly of?: number
    }
  /**
   * From here on the failure detectors make no more mistakes about the healed ones: there are no more
   * ejections for suspicion.
   */
  | { readonly at: number; readonly type: 'settled' }
  /**
   * The recording was ended on purpose after all had time to finish: anything owed and still missing is a
   * violation.
   */
  | { readonly at: number; readonly type: 'end' }

export type HistoryEvent = UserStubEvent | StubResourceEvent | MembersEvent | MarkEvent

export interface History {
  readonly header: HistoryHeader
  readonly events: readonly HistoryEvent[]
}
