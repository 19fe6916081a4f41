/** What a user sees of its grant, once it is decided (P3): entering, an outcome, and the end of the grant. */
import type { EjectionReason } from '../../history/events.ts'
import type { Json } from '../../json.ts'
import { digest } from '../../resource/canonical.ts'
import { resultOf } from '../../resource/replica.ts'
import type { Ending, PendingOutcome } from '../protocol.ts'
import { startFence } from '../start-fence.ts'
import { roundOf } from './log.ts'
import type { PendingOperation, Waiter } from './state.ts'
import { assert, cancelTimer, changeStub, emit, forget, type Step, setTimer } from './step.ts'

export const waiterKey = (waiter: Waiter): string => `waiter/${waiter.number}`

/**
 * Emits `crit` for the first waiting user. Everything that precedes the grant in the log has been applied
 * here (trap A10).
 */
export function admit(step: Step, fence: number): void {
  const { durable } = step.state
  const waiter = durable.waiters.shift()
  assert(
    waiter !== undefined && fence > durable.stub.usedFence,
    'a grant is for a waiting user, and used once',
  )
  forgetWaiter(step, waiter)
  setWaitTimer(step)
  const { user, ttlMs } = waiter
  const epoch = roundOf(durable.acceptor.promised)
  const grant = { user, fence, epoch, ttlMs, expiresAt: step.now + ttlMs, ending: null }
  changeStub(step, { phase: 'cs-idle', usedFence: fence, grant })
  setTimer(step, 'ttl', ttlMs)
  emitCrit(step)
}

/** A user that was let in within the step in which it came was never written down. */
export function forgetWaiter(step: Step, waiter: Waiter): void {
  const key = waiterKey(waiter)
  forget(step, key, !step.records.has(key))
}

/** The grant is decided, so a majority holds it. */
export function emitCrit(step: Step): void {
  const { user, fence, epoch, expiresAt } = step.state.durable.stub.grant!
  const sequence = fence - startFence(step.context.config)
  emit(step, { type: 'crit', user, fence, epoch, sequence, expiresAt, confirmed: true })
}

/** The pending operation is applied, here and therefore everywhere. It is answered once (trap A6). */
export function deliverOutcome(step: Step, sequence: number, result: Json): void {
  const { grant, pendingOperation } = step.state.durable.stub
  assert(grant !== null && pendingOperation !== null, 'an outcome belongs to a pending operation')
  const { user, fence, ending } = grant
  const { opId } = pendingOperation
  changeStub(step, { phase: 'cs-idle', pendingOperation: null })
  emit(step, { type: 'outcome', user, fence, opId, sequence, result })
  if (ending !== null) eject(step, ending)
}

/**
 * The instances that a snapshot jumped over may have contained the pending operation: the table of results
 * knows.
 */
export function settlePendingFromResults(step: Step): void {
  const { pendingOperation } = step.state.durable.stub
  if (pendingOperation === null) return
  const stored = resultOf(step.state.durable.replica, pendingOperation.opId)
  if (stored !== undefined && stored.digest === digest(pendingOperation.operation)) {
    deliverOutcome(step, stored.sequence, stored.result)
  }
}

/** The log says that the grant is over, though its user did not ask for it, unless it had asked to leave. */
export function loseGrant(step: Step, reason: EjectionReason): void {
  if (step.state.durable.stub.phase === 'leaving') release(step)
  else eject(step, reason)
}

/**
 * The user is forced out. An operation that is still pending then is not in the log before the end of the
 * grant, and after it the operation changes nothing: nobody ever applies it (trap A4).
 */
function eject(step: Step, reason: EjectionReason): void {
  const { grant, pendingOperation } = step.state.durable.stub
  assert(grant !== null, 'only a holder is ejected')
  const { user, fence } = grant
  const pending = pendingOperation === null ? {} : { pending: pendingOutcome(step, pendingOperation) }
  endGrant(step, { user, fence, reason, ...pending })
  emit(step, { type: 'ejected', user, fence, reason, ...pending })
}

function pendingOutcome(step: Step, { opId, after }: PendingOperation): PendingOutcome {
  // If results as new as the operation have been dropped from the table, its absence there proves nothing.
  const isLost = step.state.durable.replica.droppedThrough > after
  return { opId, outcome: isLost ? 'unknown' : 'not-applied' }
}

/**
 * This participant's own reason to force its user out. Without a pending operation it needs nobody's consent:
 * the user is told at once and can do nothing more. That it has left is then decided like every exit
 * (users.ts, `proceed`).
 */
export function ejectOnceSettled(step: Step, reason: EjectionReason): void {
  const { grant, phase } = step.state.durable.stub
  if (grant === null || phase === 'leaving') return
  if (phase === 'cs-idle') eject(step, reason)
  else if (grant.ending === null) changeStub(step, { grant: { ...grant, ending: reason } })
}

/** Emits `rem`: it is decided that the user has left. */
export function release(step: Step): void {
  const { user, fence } = step.state.durable.stub.grant!
  endGrant(step, { user, fence, reason: 'released' })
  emit(step, { type: 'rem', user, fence })
}

function endGrant(step: Step, ending: Ending): void {
  const { endings } = step.state.durable.stub
  const { endingsKept } = step.context.config.limits
  changeStub(step, {
    phase: 'outside',
    grant: null,
    pendingOperation: null,
    endings: [...endings, ending].slice(-endingsKept),
  })
  cancelTimer(step, 'ttl')
}

/** One timer serves all waiting users: it is set for the one whose time ends first. */
export function setWaitTimer(step: Step): void {
  let first = Number.POSITIVE_INFINITY
  for (const { waitUntil } of step.state.durable.waiters)
    if (waitUntil !== null) first = Math.min(first, waitUntil)
  if (first === Number.POSITIVE_INFINITY) cancelTimer(step, 'wait')
  else setTimer(step, 'wait', Math.max(0, first - step.now))
}
