/**
 * The events of local users. They change the local queue only. After each step the protocol looks at the
 * queue and asks for the critical section, lets the next user in, or leaves.
 */
import type { EjectionReason } from '../../history/events.ts'
import type { Mode, UserInput } from '../protocol.ts'
import { endingOf, refuseBecauseOver } from '../refusals.ts'
import { assert, cancelTimer, emit, forget, save, setTimer } from '../step.ts'
import { joinQueue, setWaitTimer, takeFirst } from '../waiting-users.ts'
import { ENDINGS_KEY, type EndReason, type Holder, holderKey, type LocalQueueStep } from './local-queue.ts'

type Event<Type extends UserInput['type']> = Extract<UserInput, { type: Type }>

/** An event for a grant that is over is answered but not run. */
function refuseOver(step: LocalQueueStep, event: Event<'exit' | 'keep-alive'>): void {
  refuseBecauseOver(step, event, endingOf(step.localQueue.endings, event))
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
  const holder = step.localQueue.holders.find(({ user }) => user === event.user)
  if (holder !== undefined) emitCrit(step, holder)
  else joinQueue(step, event, { mode: event.mode ?? 'exclusive' })
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
  const { user, mode, ttlMs } = takeFirst(step)
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
  if (holder === undefined) return refuseOver(step, event)
  const { user, fence } = holder
  const kept = { ...holder, ttlMs: event.ttlMs, expiresAt: step.now + event.ttlMs }
  step.localQueue.holders[step.localQueue.holders.indexOf(holder)] = kept
  save(step, holderKey(kept), kept)
  setTtlTimer(step)
  emit(step, { type: 'kept', user, fence, expiresAt: kept.expiresAt })
}

export function onExit(step: LocalQueueStep, event: Event<'exit'>): void {
  const holder = holderOf(step, event)
  if (holder === undefined) return refuseOver(step, event)
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
