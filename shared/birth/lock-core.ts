/**
 * The core behind the birth: how it begins, what it is given, what it says to the others, and how it is
 * dropped.
 */

import type { Json } from '../json.ts'
import type { OpaqueMessage } from '../protocols/all.ts'
import { type AnyEnvelope, protocolNamed } from '../protocols/all.ts'
import {
  type Context,
  type Effect,
  type Emitted,
  type Input,
  MESSAGE_FORMAT,
  type ParticipantId,
  type UserInput,
} from '../protocols/protocol.ts'
import {
  CORE_TIMER,
  cancelTimer,
  change,
  emit,
  firstOwner,
  modeOf,
  type RunningCore,
  type Step,
  send,
} from './lock-state.ts'
import type { LockContext } from './lock-types.ts'
import { noteMembers } from './moving.ts'
import { digestOf, isMember, type LockValue, mayTakePart } from './value.ts'

/** `null` if the resource is not registered here. */
export function contextOf(context: LockContext, value: LockValue): Context | null {
  const { configuration, startEpoch } = value
  const resource = context.resourceNamed(configuration.resource)
  if (resource === undefined) return null
  const { heartbeatMs, timeoutMs } = configuration.detector
  return {
    config: {
      self: context.self,
      ...(context.address !== undefined && { address: context.address }),
      participants: configuration.participants.length,
      configuration: configuration.number,
      firstOwner: configuration.firstOwner,
      startEpoch,
      ...(configuration.imported && { startSequence: configuration.imported.sequence }),
      localHandoffs: configuration.localHandoffs,
      ...(configuration.options && { options: configuration.options }),
      timing: { ...context.timing, heartbeatMs, timeoutMs },
      limits: context.limits,
    },
    resource,
  }
}

/**
 * A core with empty storage. `genesis`: it takes part from the start; otherwise it was lost, and asks to be
 * taken back.
 */
export function beginCore(step: Step, value: LockValue, genesis: boolean): void {
  const { state } = step
  const context = contextOf(step.context, value)
  if (context === null) return
  const protocol = protocolNamed(value.configuration.protocol)
  state.core = { protocol, context, state: protocol.recover(context, []) }
  change(step, { core: value })
  state.soft.acting.clear()
  state.soft.counted.clear()
  state.soft.informed.clear()
  stepCore(step, { type: 'start', now: step.now, genesis, incarnation: state.soft.incarnation })
}

/**
 * The users of the core learn that it is over, and those that only waited try again where the lock is now.
 * `pending` is what becomes of an operation that is on its way: nobody applies it if another value was
 * chosen; the others may apply it if only this participant has lost its place.
 */
export function dropCore(
  step: Step,
  pending: 'not-applied' | 'unknown',
  code: 'not-a-member' | 'ended' = 'not-a-member',
): UserInput[] {
  const { core, soft } = step.state
  step.clear = true
  step.records.clear()
  change(step, { core: null })
  step.state.core = null
  soft.acting.clear()
  soft.counted.clear()
  if (core === null) return []
  const waiting = leaveUsers(step, core, pending, code)
  soft.tries.clear()
  return waiting
}

function leaveUsers(
  step: Step,
  core: RunningCore,
  outcome: 'not-applied' | 'unknown',
  code: 'not-a-member' | 'ended',
): UserInput[] {
  const { tries } = step.state.soft
  const reason = code === 'ended' ? 'operator' : 'suspected'
  const { holders, waiters, phase } = core.protocol.view(core.context, core.state)
  for (const { user, fence, opId } of holders) {
    const pending = opId === undefined ? {} : { pending: { opId, outcome } }
    // A user that has asked to leave, or that has ended the lock itself, is not forced out.
    if (phase === 'leaving' || step.end?.fence === fence) emit(step, { type: 'rem', user, fence })
    else emit(step, { type: 'ejected', user, fence, reason, ...pending })
  }
  return waiters.flatMap(({ user }) => {
    const event = code === 'ended' ? undefined : tries.get(user)
    if (event === undefined) emit(step, { type: 'refused', user, event: 'try', refusal: { code } })
    return event === undefined ? [] : [event]
  })
}

// ---------------------------------------------------------------- inputs

