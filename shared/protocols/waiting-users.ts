/**
 * The local users that wait. The papers have one process at each participant that wants the critical section.
 * Here many users come to a participant, and wait in the order in which they came. The protocol decides when
 * the first of them goes in. Each of them is a record of its own, which is replaced, never changed in place.
 */
import type { UserInput } from './protocol.ts'
import { refuse } from './refusals.ts'
import {
  assert,
  type Collecting,
  cancelTimer,
  emit,
  forget,
  type Saving,
  type StepOf,
  save,
  setTimer,
} from './step.ts'

type Event<Type extends UserInput['type']> = Extract<UserInput, { type: Type }>

export interface Waiter {
  /** Orders the queue, also after a restart. */
  readonly number: number
  readonly user: string
  readonly ttlMs: number
  readonly waitUntil: number | null
}

/** A step of a participant with users that wait; a protocol may write down more of each of them. */
export interface WaitingStep<Kind extends Waiter>
  extends Pick<StepOf<unknown, 'wait'>, 'context' | 'now' | 'timers'>,
    Saving,
    Collecting {
  readonly localQueue: { waiters: Kind[] }
}

const waiterKey = (waiter: Waiter): string => `waiter/${waiter.number}`

/** Called when all records have been read: they come in no particular order. */
export function sortWaiters(waiters: Waiter[]): void {
  waiters.sort((a, b) => a.number - b.number)
}

// ---------------------------------------------------------------- coming

/**
 * The user waits from now on, or a little longer if it waits already. `rest` is what the protocol adds. Who
 * has come may be written later (`write`, W9) if nobody is told of it: a user that is lost asks again.
 */
export function joinQueue<Kind extends Waiter>(
  step: WaitingStep<Kind>,
  event: Event<'try'>,
  rest: Omit<Kind, keyof Waiter>,
  write: typeof save = save,
): void {
  const { user, ttlMs, waitMs } = event
  const { waiters } = step.localQueue
  const known = waiters.find(waiter => waiter.user === user)
  if (known !== undefined) return waitLonger(step, known, waitMs)
  if (waiters.length >= step.context.config.limits.waiters)
    return refuse(step, user, 'try', { code: 'too-many-waiters' })
  const number = (waiters.at(-1)?.number ?? 0) + 1
  const waitUntil = waitMs === undefined ? null : step.now + waitMs
  const waiter = { number, user, ttlMs, waitUntil, ...rest } as Kind
  waiters.push(waiter)
  write(step, waiterKey(waiter), waiter)
  setWaitTimer(step)
}

/** A user that repeats its `try` may wait longer and keeps its place. */
function waitLonger<Kind extends Waiter>(step: WaitingStep<Kind>, waiter: Kind, waitMs: number | undefined) {
  const { waiters } = step.localQueue
  if (waitMs === undefined || waiter.waitUntil === null) return
  const longer = { ...waiter, waitUntil: step.now + waitMs }
  waiters[waiters.indexOf(waiter)] = longer
  // A copy: `remove` must see that this user was written down before.
  save(step, waiterKey(waiter), { ...longer })
  setWaitTimer(step)
}

// ---------------------------------------------------------------- going

/** The first waiting user goes in. */
export function takeFirst<Kind extends Waiter>(step: WaitingStep<Kind>): Kind {
  const waiter = step.localQueue.waiters[0]
  assert(waiter !== undefined, 'a grant is for a waiting user')
  remove(step, waiter)
  setWaitTimer(step)
  return waiter
}

/** Nobody waits here any more. Returns those that did. */
export function dismissWaiters<Kind extends Waiter>(step: WaitingStep<Kind>): readonly Kind[] {
  const { waiters } = step.localQueue
  for (const waiter of waiters) remove(step, waiter)
  setWaitTimer(step)
  return waiters
}

/** `isGone` is told of the user that has given up. */
export function onWithdraw<Kind extends Waiter>(
  step: WaitingStep<Kind>,
  event: Event<'withdraw'>,
  isGone?: (waiter: Kind) => void,
): void {
  const waiter = step.localQueue.waiters.find(({ user }) => user === event.user)
  if (waiter === undefined) return refuse(step, event.user, 'withdraw', { code: 'not-waiting' })
  withdraw(step, waiter, 'asked', isGone)
  setWaitTimer(step)
}

export function onWaitTimer<Kind extends Waiter>(
  step: WaitingStep<Kind>,
  isGone?: (waiter: Kind) => void,
): void {
  for (const waiter of [...step.localQueue.waiters]) {
    const { waitUntil } = waiter
    if (waitUntil !== null && waitUntil <= step.now) withdraw(step, waiter, 'timeout', isGone)
  }
  setWaitTimer(step)
}

function withdraw<Kind extends Waiter>(
  step: WaitingStep<Kind>,
  waiter: Kind,
  reason: 'asked' | 'timeout',
  isGone?: (waiter: Kind) => void,
): void {
  remove(step, waiter)
  isGone?.(waiter)
  emit(step, { type: 'withdrawn', user: waiter.user, reason })
}

/** A user that was let in within the step in which it came was never written down. */
function remove<Kind extends Waiter>(step: WaitingStep<Kind>, waiter: Kind): void {
  const { localQueue, records } = step
  const key = waiterKey(waiter)
  localQueue.waiters = localQueue.waiters.filter(other => other !== waiter)
  const wasStored = records.get(key) !== (waiter as unknown)
  forget(step, key, wasStored)
}

// ---------------------------------------------------------------- time

/** One timer serves all waiting users: it is set for the one whose time ends first, also after a restart. */
export function setWaitTimer(step: WaitingStep<Waiter>): void {
  let first = Number.POSITIVE_INFINITY
  for (const { waitUntil } of step.localQueue.waiters)
    if (waitUntil !== null) first = Math.min(first, waitUntil)
  if (first === Number.POSITIVE_INFINITY) cancelTimer(step, 'wait')
  else setTimer(step, 'wait', Math.max(0, first - step.now))
}
