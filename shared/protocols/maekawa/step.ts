/** One step of a node. What all protocols have in common is in ../step.ts. */
import type { OperatorStep } from '../lock-only/operators.ts'
import type { Context, ParticipantId } from '../protocol.ts'
import { beginStepOf, type StepOf, save, send as sendToPeer } from '../step.ts'
import type { MaekawaMessage, NumberedMessage, Section4Message } from './messages.ts'
import type { Arbiter, MaekawaState, OwnRequest, TimerName } from './state.ts'

export interface Step extends StepOf<MaekawaMessage, TimerName>, Omit<OperatorStep, 'effects' | 'timers'> {
  readonly state: MaekawaState
  /** Messages of this node to itself: they are handled in the same step. */
  readonly toSelf: NumberedMessage[]
}

export function beginStep(context: Context, state: MaekawaState, now: number): Step {
  const step = beginStepOf<MaekawaMessage, TimerName>(context, now, state.soft.timers)
  return { ...step, state, localQueue: state.durable.localQueue, operators: state.soft.operators, toSelf: [] }
}

export function send(step: Step, to: ParticipantId, body: Section4Message): void {
  const message = { ...body, highest: step.state.derived.highest }
  if (to === step.context.config.self) step.toSelf.push(message)
  else sendToPeer(step, to, message)
}

/**
 * From now on the highest number in a message counts here, also after a crash: any number that this node
 * chooses later is above it. A request's own number is in a record already and needs no second one.
 */
export function observe(step: Step, message: NumberedMessage): void {
  const { durable, derived } = step.state
  const isKept = message.type === 'request' || message.type === 'release'
  const known = Math.max(derived.highest, isKept ? message.sequence : 0)
  if (!(message.highest > known)) return
  derived.highest = message.highest
  durable.observed = { sequence: message.highest }
  save(step, 'observed', durable.observed)
}

export function changeOwn(step: Step, change: Partial<OwnRequest>): void {
  const { durable } = step.state
  durable.own = { ...durable.own, ...change }
  save(step, 'own', durable.own)
}

export function changeArbiter(step: Step, arbiter: Arbiter): void {
  step.state.durable.arbiter = arbiter
  save(step, 'arbiter', arbiter)
}

/** Fences only grow. */
export function raiseFence(step: Step, fence: number): void {
  const { durable } = step.state
  if (fence <= durable.fence.fence) return
  durable.fence = { fence }
  save(step, 'fence', durable.fence)
}
