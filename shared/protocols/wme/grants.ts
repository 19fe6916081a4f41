/** What a user sees of its grant: entering, the outcome of its operation, and the end of the grant. */
import type { EjectionReason } from '../../history/events.ts'
import type { Json } from '../../json.ts'
import { digest } from '../../resource/canonical.ts'
import { resultOf } from '../../resource/replica.ts'
import type { Ending, PendingOutcome } from '../protocol.ts'
import { fenceOf } from './fence.ts'
import { inCriticalSection } from './figure-3-states.ts'
import { entryAt } from './log.ts'
import type { EndingRecord, Grant, GrantEntry, PendingOperation, StubRecord, Waiter } from './state.ts'
import {
  assert,
  cancelTimer,
  changeStub,
  changeStubLater,
  emit,
  forget,
  type Step,
  save,
  saveLater,
  setTimer,
} from './step.ts'

export const waiterKey = (waiter: Waiter): string => `waiter/${waiter.number}`

/** L10: the token has come for the first waiting user. */
export function enter(step: Step, entry: GrantEntry): void {
  const { durable, soft } = step.state
  const waiter = durable.waiters[0]!
  const grant: Grant = {
    user: waiter.user,
    fence: fenceOf(entry.epoch, entry.sequence),
    epoch: entry.epoch,
    sequence: entry.sequence,
    ttlMs: waiter.ttlMs,
    expiresAt: step.now + waiter.ttlMs,
    ending: null,
  }
  // The user of an unconfirmed grant stays at the head of the queue: if the grant is rolled back, it simply
  // goes on waiting.
  if (waiter.confirm && entry.sequence > soft.committed) changeStub(step, { phase: 'entering', grant })
  else admit(step, grant)
}

/** Emits `crit`. Everything that precedes the grant has been applied here (trap A10). */
export function admit(step: Step, grant: Grant): void {
  const { durable, soft } = step.state
  const waiter = durable.waiters.shift()!
  assert(waiter.user === grant.user, 'the grant is for the first waiting user')
  forgetWaiter(step, waiter)
  setWaitTimer(step)
  changeStub(step, { phase: 'cs-idle', grant: { ...grant, expiresAt: step.now + grant.ttlMs } })
  setTimer(step, 'ttl', grant.ttlMs)
  emitCrit(step, grant.sequence <= soft.committed)
}

/** A user that was let in within the step in which it came was never written down. */
export function forgetWaiter(step: Step, waiter: Waiter): void {
  const key = waiterKey(waiter)
  forget(step, key, !step.records.has(key))
}

export function emitCrit(step: Step, confirmed: boolean): void {
  const { user, fence, epoch, sequence, expiresAt } = step.state.durable.stub.grant!
  emit(step, { type: 'crit', user, fence, epoch, sequence, expiresAt, confirmed })
}

/** A majority now holds everything up to `committed`; before, it held everything up to `before`. */
export function confirmGrant(step: Step, before: number): void {
  const { grant, phase } = step.state.durable.stub
  const { committed } = step.state.soft
  if (grant === null || grant.sequence > committed || grant.sequence <= before) return
  // Another entry may be at its place by now, from the decision of an epoch that this stub missed.
  if (entryAt(step.state.durable, grant.sequence)?.epoch !== grant.epoch) return
  if (phase === 'entering') admit(step, grant)
  else emit(step, { type: 'confirmed', user: grant.user, fence: grant.fence })
}

/**
 * The pending operation is applied, here and therefore everywhere. It is answered once (trap A6). All of this
 * may be written later: as long as the record of the stub says that the operation is pending, its
 * application brings the outcome, and the exit if its user wanted that.
 */
export function deliverOutcome(step: Step, sequence: number, result: Json): void {
  const { grant, pendingOperation } = step.state.durable.stub
  assert(grant !== null && pendingOperation !== null, 'an outcome belongs to a pending operation')
  changeStubLater(step, { phase: 'cs-idle', pendingOperation: null })
  emit(step, {
    type: 'outcome',
    user: grant.user,
    fence: grant.fence,
    opId: pendingOperation.opId,
    sequence,
    result,
  })
  if (grant.ending !== null) eject(step, grant.ending)
  else if (pendingOperation.thenExit) releaseLater(step, grant)
}

/**
 * The decisions that this stub missed may have contained its pending operation: the table of results knows.
 */
