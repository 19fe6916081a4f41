/**
 * The events of a desk's users. They change the desk alone: after each step the protocol looks at it and asks for the critical
 * section, lets the next user in, or leaves.
 */
import type { EjectionReason } from '../../history/events.ts'
import type { Mode, Refusal, UserInput } from '../protocol.ts'
import { assert, cancelTimer, emit, forget, save, setTimer } from '../step.ts'
import {
  type DeskStep,
  ENDINGS_KEY,
  type EndReason,
  type Holder,
  holderKey,
  type Waiter,
  waiterKey,
} from './desk.ts'

type Event<Type extends UserInput['type']> = Extract<UserInput, { type: Type }>

export function refuse(step: DeskStep, user: string, event: UserInput['type'], refusal: Refusal): void {
  emit(step, { type: 'refused', user, event, refusal })
}

/** Operations and reads are of locks that guard something; not every protocol lets participants leave. */
export function refuseUnsupported(
  step: DeskStep,
  event: Event<'issue' | 'read' | 'cancel-read' | 'membership'>,
): void {
  const refusal: Refusal = { code: 'not-supported' }
  if (event.type === 'issue')
    emit(step, { type: 'refused', user: event.user, event: 'issue', refusal, opId: event.opId })
  else if (event.type !== 'cancel-read') refuse(step, event.request, event.type, refusal)
}

/** An event for a grant that is over is answered, not run. A release said twice is a release. */
function refuseBecauseOver(step: DeskStep, event: Event<'exit' | 'keep-alive'>): void {
  const { user, fence } = event
  const ending = step.desk.endings.find(ended => ended.fence === fence && ended.user === user) ?? null
  if (event.type === 'exit' && ending?.reason === 'released') return emit(step, { type: 'rem', user, fence })
  refuse(step, user, event.type, { code: 'grant-over', ending })
}

/**
 * After a restart: what is stored has its timers again. A grant that seems to last longer than it may is from
 * before the clock was set back: it lasts as long as one that begins now.
 */
