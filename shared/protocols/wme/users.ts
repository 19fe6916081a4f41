/** The users of a stub beyond the paper's events: those that give up, and operators. */
import type { ParticipantId, UserInput } from '../protocol.ts'
import { refuse } from '../refusals.ts'
import * as waiting from '../waiting-users.ts'
import { fenceOf } from './fence.ts'
import { inCriticalSection } from './figure-3-states.ts'
import { ejectOnceSettled } from './grants.ts'
import { lengthOf } from './log.ts'
import type { EjectDoneMessage, EjectMessage } from './messages.ts'
import { restartRepeats } from './repeat.ts'
import { nextRound } from './soft.ts'
import type { Eject, Waiter } from './state.ts'
import { changeStub, emit, type Step, send } from './step.ts'

// ---------------------------------------------------------------- waiting

export function onWithdraw(step: Step, event: Extract<UserInput, { type: 'withdraw' }>): void {
  waiting.onWithdraw(step, event, waiter => giveUp(step, waiter))
}

export function onWaitTimer(step: Step): void {
  waiting.onWaitTimer(step, waiter => giveUp(step, waiter))
}

/**
 * The token that came for this user is free again. If nobody waits any longer, the stub is idle, and an idle
 * stub that gets the token passes it on.
 */
function giveUp(step: Step, { user }: Waiter): void {
  const { stub, waiters } = step.state.durable
  const wasEntering = stub.phase === 'entering' && stub.grant!.user === user
  if (wasEntering) changeStub(step, { phase: 'idle', grant: null })
  else if (stub.phase === 'requesting' && waiters.length === 0) changeStub(step, { phase: 'idle' })
}

// ---------------------------------------------------------------- operators

/**
 * Whoever was granted the token by the log as it is known here must leave, or whoever has the fence that the
 * operator names. The owner is told until it says that this is done.
 */
export function onEject(step: Step, event: Extract<UserInput, { type: 'eject' }>): void {
  const { durable, derived, soft } = step.state
  const isNamed = event.fence !== undefined
  const fence = event.fence ?? fenceOf(durable.epoch.epoch, lengthOf(durable))
  if (soft.ejects.length >= step.context.config.limits.waiters) {
    return refuse(step, event.request, 'eject', { code: 'too-many-waiters' })
  }
  const { grant } = durable.stub
  const isMeant = !isNamed || grant === null || grant.fence <= fence
  if (derived.owner === step.context.config.self && isMeant) ejectOnceSettled(step, 'operator')
  const round = nextRound(soft)
  soft.ejects.push({
    request: event.request,
    round,
    fence,
    owner: derived.owner,
    isNamed,
    isSettled: isNamed,
  })
  restartRepeats(step)
  sendEjects(step)
}

export function sendEjects(step: Step): void {
  const { durable, derived, soft } = step.state
  if (soft.ejects.length === 0 || derived.owner === step.context.config.self) return
  const fence = Math.max(...soft.ejects.map(eject => eject.fence))
  const { round } = soft.ejects.at(-1)!
  send(step, derived.owner, { type: 'eject', epoch: durable.epoch.epoch, fence, round })
}

export function onEjectMessage(step: Step, from: ParticipantId, message: EjectMessage): void {
  const { durable, derived, soft } = step.state
  if (derived.owner !== step.context.config.self) return
  const { fence, round } = message
  if (holderRemains(step, fence)) {
    ejectOnceSettled(step, 'operator')
    if (round !== undefined) soft.forcedOut[from] = round
  }
  if (!holderRemains(step, fence)) {
    // The participant asks again because the answer got lost, and another user has come in since.
    const isAgain = round !== undefined && soft.forcedOut[from] === round
    const isAnother = inCriticalSection(durable.stub.phase) && !isAgain
    const holder = isAnother ? durable.stub.grant!.fence : null
    send(step, from, { type: 'eject-done', epoch: durable.epoch.epoch, fence, holder })
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
 * came in later; if the operator has named a fence, that one stays.
 */
export function onEjectDone(step: Step, message: EjectDoneMessage): void {
  const { soft } = step.state
  const { fence, holder } = message
  const isAnother = (eject: Eject) => eject.isNamed && eject.fence <= fence && (holder ?? -1) > eject.fence
  for (const { request } of soft.ejects.filter(isAnother))
    refuse(step, request, 'eject', { code: 'conflict' })
  soft.ejects = soft.ejects.filter(eject => !isAnother(eject))
  const isUnheardOf = (eject: Eject) => !eject.isSettled && holder !== null && holder > eject.fence
  const answered = soft.ejects.filter(eject => eject.fence <= fence)
  const again = answered.filter(isUnheardOf)
  finishEjects(step, eject => answered.includes(eject) && !again.includes(eject))
  if (again.length === 0) return
  const renewed = new Set(again.map(({ request }) => request))
  soft.ejects = soft.ejects.map(eject =>
    renewed.has(eject.request)
      ? { ...eject, fence: holder!, round: nextRound(soft), isSettled: true }
      : eject,
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
