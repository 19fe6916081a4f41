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

export interface LocalQueue {
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

export type LocalQueueTimer = 'ttl' | 'wait'

/** A step of a protocol that has a desk. */
export interface LocalQueueStep
  extends Pick<StepOf<unknown, LocalQueueTimer>, 'context' | 'now' | 'records' | 'timers'> {
  readonly effects: { push(effect: Effect<never>): unknown }
  readonly localQueue: LocalQueue
}

// ---------------------------------------------------------------- records

export const waiterKey = (waiter: Waiter): string => `waiter/${waiter.number}`
export const holderKey = (holder: Holder): string => `holder/${holder.fence}`
export const ENDINGS_KEY = 'endings'

/** Puts one record back. Whether it was one of the desk's. */
export function restoreLocalQueueRecord(localQueue: LocalQueue, key: string, value: Json): boolean {
  if (key.startsWith('waiter/')) localQueue.waiters.push(value as unknown as Waiter)
  else if (key.startsWith('holder/')) localQueue.holders.push(value as unknown as Holder)
  else if (key === ENDINGS_KEY) localQueue.endings = value as unknown as Ending[]
  else return false
  return true
}

export const emptyLocalQueue = (): LocalQueue => ({ waiters: [], holders: [], endings: [] })

/** After the last record: records come in no particular order. */
export function sortLocalQueue(localQueue: LocalQueue): void {
  localQueue.waiters.sort((a, b) => a.number - b.number)
  localQueue.holders.sort((a, b) => a.fence - b.fence)
}

// ---------------------------------------------------------------- view

export function viewOfLocalQueue(
  localQueue: LocalQueue,
): Pick<View, 'epoch' | 'committed' | 'waiters' | 'holders' | 'endings' | 'cells'> {
  return {
    epoch: 0,
    committed: 0,
    waiters: localQueue.waiters,
    holders: localQueue.holders.map(holder => ({ ...holder, isIssuing: false })),
    endings: localQueue.endings,
    cells: null,
  }
}
