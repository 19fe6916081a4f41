/**
 * What follows from the state after each step, whatever the input was. The paper has one process per node
 * that wants the critical section; here a queue of local users does, and now and then the group
 * (group-change.ts).
 */
import { admitFirst, wantedMode } from '../lock-only/users.ts'
import type { Mode } from '../protocol.ts'
import { GRANTS_PER_REQUEST } from './fence.ts'
import { dropWish } from './group.ts'
import { beginChange, concludeChange, drawFence } from './group-change.ts'
import { beginRemoval, setChangeNeeded } from './members.ts'
import { invoke, isPermitted, leave } from './section-2-algorithm.ts'
import { mayGiveUp } from './section-6-4-numbers.ts'
import { ownRemoval } from './section-7-3-removal.ts'
import type { Change } from './state.ts'
import { changeOwn, isActive, type Step } from './step.ts'

export function proceed(step: Step): void {
  while (isActive(step) && advance(step));
}

/** Makes one transition, if one is due. */
function advance(step: Step): boolean {
  const { own } = step.state.durable
  if (beginRemoval(step)) return true
  switch (own.phase) {
    case 'idle': {
      const mode = modeNeeded(step)
      if (mode === null) return false
      invoke(step, mode)
      return true
    }
    case 'requesting':
      if (mayGiveUp(step) && !isOfUse(step)) leave(step)
      else if (isPermitted(step)) changeOwn(step, { phase: 'inside' })
      else return false
      return true
    case 'inside':
      return serve(step)
    default:
      return own.phase satisfies never
  }
}

const modeNeeded = (step: Step): Mode | null => (changeNeeded(step) === null ? wantedMode(step) : 'exclusive')

/** What the group wants of this node, or this node of the group. */
const changeNeeded = (step: Step): Change | null => changeWanted(step) ?? ownRemoval(step)

const changeWanted = (step: Step): Change | null => step.state.soft.wishes[0] ?? setChangeNeeded(step)

/**
 * Whether the request is still needed, and what it asks for is enough: a writer may now stand where a reader
 * was when it was made.
 */
function isOfUse(step: Step): boolean {
  const mode = modeNeeded(step)
  return mode !== null && (mode === 'shared' || step.state.durable.own.mode === 'exclusive')
}

/** Inside: make a change of the group, admit the next user, or leave. */
function serve(step: Step): boolean {
  const { durable } = step.state
  if (durable.sponsoring !== null) return concludeChange(step)
  const isEmpty = step.localQueue.holders.length === 0
  const { mode, grants } = durable.own
  const change = changeNeeded(step)
  // One is left for the case that a newcomer falls silent on its way in (R12).
  if (isEmpty && change !== null && mode === 'exclusive' && grants < GRANTS_PER_REQUEST - 1) {
    if ('participant' in change) dropWish(step, change.participant)
    beginChange(step, change)
    return true
  }
  if (mayAdmit(step)) {
    admit(step)
    return true
  }
  if (isEmpty) leave(step)
  return isEmpty
}

function admit(step: Step): void {
  const { own } = step.state.durable
  changeOwn(step, { handoffs: own.grants > 0 && isWaitedFor(step) ? own.handoffs + 1 : 0 })
  admitFirst(step, drawFence(step))
}

/** Whether other nodes are known to wait for this one to leave. */
const isWaitedFor = (step: Step): boolean => Object.keys(step.state.durable.deferred).length > 0

/**
 * Whether the first waiting user may go in now. After the first user under a request this costs no messages,
 * but other nodes may wait. Then only a limited number of users may follow one another, and readers do not
 * join readers at all, so that writers are not starved. Only the first of the queue may go in, which does the
 * same for local writers.
 */
function mayAdmit(step: Step): boolean {
  const { own } = step.state.durable
  const waiter = step.localQueue.waiters[0]
  if (waiter === undefined || own.grants >= GRANTS_PER_REQUEST) return false
  if (own.mode === 'shared' && waiter.mode === 'exclusive') return false
  if (own.grants === 0) return true
  if (changeWanted(step) !== null) return false
  const { holders } = step.localQueue
  const areReaders = waiter.mode === 'shared' && holders.every(({ mode }) => mode === 'shared')
  if (holders.length > 0) return areReaders && !isWaitedFor(step)
  if (!isWaitedFor(step)) return true
  return own.mode === 'exclusive' && own.handoffs < step.context.config.localHandoffs
}
