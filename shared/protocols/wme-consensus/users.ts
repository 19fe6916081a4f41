/** What the users of this participant say, and what this participant then wants decided. */
import type { UserInput } from '../protocol.ts'
import { refuse, refuseUnsupported } from '../refusals.ts'
import { joinQueue } from '../waiting-users.ts'
import { admit, answerIssue, emitCrit, isGrantOf, refuseOver } from './grants.ts'
import { changeStub, clearLane, isFree, type Step, submit } from './step.ts'

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

// ---------------------------------------------------------------- what users say

export function onTry(step: Step, event: Event<'try'>): void {
  const { stub } = step.state.durable
  if (event.mode === 'shared') return refuseUnsupported(step, event)
  if (stub.grant?.user === event.user) return stub.phase === 'leaving' ? undefined : emitCrit(step)
  joinQueue(step, event, {})
}

export function onIssue(step: Step, event: Event<'issue'>): void {
  const { fence, opId, operation } = event
  const weight = answerIssue(step, event)
  if (weight === null) return
  const { applied: after } = step.state.durable.machine
  changeStub(step, { phase: 'cs-issuing', pendingOperation: { opId, operation, after } })
  submit(step, { kind: 'operation', fence, opId, operation, weight })
}

/** `rem` comes once it is decided, like everything in this algorithm. */
export function onExit(step: Step, event: Event<'exit'>): void {
  const { stub } = step.state.durable
  if (!isGrantOf(stub.grant, event)) return refuseOver(step, event)
  if (stub.phase === 'cs-issuing') return refuse(step, event.user, 'exit', { code: 'busy' })
  if (stub.phase === 'leaving') return
  changeStub(step, { phase: 'leaving' })
  submit(step, { kind: 'leave', fence: event.fence })
}
