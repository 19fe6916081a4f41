/**
 * The users of a stub beyond the paper's events: giving up, keeping a grant alive, its time running out,
 * operators.
 */
import type { ParticipantId, PendingOutcome, Refusal, UserInput } from '../protocol.ts'
import { fenceOf } from './fence.ts'
import { inCriticalSection } from './figure-3-states.ts'
import { ejectOnceSettled, forgetWaiter, setWaitTimer } from './grants.ts'
import { lengthOf } from './log.ts'
import type { EjectDoneMessage, EjectMessage } from './messages.ts'
import { restartRepeats } from './repeat.ts'
import type { Eject, EndingRecord, Waiter } from './state.ts'
import { changeStub, emit, type Step, send, setTimer } from './step.ts'

export function refuse(step: Step, user: string, event: UserInput['type'], refusal: Refusal): void {
  emit(step, { type: 'refused', user, event, refusal })
}

/** One user may ask for several operations at once, so the refusal says which of them it means. */
export function refuseOperation(
  step: Step,
  event: Extract<UserInput, { type: 'issue' }>,
  refusal: Refusal,
): void {
  emit(step, { type: 'refused', user: event.user, event: 'issue', refusal, opId: event.opId })
}

/**
 * An event for a grant that is over is answered but not run (trap A7). A release said twice counts as a
 * release.
 */
export function refuseBecauseOver(
  step: Step,
  event: Extract<UserInput, { type: 'issue' | 'exit' | 'keep-alive' }>,
): void {
  const { user, fence } = event
  const { endings } = step.state.durable
  const ending = endings.find(ended => ended.fence === fence && ended.user === user) ?? null
  if (event.type === 'exit' && ending?.reason === 'released') return emit(step, { type: 'rem', user, fence })
  if (event.type === 'issue')
    refuseOperation(step, event, { code: 'grant-over', ending, outcome: outcomeOf(step, ending, event) })
  else refuse(step, user, event.type, { code: 'grant-over', ending })
}

/**
 * What became of an operation that is not in the table of results, under a grant that is over. When a grant
 * of this participant ended, all its operations had been settled here. So this one was not applied, unless
 * results that are newer than the grant have been dropped from the table.
 */
function outcomeOf(
  step: Step,
  ending: EndingRecord | null,
  { opId }: Extract<UserInput, { type: 'issue' }>,
): PendingOutcome['outcome'] {
  if (ending === null) return 'unknown'
  if (ending.pending?.opId === opId) return ending.pending.outcome
  return step.state.durable.replica.droppedThrough > ending.sequence ? 'unknown' : 'not-applied'
}

// ---------------------------------------------------------------- waiting

export function onWithdraw(step: Step, event: Extract<UserInput, { type: 'withdraw' }>): void {
  const waiter = step.state.durable.waiters.find(waiting => waiting.user === event.user)
  if (waiter === undefined) return refuse(step, event.user, 'withdraw', { code: 'not-waiting' })
  withdraw(step, waiter, 'asked')
  setWaitTimer(step)
}

function withdraw(step: Step, waiter: Waiter, reason: 'asked' | 'timeout'): void {
  const { durable } = step.state
  const { phase, grant } = durable.stub
  durable.waiters = durable.waiters.filter(waiting => waiting !== waiter)
  forgetWaiter(step, waiter)
  // The token that came for this user is free again. If nobody waits any longer, the stub is idle, and an
  // idle stub that gets the token passes it on.
  const wasEntering = phase === 'entering' && grant!.user === waiter.user
  if (wasEntering) changeStub(step, { phase: 'idle', grant: null })
  else if (phase === 'requesting' && durable.waiters.length === 0) changeStub(step, { phase: 'idle' })
  emit(step, { type: 'withdrawn', user: waiter.user, reason })
}

export function onWaitTimer(step: Step): void {
  for (const waiter of [...step.state.durable.waiters]) {
    if (waiter.waitUntil !== null && waiter.waitUntil <= step.now) withdraw(step, waiter, 'timeout')
  }
  setWaitTimer(step)
}

// ---------------------------------------------------------------- the life of a grant

export function onKeepAlive(step: Step, event: Extract<UserInput, { type: 'keep-alive' }>): void {
  const { grant, phase } = step.state.durable.stub
  const current = grant !== null && grant.fence === event.fence && grant.user === event.user
  if (!current || !inCriticalSection(phase) || grant.ending !== null) return refuseBecauseOver(step, event)
  const expiresAt = step.now + event.ttlMs
  changeStub(step, { grant: { ...grant, ttlMs: event.ttlMs, expiresAt } })
  setTimer(step, 'ttl', event.ttlMs)
  emit(step, { type: 'kept', user: grant.user, fence: grant.fence, expiresAt })
}

