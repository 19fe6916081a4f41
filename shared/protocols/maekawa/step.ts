/** One step of a node: what is common to all protocols is in ../step.ts. */
import type { OperatorStep } from '../lock-only/operators.ts'
import type { Context, ParticipantId } from '../protocol.ts'
import { beginStepOf, type StepOf, save, send as sendToPeer } from '../step.ts'
import type { MaekawaMessage } from './messages.ts'
import type { Arbiter, MaekawaState, OwnRequest, TimerName } from './state.ts'

export interface Step extends StepOf<MaekawaMessage, TimerName>, Omit<OperatorStep, 'effects' | 'timers'> {
  readonly state: MaekawaState
  /** Messages of this node to itself: they are handled in the same step. */
  readonly toSelf: MaekawaMessage[]
}

export function beginStep(context: Context, state: MaekawaState, now: number): Step {
  const step = beginStepOf<MaekawaMessage, TimerName>(context, now, state.soft.timers)
  return { ...step, state, desk: state.durable.desk, operators: state.soft.operators, toSelf: [] }
}

export function send(step: Step, to: ParticipantId, message: MaekawaMessage): void {
  if (to === step.context.config.self) step.toSelf.push(message)
  else sendToPeer(step, to, message)
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
