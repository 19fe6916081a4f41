/**
 * The events of local users. They change the local queue only. After each step the protocol looks at the
 * queue and asks for the critical section, lets the next user in, or leaves.
 */
import type { EjectionReason } from '../../history/events.ts'
import type { Mode, Refusal, UserInput } from '../protocol.ts'
import { assert, cancelTimer, emit, forget, save, setTimer } from '../step.ts'
import {
  ENDINGS_KEY,
  type EndReason,
  type Holder,
  holderKey,
  type LocalQueueStep,
  type Waiter,
  waiterKey,
} from './local-queue.ts'

type Event<Type extends UserInput['type']> = Extract<UserInput, { type: Type }>

export function refuse(step: LocalQueueStep, user: string, event: UserInput['type'], refusal: Refusal): void {
  emit(step, { type: 'refused', user, event, refusal })
}

/** Operations and reads belong to locks that guard state, and not every protocol lets participants leave. */
export function refuseUnsupported(
  step: LocalQueueStep,
  event: Event<'issue' | 'read' | 'cancel-read' | 'membership' | 'change-members'>,
): void {
  const refusal: Refusal = { code: 'not-supported' }
  if (event.type === 'issue')
    emit(step, { type: 'refused', user: event.user, event: 'issue', refusal, opId: event.opId })
  else if (event.type !== 'cancel-read') refuse(step, event.request, event.type, refusal)
}

/** An event for a grant that is over is answered but not run. A release said twice counts as a release. */
function refuseBecauseOver(step: LocalQueueStep, event: Event<'exit' | 'keep-alive'>): void {
  const { user, fence } = event
  const ending = step.localQueue.endings.find(ended => ended.fence === fence && ended.user === user) ?? null
  if (event.type === 'exit' && ending?.reason === 'released') return emit(step, { type: 'rem', user, fence })
  refuse(step, user, event.type, { code: 'grant-over', ending })
}

/**
 * After a restart, whatever is stored gets its timers again. A grant that seems to last longer than it may is
 * from before the clock was set back: it lasts as long as one that begins now.
 */
export function startLocalQueue(step: LocalQueueStep): void {
  step.localQueue.holders = step.localQueue.holders.map(holder => {
    const expiresAt = Math.min(holder.expiresAt, step.now + holder.ttlMs)
    if (expiresAt === holder.expiresAt) return holder
    const shorter = { ...holder, expiresAt }
    save(step, holderKey(shorter), shorter)
    return shorter
  })
  setWaitTimer(step)
  setTtlTimer(step)
}

// ---------------------------------------------------------------- waiting

export function onTry(step: LocalQueueStep, event: Event<'try'>): void {
  const { localQueue } = step
  const holder = localQueue.holders.find(({ user }) => user === event.user)
  if (holder !== undefined) return emitCrit(step, holder)
  const known = localQueue.waiters.find(({ user }) => user === event.user)
  if (known !== undefined) return waitLonger(step, known, event.waitMs)
  if (localQueue.waiters.length >= step.context.config.limits.waiters) {
    return refuse(step, event.user, 'try', { code: 'too-many-waiters' })
  }
  const waiter: Waiter = {
    number: (localQueue.waiters.at(-1)?.number ?? 0) + 1,
    user: event.user,
    mode: event.mode ?? 'exclusive',
    ttlMs: event.ttlMs,
    waitUntil: event.waitMs === undefined ? null : step.now + event.waitMs,
  }
  localQueue.waiters.push(waiter)
  save(step, waiterKey(waiter), waiter)
  setWaitTimer(step)
}

/** A user that repeats its `try` may wait longer and keeps its place. */
function waitLonger(step: LocalQueueStep, waiter: Waiter, waitMs: number | undefined): void {
  const { waiters } = step.localQueue
  if (waitMs === undefined || waiter.waitUntil === null) return
  const longer = { ...waiter, waitUntil: step.now + waitMs }
  waiters[waiters.indexOf(waiter)] = longer
  save(step, waiterKey(waiter), longer)
  setWaitTimer(step)
}

export function onWithdraw(step: LocalQueueStep, event: Event<'withdraw'>): void {
  const waiter = step.localQueue.waiters.find(({ user }) => user === event.user)
  if (waiter === undefined) return refuse(step, event.user, 'withdraw', { code: 'not-waiting' })
  withdraw(step, waiter, 'asked')
  setWaitTimer(step)
}

export function onWaitTimer(step: LocalQueueStep): void {
  for (const waiter of [...step.localQueue.waiters]) {
    if (waiter.waitUntil !== null && waiter.waitUntil <= step.now) withdraw(step, waiter, 'timeout')
  }
  setWaitTimer(step)
}

