/**
 * What the service takes and answers, as the public contract has it. Written by hand, so that the client
 * carries no schemas with it, not even in its types; a test holds them against the schemas of the service.
 */

import type { WatchEvents } from '../shared/api/watch.ts'
import type { MembersEvent, StubResourceEvent, UserStubEvent } from '../shared/history/events.ts'
import type { Json } from '../shared/json.ts'
import type { ProtocolName, ProtocolOptions } from '../shared/protocols/protocol.ts'

export interface Grant {
  /** Whoever knows it can use the grant. */
  readonly id: string
  /** Strictly increases from grant to grant: what lies outside can refuse a holder that is late. */
  readonly fence: number
  readonly participant: number
  readonly epoch: number
  /** By the service's clock. */
  readonly expiresAt: string
  /** How long it lasts without a keep-alive, if the service says. */
  readonly ttlMs?: number | undefined
  /** The service ends it after so long if nobody uses it: it was waited for, and its client may be gone. */
  readonly confirmMs?: number | undefined
}

export interface Ticket {
  readonly id: string
  readonly position: number
  readonly expiresAt: string
}

export interface Holder {
  readonly participant: number
  readonly fence: number
  readonly expiresAt: string
  readonly since: string
  /** What the holder calls itself, if it said so. */
  readonly owner?: string | undefined
}

export type Consistency = 'local' | 'linearizable'

export interface Entry<Value = Json> {
  readonly key: string
  readonly value: Value
  /** The sequence of the operation that last changed the key. */
  readonly revision: number
}

/**
 * A key that does not exist has the value `null` and the revision 0, which is what `ifRevision` calls it too.
 */
export interface Read<Value = Json> extends Entry<Value | null> {
  /** How far the state that was read had come; absent if the key is. */
  readonly sequence?: number
}

export interface Page<Value = Json> {
  readonly entries: readonly Entry<Value>[]
  /** Where the next page begins; `null` on the last one. */
  readonly cursor: string | null
  readonly sequence: number
}

/** What is left out has the service's default. */
export interface LockOptions {
  readonly protocol?: ProtocolName
  /** The lock's choice among the variants of its protocol. */
  readonly options?: ProtocolOptions
  /** One for each participant, with a Cloudflare location hint. */
  readonly participants?: readonly { readonly location?: string | null }[]
  /** How long a grant lasts without a keep-alive, unless its `acquire` says. */
  readonly ttlMs?: number
  readonly detector?: { readonly heartbeatMs?: number; readonly timeoutMs?: number }
  /** How many users of one participant may follow each other while another participant waits. */
  readonly localHandoffs?: number
  /** The participants go where the work is. */
  readonly follow?: boolean
}

export interface Place {
  readonly id: number
  readonly location: string | null
}

export interface Configuration {
  readonly lock: string
  readonly protocol: string
  readonly participants: readonly Place[]
  readonly ttlMs: number
  readonly detector: { readonly heartbeatMs: number; readonly timeoutMs: number }
  readonly localHandoffs: number
  readonly follow?: boolean | undefined
  readonly options?: { readonly [option: string]: unknown } | undefined
}

/** What a lock was at one point. Its parts are the service's own; keep them as they are. */
export interface LockExport {
  readonly format: 1
  readonly lock: string
  readonly resource: string
  readonly [part: string]: Json
}

export interface Status {
  readonly lock: string
  readonly protocol: string
  /** 1 for the first lock of this name; one more for each that was deleted before. */
  readonly generation: number
  readonly participants: readonly ParticipantInfo[]
  readonly holder: Holder | null
  readonly waiting: WaitingUsers
  /** Of a lock that follows its work: when its participants last changed; `null` if never. */
  readonly movedAt?: string | null | undefined
  /** What the lock waits for, in words. */
  readonly explanation: string
}

/** Who waits for a lock, at all participants that answered. */
export interface WaitingUsers {
  readonly count: number
  /** Since when the first of them waits; `null` if nobody does. */
  readonly since: string | null
}

/** If the participant is not reachable, all but the first three are `null`. */
export interface ParticipantInfo extends Place {
  readonly reachable: boolean
  readonly phase: string | null
  readonly epoch: number | null
  readonly sequence: number | null
  /** Who has the token, as far as this participant knows. */
  readonly owner: number | null
  /** How many users wait here. */
  readonly queue: number | null
  readonly suspects: readonly number[] | null
}

export interface LockHistory {
  readonly lock: string
  readonly protocol: string
  readonly resource: string
  readonly participants: readonly {
    readonly id: number
    readonly reachable: boolean
    /** Newest last. */
    readonly events: readonly (UserStubEvent | StubResourceEvent | MembersEvent)[]
  }[]
}

/** Later pages have the participants that had more, or did not answer. */
export interface HistoryPage extends LockHistory {
  /** For the next page; `null` on the last one. */
  readonly cursor: string | null
}

export type MembersChange =
  | { readonly add: { readonly location?: string | null } }
  | { readonly remove: number }
  | { readonly replace: number; readonly location?: string | null }
  /** All of them: those that stay by their id, new ones with their location. */
  | {
      readonly participants: readonly ({ readonly id: number } | { readonly location?: string | null })[]
    }

export interface Membership {
  readonly participants: readonly Place[]
  /** Names this set: higher than that of all sets before, also of earlier locks of this name. */
  readonly configuration: number
}

export interface ChangedMembers extends Membership {
  /** `false`: the change has begun, and goes on. */
  readonly isDone: boolean
}

export type WatchEvent = {
  [Type in keyof WatchEvents]: { readonly type: Type } & WatchEvents[Type]
}[keyof WatchEvents]
