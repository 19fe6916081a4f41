/** One step of a node. What all protocols have in common is in ../step.ts. */
import type { LocalQueue } from '../lock-only/local-queue.ts'
import type { Operators } from '../lock-only/operators.ts'
import type { Context, ParticipantId, ProtocolOptions } from '../protocol.ts'
import { beginStepOf, cancelTimer, type StepOf, save } from '../step.ts'
import type { RicartAgrawalaMessage } from './messages.ts'
import type { Membership, OwnRequest, RicartAgrawalaState, TimerName } from './state.ts'

export { assert, cancelTimer, emit, forget, save, send, setTimer, takeEffects } from '../step.ts'

export interface Step extends StepOf<RicartAgrawalaMessage, TimerName> {
  readonly state: RicartAgrawalaState
  readonly localQueue: LocalQueue
  readonly operators: Operators
  readonly self: ParticipantId
  readonly options: ProtocolOptions
}

export function beginStep(context: Context, state: RicartAgrawalaState, now: number): Step {
  const { self, options } = context.config
  return {
    ...beginStepOf<RicartAgrawalaMessage, TimerName>(context, now, state.soft.timers),
    state,
    localQueue: state.durable.localQueue,
    operators: state.soft.operators,
    self,
    options: options ?? {},
  }
}

export function changeOwn(step: Step, change: Partial<OwnRequest>): void {
  const { durable } = step.state
  durable.own = { ...durable.own, ...change }
  save(step, 'own', durable.own)
}

export function setMembership(step: Step, membership: Membership): void {
  step.state.durable.membership = membership
  save(step, 'membership', membership)
}

/** Highest_Sequence_Number never falls. */
export function noteHighest(step: Step, request: number): void {
  const { durable } = step.state
  if (request <= durable.highest.request) return
  durable.highest = { request }
  save(step, 'highest', durable.highest)
}

/** The members besides this node, in the order of their numbers. */
export function others(step: Step): ParticipantId[] {
  return Object.keys(step.state.durable.group.members)
    .map(Number)
    .filter(member => member !== step.self)
    .sort((a, b) => a - b)
}

export const isMember = (step: Step, participant: ParticipantId): boolean =>
  step.state.durable.group.members[participant] !== undefined

/** Whether this node has its place in the group; it keeps it while it is about to leave. */
export function isActive(step: Step): boolean {
  const { status } = step.state.durable.membership
  return status === 'member' || status === 'leaving'
}

export function incarnationOf(step: Step): number {
  const { membership } = step.state.durable
  return membership.status === 'blank' ? 0 : membership.incarnation
}

/** There is something new to make known: repeats begin again with the shortest interval. */
export function restartRepeats(step: Step): void {
  step.state.soft.repeatAttempts = 0
  cancelTimer(step, 'repeat')
}