function withdraw(step: LocalQueueStep, waiter: Waiter, reason: 'asked' | 'timeout'): void {
  removeWaiter(step, waiter)
  emit(step, { type: 'withdrawn', user: waiter.user, reason })
}

function removeWaiter(step: LocalQueueStep, waiter: Waiter): void {
  step.localQueue.waiters = step.localQueue.waiters.filter(other => other !== waiter)
  forget(step, waiterKey(waiter))
}

/** One timer serves all waiting users: it is set for the one whose time ends first. */
function setWaitTimer(step: LocalQueueStep): void {
  const ends = step.localQueue.waiters.flatMap(({ waitUntil }) => (waitUntil === null ? [] : [waitUntil]))
  if (ends.length === 0) cancelTimer(step, 'wait')
  else setTimer(step, 'wait', Math.max(0, Math.min(...ends) - step.now))
}

// ---------------------------------------------------------------- inside

/** The mode in which the node should ask for the critical section: that of its first waiting user. */
export const wantedMode = (step: LocalQueueStep): Mode | null => step.localQueue.waiters[0]?.mode ?? null

/**
 * Emits `crit` for the first waiting user. The fence is larger than that of every earlier grant, at any
 * participant.
 */
export function admitFirst(step: LocalQueueStep, fence: number): void {
  const { localQueue } = step
  const waiter = localQueue.waiters[0]
  assert(waiter !== undefined, 'a user waits')
  const isAlone = localQueue.holders.length === 0
  const areReaders = waiter.mode === 'shared' && localQueue.holders.every(({ mode }) => mode === 'shared')
  assert(isAlone || areReaders, 'only readers are inside together')
  removeWaiter(step, waiter)
  setWaitTimer(step)
  const { user, mode, ttlMs } = waiter
  const holder: Holder = { user, mode, fence, ttlMs, expiresAt: step.now + ttlMs }
  localQueue.holders.push(holder)
  save(step, holderKey(holder), holder)
  setTtlTimer(step)
  emitCrit(step, holder)
}

function emitCrit(step: LocalQueueStep, { user, fence, expiresAt }: Holder): void {
  emit(step, { type: 'crit', user, fence, epoch: 0, sequence: fence, expiresAt, confirmed: true })
}

export function onKeepAlive(step: LocalQueueStep, event: Event<'keep-alive'>): void {
  const holder = holderOf(step, event)
  if (holder === undefined) return refuseBecauseOver(step, event)
  const { user, fence } = holder
  const kept = { ...holder, ttlMs: event.ttlMs, expiresAt: step.now + event.ttlMs }
  step.localQueue.holders[step.localQueue.holders.indexOf(holder)] = kept
  save(step, holderKey(kept), kept)
  setTtlTimer(step)
  emit(step, { type: 'kept', user, fence, expiresAt: kept.expiresAt })
}

export function onExit(step: LocalQueueStep, event: Event<'exit'>): void {
  const holder = holderOf(step, event)
  if (holder === undefined) return refuseBecauseOver(step, event)
  endGrant(step, holder, 'released')
  emit(step, { type: 'rem', user: holder.user, fence: holder.fence })
}

function holderOf(step: LocalQueueStep, event: Event<'exit' | 'keep-alive'>): Holder | undefined {
  return step.localQueue.holders.find(({ user, fence }) => user === event.user && fence === event.fence)
}

/** A user that neither leaves nor keeps its grant alive is assumed gone. */
export function onTtlTimer(step: LocalQueueStep): void {
  for (const holder of [...step.localQueue.holders])
    if (holder.expiresAt <= step.now) eject(step, holder, 'expired')
  setTtlTimer(step)
}

export function eject(step: LocalQueueStep, holder: Holder, reason: EjectionReason): void {
  endGrant(step, holder, reason)
  emit(step, { type: 'ejected', user: holder.user, fence: holder.fence, reason })
}

function endGrant(step: LocalQueueStep, holder: Holder, reason: EndReason): void {
  const { localQueue } = step
  const { endingsKept } = step.context.config.limits
  localQueue.holders = localQueue.holders.filter(other => other !== holder)
  forget(step, holderKey(holder))
  localQueue.endings = [...localQueue.endings, { user: holder.user, fence: holder.fence, reason }].slice(
    -endingsKept,
  )
  save(step, ENDINGS_KEY, localQueue.endings)
  setTtlTimer(step)
}

/** One timer serves all grants: it is set for the one that ends first. */
function setTtlTimer(step: LocalQueueStep): void {
  const ends = step.localQueue.holders.map(({ expiresAt }) => expiresAt)
  if (ends.length === 0) cancelTimer(step, 'ttl')
  else setTimer(step, 'ttl', Math.max(0, Math.min(...ends) - step.now))
}
