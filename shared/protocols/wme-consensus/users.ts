/** What the users of this participant say, and what this participant then wants decided. */
import { digest, weight } from '../../resource/canonical.ts'
import { resultOf } from '../../resource/replica.ts'
import type { Ending, PendingOutcome, Refusal, UserInput } from '../protocol.ts'
import { startFence } from '../start-fence.ts'
import { admit, ejectOnceSettled, emitCrit, forgetWaiter, setWaitTimer, waiterKey } from './grants.ts'
import type { Grant, Waiter } from './state.ts'
import { changeStub, clearLane, emit, isFree, type Step, save, setTimer, submit } from './step.ts'

type Event<Type extends UserInput['type']> = Extract<UserInput, { type: Type }>

// ---------------------------------------------------------------- what follows from the state

/**
 * After every transition the grant is used or given back, and this participant is in the queue exactly if a
 * user waits.
 */
export function proceed(step: Step): void {
  takeBackVoid(step)
  const { machine, stub, waiters } = step.state.durable
  const { self } = step.context.config
  const { holder } = machine
  const isMine = holder?.participant === self
  const isUnused = isMine && holder.fence > stub.usedFence
  const queued = machine.queue.find(({ participant }) => participant === self)
  if (isFree(step, 'asking')) {
    if (isUnused && waiters.length > 0) admit(step, holder.fence)
    else if (waiters.length > 0 && queued === undefined) submit(step, { kind: 'enter' })
    else if (waiters.length === 0 && (queued !== undefined || isUnused))
      submit(step, { kind: 'withdraw', request: (queued ?? holder!).request })
  }
  // The user was told that its time is over, but the lock does not know it yet.
  const isLeft = isMine && !isUnused && step.state.durable.stub.grant === null
  if (isLeft && isFree(step, 'inside')) submit(step, { kind: 'leave', fence: holder.fence })
}

/** Commands that are still to be decided for a grant that is over would change nothing. */
function takeBackVoid(step: Step): void {
  const { lanes, machine } = step.state.durable
  const { command } = lanes.inside
  if (command !== null && 'fence' in command && command.fence !== machine.holder?.fence)
    clearLane(step, 'inside')
}

// ---------------------------------------------------------------- waiting

export function onTry(step: Step, event: Event<'try'>): void {
  const { stub, waiters } = step.state.durable
  const { user, ttlMs, waitMs } = event
  if (event.mode === 'shared') return refuse(step, user, 'try', { code: 'not-supported' })
  if (stub.grant?.user === user) return stub.phase === 'leaving' ? undefined : emitCrit(step)
  const waiting = waiters.find(waiter => waiter.user === user)
  if (waiting !== undefined) return waitLonger(step, waiting, waitMs)
  if (waiters.length >= step.context.config.limits.waiters) {
    return refuse(step, user, 'try', { code: 'too-many-waiters' })
  }
  const number = (waiters.at(-1)?.number ?? 0) + 1
  const waiter = { number, user, ttlMs, waitUntil: waitMs === undefined ? null : step.now + waitMs }
  waiters.push(waiter)
  save(step, waiterKey(waiter), waiter)
  setWaitTimer(step)
}

/** A user that repeats its `try` may wait longer and keeps its place. */
function waitLonger(step: Step, waiter: Waiter, waitMs: number | undefined): void {
  const { waiters } = step.state.durable
  if (waitMs === undefined || waiter.waitUntil === null) return
  const longer = { ...waiter, waitUntil: step.now + waitMs }
  waiters[waiters.indexOf(waiter)] = longer
  save(step, waiterKey(waiter), longer)
  setWaitTimer(step)
}

export function onWithdraw(step: Step, event: Event<'withdraw'>): void {
  const waiter = step.state.durable.waiters.find(waiting => waiting.user === event.user)
  if (waiter === undefined) return refuse(step, event.user, 'withdraw', { code: 'not-waiting' })
  withdraw(step, waiter, 'asked')
  setWaitTimer(step)
}

export function onWaitTimer(step: Step): void {
  for (const waiter of [...step.state.durable.waiters]) {
    if (waiter.waitUntil !== null && waiter.waitUntil <= step.now) withdraw(step, waiter, 'timeout')
  }
  setWaitTimer(step)
}

function withdraw(step: Step, waiter: Waiter, reason: 'asked' | 'timeout'): void {
  const { durable } = step.state
  durable.waiters = durable.waiters.filter(waiting => waiting !== waiter)
  forgetWaiter(step, waiter)
  emit(step, { type: 'withdrawn', user: waiter.user, reason })
}

// ---------------------------------------------------------------- inside