/**
 * Called after a restart. A grant that seems to last longer than it may is from before the clock was set
 * back: it lasts as long as one that begins now.
 */
export function resumeGrant(step: Step): void {
  const { grant, phase } = step.state.durable.stub
  if (grant === null || !inCriticalSection(phase)) return
  const expiresAt = Math.min(grant.expiresAt, step.now + grant.ttlMs)
  if (expiresAt < grant.expiresAt) changeStub(step, { grant: { ...grant, expiresAt } })
  setTimer(step, 'ttl', Math.max(0, expiresAt - step.now))
}

/**
 * L12: a user that neither leaves nor keeps its grant alive is assumed gone, whatever state its stub is in
 * (trap B11).
 */
export function onTtlTimer(step: Step): void {
  const { grant, phase } = step.state.durable.stub
  if (grant === null || !inCriticalSection(phase)) return
  if (step.now >= grant.expiresAt) ejectOnceSettled(step, 'expired')
  else setTimer(step, 'ttl', grant.expiresAt - step.now)
}

// ---------------------------------------------------------------- operators

/**
 * Whoever was granted the token by the log as it is known here must leave. The owner is told until it says
 * that this is done.
 */
export function onEject(step: Step, event: Extract<UserInput, { type: 'eject' }>): void {
  const { durable, derived, soft } = step.state
  const fence = fenceOf(durable.epoch.epoch, lengthOf(durable))
  if (soft.ejects.length >= step.context.config.limits.waiters) {
    return refuse(step, event.request, 'eject', { code: 'too-many-waiters' })
  }
  if (derived.owner === step.context.config.self) ejectOnceSettled(step, 'operator')
  soft.ejects.push({ request: event.request, fence, owner: derived.owner, isSettled: false })
  restartRepeats(step)
  sendEjects(step)
}

export function sendEjects(step: Step): void {
  const { durable, derived, soft } = step.state
  if (soft.ejects.length === 0 || derived.owner === step.context.config.self) return
  const fence = Math.max(...soft.ejects.map(eject => eject.fence))
  send(step, derived.owner, { type: 'eject', epoch: durable.epoch.epoch, fence })
}

export function onEjectMessage(step: Step, from: ParticipantId, message: EjectMessage): void {
  const { durable, derived } = step.state
  if (derived.owner !== step.context.config.self) return
  const { grant } = durable.stub
  if (grant !== null && grant.fence <= message.fence) ejectOnceSettled(step, 'operator')
  if (!holderRemains(step, message.fence)) {
    const { phase } = durable.stub
    const holder = inCriticalSection(phase) ? durable.stub.grant!.fence : null
    send(step, from, { type: 'eject-done', epoch: durable.epoch.epoch, fence: message.fence, holder })
  }
}

/**
 * A user with at most this fence is still in, because its operation is being settled. A user that is entering
 * is not in yet.
 */
function holderRemains(step: Step, fence: number): boolean {
  const { grant, phase } = step.state.durable.stub
  return grant !== null && grant.fence <= fence && inCriticalSection(phase)
}

/**
 * Whoever was meant is out. But a re-entry that nobody had heard of yet makes another user the present
 * holder. Then that one is meant, once and for good, so that a repeated answer never forces out a user that
 * came in later.
 */
export function onEjectDone(step: Step, message: EjectDoneMessage): void {
  const { soft } = step.state
  const { fence, holder } = message
  const isUnheardOf = (eject: Eject) => !eject.isSettled && holder !== null && holder > eject.fence
  const answered = soft.ejects.filter(eject => eject.fence <= fence)
  const again = answered.filter(isUnheardOf)
  finishEjects(step, eject => answered.includes(eject) && !again.includes(eject))
  if (again.length === 0) return
  const renewed = new Set(again.map(({ request }) => request))
  soft.ejects = soft.ejects.map(eject =>
    renewed.has(eject.request) ? { ...eject, fence: holder!, isSettled: true } : eject,
  )
  sendEjects(step)
}

/** It is also done if the token has moved on, or if the holder that was here is out. */
export function settleEjects(step: Step): void {
  const { derived } = step.state
  const { self } = step.context.config
  if (step.state.soft.ejects.length === 0) return
  finishEjects(
    step,
    eject => eject.owner !== derived.owner || (derived.owner === self && !holderRemains(step, eject.fence)),
  )
}

function finishEjects(step: Step, isDone: (eject: Eject) => boolean): void {
  const { soft, durable } = step.state
  for (const eject of soft.ejects) {
    if (isDone(eject)) emit(step, { type: 'eject-done', request: eject.request, epoch: durable.epoch.epoch })
  }
  soft.ejects = soft.ejects.filter(eject => !isDone(eject))
}
