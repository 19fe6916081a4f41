/**
 * The desk of a participant whose lock guards no state: its local users. Ricart and Agrawala, and Maekawa, know one process
 * per node that wants the critical section; here many users come to a node, wait in a queue, and are inside one at a time (or
 * several readers together). The algorithms decide when the node may let the next one in; see users.ts for the rest.
 *
 * What a desk holds is durable, record by record; a record's value is replaced, never changed in place.
 */
import type { EjectionReason } from '../../history/events.ts'
import type { Json } from '../../json.ts'
import type { Effect, Ending, Mode, View } from '../protocol.ts'
import type { StepOf } from '../step.ts'

export interface Desk {
  /** First come first. */
  waiters: Waiter[]
  /** Who is inside: one writer, or readers. */
  holders: Holder[]
  /** The last grants of this participant that are over, newest last, for users who missed the news. */
  endings: readonly Ending[]
}

export interface Waiter {
  /** Orders the queue, also after a restart. */
  readonly number: number
  readonly user: string
  readonly mode: Mode
  readonly ttlMs: number
  readonly waitUntil: number | null
}

export interface Holder {
  readonly user: string
  readonly mode: Mode
  /** Also the name of its record: no two grants have the same. */
  readonly fence: number
  readonly ttlMs: number
  readonly expiresAt: number
}

export type EndReason = 'released' | EjectionReason

export type DeskTimer = 'ttl' | 'wait'

/** A step of a protocol that has a desk. */
export interface DeskStep extends Pick<StepOf<unknown, DeskTimer>, 'context' | 'now' | 'records' | 'timers'> {
  readonly effects: { push(effect: Effect<never>): unknown }
  readonly desk: Desk
}

// ---------------------------------------------------------------- records

export const waiterKey = (waiter: Waiter): string => `waiter/${waiter.number}`
export const holderKey = (holder: Holder): string => `holder/${holder.fence}`
export const ENDINGS_KEY = 'endings'

/** Puts one record back. Whether it was one of the desk's. */
export function restoreDeskRecord(desk: Desk, key: string, value: Json): boolean {
  if (key.startsWith('waiter/')) desk.waiters.push(value as unknown as Waiter)
  else if (key.startsWith('holder/')) desk.holders.push(value as unknown as Holder)
  else if (key === ENDINGS_KEY) desk.endings = value as unknown as Ending[]
  else return false
  return true
}

export const emptyDesk = (): Desk => ({ waiters: [], holders: [], endings: [] })

/** After the last record: records come in no particular order. */
export function sortDesk(desk: Desk): void {
  desk.waiters.sort((a, b) => a.number - b.number)
  desk.holders.sort((a, b) => a.fence - b.fence)
}

// ---------------------------------------------------------------- view

export function viewOfDesk(
  desk: Desk,
): Pick<View, 'epoch' | 'committed' | 'waiters' | 'holders' | 'endings' | 'cells'> {
  return {
    epoch: 0,
    committed: 0,
    waiters: desk.waiters,
    holders: desk.holders.map(holder => ({ ...holder, isIssuing: false })),
    endings: desk.endings,
    cells: null,
  }
}