export function startDesk(step: DeskStep): void {
  step.desk.holders = step.desk.holders.map(holder => {
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

export function onTry(step: DeskStep, event: Event<'try'>): void {
  const { desk } = step
  const holder = desk.holders.find(({ user }) => user === event.user)
  if (holder !== undefined) return emitCrit(step, holder)
  const known = desk.waiters.find(({ user }) => user === event.user)
  if (known !== undefined) return waitLonger(step, known, event.waitMs)
  if (desk.waiters.length >= step.context.config.limits.waiters) {
    return refuse(step, event.user, 'try', { code: 'too-many-waiters' })
  }
  const waiter: Waiter = {
    number: (desk.waiters.at(-1)?.number ?? 0) + 1,
    user: event.user,
    mode: event.mode ?? 'exclusive',
    ttlMs: event.ttlMs,
    waitUntil: event.waitMs === undefined ? null : step.now + event.waitMs,
  }
  desk.waiters.push(waiter)
  save(step, waiterKey(waiter), waiter)
  setWaitTimer(step)
}

/** A user that says again that it waits has more time to wait, and keeps its place. */
function waitLonger(step: DeskStep, waiter: Waiter, waitMs: number | undefined): void {
  const { waiters } = step.desk
  if (waitMs === undefined || waiter.waitUntil === null) return
  const longer = { ...waiter, waitUntil: step.now + waitMs }
  waiters[waiters.indexOf(waiter)] = longer
  save(step, waiterKey(waiter), longer)
  setWaitTimer(step)
}

export function onWithdraw(step: DeskStep, event: Event<'withdraw'>): void {
  const waiter = step.desk.waiters.find(({ user }) => user === event.user)
  if (waiter === undefined) return refuse(step, event.user, 'withdraw', { code: 'not-waiting' })
  withdraw(step, waiter, 'asked')
  setWaitTimer(step)
}

export function onWaitTimer(step: DeskStep): void {
  for (const waiter of [...step.desk.waiters]) {
    if (waiter.waitUntil !== null && waiter.waitUntil <= step.now) withdraw(step, waiter, 'timeout')
  }
  setWaitTimer(step)
}

function withdraw(step: DeskStep, waiter: Waiter, reason: 'asked' | 'timeout'): void {
  removeWaiter(step, waiter)
  emit(step, { type: 'withdrawn', user: waiter.user, reason })
}

function removeWaiter(step: DeskStep, waiter: Waiter): void {
  step.desk.waiters = step.desk.waiters.filter(other => other !== waiter)
  forget(step, waiterKey(waiter))
}

/** One timer for the waiting user whose time ends first. */
function setWaitTimer(step: DeskStep): void {
  const ends = step.desk.waiters.flatMap(({ waitUntil }) => (waitUntil === null ? [] : [waitUntil]))
  if (ends.length === 0) cancelTimer(step, 'wait')
  else setTimer(step, 'wait', Math.max(0, Math.min(...ends) - step.now))
}

// ---------------------------------------------------------------- inside

/** The mode in which the node should ask for the critical section: that of its first user. */
export const wantedMode = (step: DeskStep): Mode | null => step.desk.waiters[0]?.mode ?? null

/** `crit` for the first waiting user. The fence is larger than that of every grant before it, at any participant. */
export function admitFirst(step: DeskStep, fence: number): void {
  const { desk } = step
  const waiter = desk.waiters[0]
  assert(waiter !== undefined, 'somebody waits')
  const isAlone = desk.holders.length === 0
  const areReaders = waiter.mode === 'shared' && desk.holders.every(({ mode }) => mode === 'shared')
  assert(isAlone || areReaders, 'only readers are inside together')
  removeWaiter(step, waiter)
  setWaitTimer(step)
  const { user, mode, ttlMs } = waiter
  const holder: Holder = { user, mode, fence, ttlMs, expiresAt: step.now + ttlMs }
  desk.holders.push(holder)
  save(step, holderKey(holder), holder)
  setTtlTimer(step)
  emitCrit(step, holder)
}

function emitCrit(step: DeskStep, { user, fence, expiresAt }: Holder): void {
  emit(step, { type: 'crit', user, fence, epoch: 0, sequence: fence, expiresAt, confirmed: true })
}

export function onKeepAlive(step: DeskStep, event: Event<'keep-alive'>): void {
  const holder = holderOf(step, event)
  if (holder === undefined) return refuseBecauseOver(step, event)
  const { user, fence } = holder
  const kept = { ...holder, ttlMs: event.ttlMs, expiresAt: step.now + event.ttlMs }
  step.desk.holders[step.desk.holders.indexOf(holder)] = kept
  save(step, holderKey(kept), kept)
  setTtlTimer(step)
  emit(step, { type: 'kept', user, fence, expiresAt: kept.expiresAt })
}

export function onExit(step: DeskStep, event: Event<'exit'>): void {
  const holder = holderOf(step, event)
  if (holder === undefined) return refuseBecauseOver(step, event)
  endGrant(step, holder, 'released')
  emit(step, { type: 'rem', user: holder.user, fence: holder.fence })
}

function holderOf(step: DeskStep, event: Event<'exit' | 'keep-alive'>): Holder | undefined {
  return step.desk.holders.find(({ user, fence }) => user === event.user && fence === event.fence)
}

/** A user that neither leaves nor keeps its grant alive is gone. */
export function onTtlTimer(step: DeskStep): void {
  for (const holder of [...step.desk.holders])
    if (holder.expiresAt <= step.now) eject(step, holder, 'expired')
  setTtlTimer(step)
}

export function eject(step: DeskStep, holder: Holder, reason: EjectionReason): void {
  endGrant(step, holder, reason)
  emit(step, { type: 'ejected', user: holder.user, fence: holder.fence, reason })
}

function endGrant(step: DeskStep, holder: Holder, reason: EndReason): void {
  const { desk } = step
  const { endingsKept } = step.context.config.limits
  desk.holders = desk.holders.filter(other => other !== holder)
  forget(step, holderKey(holder))
  desk.endings = [...desk.endings, { user: holder.user, fence: holder.fence, reason }].slice(-endingsKept)
  save(step, ENDINGS_KEY, desk.endings)
  setTtlTimer(step)
}

/** One timer for the grant that ends first. */
function setTtlTimer(step: DeskStep): void {
  const ends = step.desk.holders.map(({ expiresAt }) => expiresAt)
  if (ends.length === 0) cancelTimer(step, 'ttl')
  else setTimer(step, 'ttl', Math.max(0, Math.min(...ends) - step.now))
}