export function onIssue(step: Step, event: Event<'issue'>): void {
  const { machine, replica, stub } = step.state.durable
  const { user, fence, opId, operation } = event
  const { operationWeight } = step.context.config.limits
  const heavy = weight(operation, operationWeight)
  if (heavy > operationWeight) return refuseOperation(step, event, { code: 'too-large' })
  const stored = resultOf(replica, opId)
  if (stored !== undefined) {
    const { sequence, result } = stored
    if (stored.digest !== digest(operation)) return refuseOperation(step, event, { code: 'conflict' })
    return emit(step, { type: 'outcome', user, fence, opId, sequence, result })
  }
  if (!isGrantOf(stub.grant, event) || stub.phase === 'leaving') return refuseBecauseOver(step, event)
  if (stub.pendingOperation !== null) {
    if (stub.pendingOperation.opId !== opId) return refuseOperation(step, event, { code: 'busy' })
    const isSame = digest(stub.pendingOperation.operation) === digest(operation)
    return isSame ? undefined : refuseOperation(step, event, { code: 'conflict' })
  }
  changeStub(step, { phase: 'cs-issuing', pendingOperation: { opId, operation, after: machine.applied } })
  submit(step, { kind: 'operation', fence, opId, operation, weight: heavy })
}

/** `rem` comes once it is decided, like everything in this algorithm. */
export function onExit(step: Step, event: Event<'exit'>): void {
  const { stub } = step.state.durable
  if (!isGrantOf(stub.grant, event)) return refuseBecauseOver(step, event)
  if (stub.phase === 'cs-issuing') return refuse(step, event.user, 'exit', { code: 'busy' })
  if (stub.phase === 'leaving') return
  changeStub(step, { phase: 'leaving' })
  submit(step, { kind: 'leave', fence: event.fence })
}

export function onKeepAlive(step: Step, event: Event<'keep-alive'>): void {
  const { grant, phase } = step.state.durable.stub
  const isOver = phase === 'leaving' || grant?.ending !== null
  if (!isGrantOf(grant, event) || isOver) return refuseBecauseOver(step, event)
  const { user, fence } = event
  const expiresAt = step.now + event.ttlMs
  changeStub(step, { grant: { ...grant, ttlMs: event.ttlMs, expiresAt } })
  setTimer(step, 'ttl', event.ttlMs)
  emit(step, { type: 'kept', user, fence, expiresAt })
}

/**
 * Called after a restart. A grant that seems to last longer than it may is from before the clock was set
 * back: it lasts as long as one that begins now.
 */
export function resumeGrant(step: Step): void {
  const { grant, phase } = step.state.durable.stub
  if (grant === null || phase === 'leaving') return
  const expiresAt = Math.min(grant.expiresAt, step.now + grant.ttlMs)
  if (expiresAt < grant.expiresAt) changeStub(step, { grant: { ...grant, expiresAt } })
  setTimer(step, 'ttl', Math.max(0, expiresAt - step.now))
}

/** A user that neither leaves nor keeps its grant alive is assumed gone (trap B11). */
export function onTtlTimer(step: Step): void {
  const { grant } = step.state.durable.stub
  if (grant === null) return
  if (step.now >= grant.expiresAt) ejectOnceSettled(step, 'expired')
  else setTimer(step, 'ttl', grant.expiresAt - step.now)
}

function isGrantOf(grant: Grant | null, event: { user: string; fence: number }): grant is Grant {
  return grant !== null && grant.fence === event.fence && grant.user === event.user
}

// ---------------------------------------------------------------- refusals

export function refuse(step: Step, user: string, event: UserInput['type'], refusal: Refusal): void {
  emit(step, { type: 'refused', user, event, refusal })
}

/** One user may ask for several operations at once, so the refusal says which of them it means. */
function refuseOperation(step: Step, event: Event<'issue'>, refusal: Refusal): void {
  emit(step, { type: 'refused', user: event.user, event: 'issue', refusal, opId: event.opId })
}

/**
 * An event for a grant that is over is answered but not run (trap A7). A release said twice counts as a
 * release.
 */
function refuseBecauseOver(step: Step, event: Event<'issue' | 'exit' | 'keep-alive'>): void {
  const { user, fence } = event
  const { endings, grant, phase } = step.state.durable.stub
  const isEnding = (ended: Ending) => ended.fence === fence && ended.user === user
  // A user that is leaving has left as far as it is concerned, though that is not decided yet.
  const isLeaving = phase === 'leaving' && isGrantOf(grant, event)
  const ending: Ending | null = isLeaving
    ? { user, fence, reason: 'released' }
    : (endings.find(isEnding) ?? null)
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
  ending: Ending | null,
  { fence, opId }: Event<'issue'>,
): PendingOutcome['outcome'] {
  if (ending === null) return 'unknown'
  if (ending.pending?.opId === opId) return ending.pending.outcome
  const sequence = fence - startFence(step.context.config)
  return step.state.durable.replica.droppedThrough > sequence ? 'unknown' : 'not-applied'
}