export function giveMessage(
  step: Step,
  from: ParticipantId,
  message: OpaqueMessage,
  incarnation: number,
): void {
  const { birth, core, soft } = step.state
  if (core === null || !mayTakePart(birth.core!, from)) return
  soft.counted.set(from, incarnation)
  const envelope: AnyEnvelope = {
    format: MESSAGE_FORMAT,
    configuration: core.context.config.configuration,
    body: message,
  }
  stepCore(step, { type: 'message', now: step.now, from, message: envelope })
}

export function giveUserEvent(step: Step, event: UserInput): void {
  const { birth, soft } = step.state
  const mode = modeOf(birth)
  if (step.state.core === null || mode === 'parked' || step.restart) {
    // Whoever gives up does not try again where the lock is.
    if (event.type === 'withdraw') soft.tries.delete(event.user)
    const user = 'user' in event ? event.user : event.request
    const opId = event.type === 'issue' ? { opId: event.opId } : {}
    return emit(step, {
      type: 'refused',
      user,
      event: event.type,
      refusal: { code: 'not-a-member' },
      ...opId,
    })
  }
  const mayBeDropped = birth.chosen === null && soft.tries.size < step.context.limits.waiters
  if (mayBeDropped && event.type === 'try') soft.tries.set(event.user, event)
  stepCore(step, { type: 'user', now: step.now, event })
}

/** Nothing reaches a core that is parked, or that is over with this step. */
export function stepCore(step: Step, input: Input<OpaqueMessage>): void {
  const { core, birth } = step.state
  const mode = modeOf(birth)
  if (core === null || mode === 'none' || mode === 'parked' || step.restart || step.end !== null) return
  for (const effect of core.protocol.step(core.context, core.state, input)) perform(step, effect)
}

// ---------------------------------------------------------------- effects

function perform(step: Step, effect: Effect<OpaqueMessage>): void {
  switch (effect.type) {
    case 'save':
      if (!effect.mayWait) step.mayWait = false
      for (const { key, value } of effect.records) step.records.set(key, value)
      return
    case 'send':
      return sendCoreMessage(step, effect.to, effect.message)
    case 'set-timer':
      step.effects.push({ ...effect, timer: CORE_TIMER + effect.timer })
      return
    case 'cancel-timer':
      return cancelTimer(step, CORE_TIMER + effect.timer)
    case 'emit': {
      const { event } = effect
      if (event.type === 'withdrawn' || event.type === 'crit') step.state.soft.tries.delete(event.user)
      if (event.type === 'applied' && isEnd(event.operation)) noteEnd(step, event)
      if (event.type === 'members' && !event.isHint) noteMembers(step, event)
      return emit(step, event)
    }
  }
}

/** The last operation of a lock. A client's operation is a list, so no client can say this. */
export const END_OPERATION: Json = { end: 'lock' }

export const isEnd = (operation: Json): boolean =>
  typeof operation === 'object' && operation !== null && 'end' in operation && !Array.isArray(operation)

/** All participants conclude the same from the same entry, whichever epoch they have come to meanwhile. */
function noteEnd(step: Step, { epoch, sequence, fence }: Extract<Emitted, { type: 'applied' }>): void {
  step.end = { epoch: epoch ?? step.state.birth.core!.startEpoch, length: sequence, fence }
}

/**
 * The value rides along until the receiver is known to have it, so that the very first message needs no round
 * trip.
 */
function sendCoreMessage(step: Step, to: ParticipantId, { format, body: message }: AnyEnvelope): void {
  const { birth, soft } = step.state
  const value = birth.core!
  const digest = digestOf(value)
  if (modeOf(birth) === 'tentative') {
    if (to === firstOwner(step.context))
      send(step, to, { type: 'core', digest, tentative: true, value, message })
    return
  }
  const isInformed = soft.informed.has(to)
  const ofChosen = { type: 'core', digest, chosen: true, message } as const
  // Somebody who was not there at the birth cannot know it yet.
  if (birth.chosen !== null)
    return send(step, to, isInformed || isMember(value, to) ? ofChosen : { ...ofChosen, value }, format)
  const ofCore = { type: 'core', digest, message } as const
  send(step, to, isInformed ? ofCore : { ...ofCore, value }, format)
}
