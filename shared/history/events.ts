/**
 * A recorded history: what users and stubs said to each other (the paper's seven events, section 2) and what each
 * stub said to its replica (`invoke`, `response`). The checker judges it; the service and the simulator record it.
 *
 * A history is a header and its events in the order of their time. As a file: one JSON value per line, the header first.
 */
import type { Json } from '../json.ts'
import type { Mode } from '../protocols/protocol.ts'

export interface HistoryHeader {
  readonly format: 1
  readonly protocol: string
  /** Number of participants. */
  readonly participants: number
  /** Name of the resource that the operations are for; the checker replays them on it. */
  readonly resource: string
  /** How many results a replica remembers: an `opId` invoked again within them is answered, not applied. */
  readonly resultsKept: number
  /** How many local users may follow each other while others wait. Absent: not known, and nothing is judged by it. */
  readonly localHandoffs?: number
}

/** One user is one client automaton: it tries, is in, leaves, and may try again. Its name is unique in the history. */
interface UserEvent {
  /** Milliseconds, or any other unit that never falls. */
  readonly at: number
  readonly user: string
  /** The participant whose stub the user talks to. */
  readonly participant: number
}

export type UserStubEvent =
  /** `mode`: whether it shares the lock with readers; exclusive if nothing is said, here or at the `try`. */
  | (UserEvent & { readonly type: 'try'; readonly mode?: Mode })
  | (UserEvent & {
      readonly type: 'crit'
      readonly fence: number
      readonly epoch: number
      readonly mode?: Mode
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
      /** What became of the operation that was pending, if one was: `not-applied` means nobody ever applies it. */
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
  /** The replica lost everything and is empty again. */
  | (ReplicaEvent & { readonly type: 'wipe' })

/** Marks that only the liveness properties look at. */
export type MarkEvent =
  /** From here on nothing goes wrong: all participants are up, reach each other and know who waits. */
  | { readonly at: number; readonly type: 'calm' }
  /** Something goes wrong: the calm is over. */
  | { readonly at: number; readonly type: 'fault' }
  /** From here on these participants are up and reach each other: progress is owed to their users. */
  | { readonly at: number; readonly type: 'healed'; readonly participants: readonly number[] }
  /** From here on the failure detectors make no more mistakes about the healed ones: no more ejections for suspicion. */
  | { readonly at: number; readonly type: 'settled' }
  /** The recording was ended on purpose after all had time to finish: what is owed and missing now is a violation. */
  | { readonly at: number; readonly type: 'end' }

export type HistoryEvent = UserStubEvent | StubResourceEvent | MarkEvent

export interface History {
  readonly header: HistoryHeader
  readonly events: readonly HistoryEvent[]
}