export function settlePendingFromResults(step: Step): void {
  const { pendingOperation } = step.state.durable.stub
  if (pendingOperation === null) return
  const stored = resultOf(step.state.durable.replica, pendingOperation.opId)
  if (stored !== undefined && stored.digest === digest(pendingOperation.operation)) {
    deliverOutcome(step, stored.sequence, stored.result)
  }
}

/**
 * The user is forced out. An operation that is still pending then was not applied, and nobody will apply it
 * (trap A4).
 */
export function eject(step: Step, reason: EjectionReason): void {
  const { grant, pendingOperation } = step.state.durable.stub
  assert(grant !== null, 'only a holder is ejected')
  const pending = pendingOperation === null ? {} : { pending: pendingOutcome(step, pendingOperation) }
  endGrant(step, { user: grant.user, fence: grant.fence, reason, ...pending })
  emit(step, { type: 'ejected', user: grant.user, fence: grant.fence, reason, ...pending })
}

function pendingOutcome(step: Step, pending: PendingOperation): PendingOutcome {
  const { droppedThrough } = step.state.durable.replica
  // If results as new as the operation have been dropped from the table, its absence there proves nothing.
  const lost = pending.sequence !== null && pending.sequence <= droppedThrough
  return { opId: pending.opId, outcome: lost ? 'unknown' : 'not-applied' }
}

/** An ejection for a timeout or by an operator waits until the pending operation is settled. */
export function ejectOnceSettled(step: Step, reason: EjectionReason): void {
  const { grant, phase, pendingOperation } = step.state.durable.stub
  if (grant === null || !inCriticalSection(phase)) return
  if (pendingOperation === null) eject(step, reason)
  else if (grant.ending === null) changeStub(step, { grant: { ...grant, ending: reason } })
}

export function release(step: Step): void {
  const { user, fence } = step.state.durable.stub.grant!
  endGrant(step, { user, fence, reason: 'released' })
  emit(step, { type: 'rem', user, fence })
}

/** The user wanted to leave with its operation. That is in the record of the stub, so the exit may wait. */
function releaseLater(step: Step, { user, fence }: Grant): void {
  noteEnd(step, { user, fence, reason: 'released' })
  emit(step, { type: 'rem', user, fence })
}

function endGrant(step: Step, ending: Ending): void {
  noteEnd(step, ending)
  step.mayWait = false
}

function noteEnd(step: Step, ending: Ending): void {
  const { sequence } = step.state.durable.stub.grant!
  changeStubLater(step, { phase: 'idle', grant: null, pendingOperation: null })
  rememberEnding(step, { ...ending, sequence })
  cancelTimer(step, 'ttl')
}

/** Each ending is a record of its own: the stub's record is written often, and stays small. */
function rememberEnding(step: Step, ending: EndingRecord): void {
  const { endings } = step.state.durable
  endings.push(ending)
  saveLater(step, endingKey(ending), ending)
  while (endings.length > step.context.config.limits.endingsKept)
    saveLater(step, endingKey(endings.shift()!), null)
}

const endingKey = ({ fence }: EndingRecord): string => `ending/${fence}`

/** Storage from before endings were records of their own has them in the record of the stub. */
export function separateEndings(step: Step): void {
  const { durable } = step.state
  const { endings, ...stub } = durable.stub as StubRecord & { endings?: unknown }
  if (endings === undefined) return
  durable.stub = stub
  save(step, 'stub', stub)
  for (const ending of durable.endings) save(step, endingKey(ending), ending)
}

/** One timer serves all waiting users: it is set for the one whose time ends first. */
export function setWaitTimer(step: Step): void {
  let first = Number.POSITIVE_INFINITY
  for (const { waitUntil } of step.state.durable.waiters)
    if (waitUntil !== null) first = Math.min(first, waitUntil)
  if (first === Number.POSITIVE_INFINITY) cancelTimer(step, 'wait')
  else setTimer(step, 'wait', Math.max(0, first - step.now))
}

/** A user that repeats its `try` may wait longer and keeps its place. */
export function waitLonger(step: Step, waiter: Waiter, waitMs: number | undefined): void {
  const { waiters } = step.state.durable
  if (waitMs === undefined || waiter.waitUntil === null) return
  const longer = { ...waiter, waitUntil: step.now + waitMs }
  waiters[waiters.indexOf(waiter)] = longer
  save(step, waiterKey(waiter), longer)
  setWaitTimer(step)
}

export function saveWaiter(step: Step, waiter: Waiter): void {
  step.state.durable.waiters.push(waiter)
  save(step, waiterKey(waiter), waiter)
}
