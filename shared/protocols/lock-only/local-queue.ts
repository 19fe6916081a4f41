/**
 * The users of one participant, for a lock that guards no state. Ricart and Agrawala, and Maekawa, assume one
 * process per node that wants the critical section. Here many users come to a node, wait in a queue and are
 * inside one at a time (or several readers together). The algorithms decide when the node may let the next
 * user in; users.ts does the rest.
 *
 * Everything in the queue is durable, record by record. A record's value is replaced, never changed in place.
 */
import type { EjectionReason } from '../../history/events.ts'
import type { Effect, Ending, Mode, View } from '../protocol.ts'
import { parts, type Restorers } from '../records.ts'
import type { StepOf } from '../step.ts'
import { sortWaiters, type Waiter as WaitingUser } from '../waiting-users.ts'

export interface LocalQueue {
  /** In order of arrival. */
  waiters: Waiter[]
  /** The users that are inside: one writer, or several readers. */
  holders: Holder[]
  /** The last grants of this participant that are over, newest last, for users that missed the news. */
  endings: readonly Ending[]
}

export interface Waiter extends WaitingUser {
  readonly mode: Mode
}

export interface Holder {
  readonly user: string
  readonly mode: Mode
  /** Also the name of its record: no two grants have the same fence. */
  readonly fence: number
  readonly ttlMs: number
  readonly expiresAt: number
}

export type EndReason = 'released' | EjectionReason

export type LocalQueueTimer = 'ttl' | 'wait'

/** A step of a protocol that has a local queue. */
export interface LocalQueueStep
  extends Pick<StepOf<unknown, LocalQueueTimer>, 'context' | 'now' | 'records' | 'mayWait' | 'timers'> {
  readonly effects: { push(effect: Effect<never>): unknown }
  readonly localQueue: LocalQueue
}

// ---------------------------------------------------------------- records

export const holderKey = (holder: Holder): string => `holder/${holder.fence}`
export const ENDINGS_KEY = 'endings'

export const localQueueRestorers = (localQueue: LocalQueue): Restorers => ({
  waiter: value => localQueue.waiters.push(value as unknown as Waiter),
  holder: value => localQueue.holders.push(value as unknown as Holder),
  ...parts(localQueue, ENDINGS_KEY),
})

export const emptyLocalQueue = (): LocalQueue => ({ waiters: [], holders: [], endings: [] })

/** Must be called after the last record, because records come in no particular order. */
export function sortLocalQueue(localQueue: LocalQueue): void {
  sortWaiters(localQueue.waiters)
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
