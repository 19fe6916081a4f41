/**
 * Section 6.3: the REQUEST travels from node to node around a logical circuit, and there are no REPLYs. N
 * messages.
 *   `waiting`  it stays at each node that defers it until that node leaves;
 *   `marking`  it goes on without pause, marked "DEFERRED by node j", and j sends its REPLY when it leaves.
 *
 * It carries the nodes that let it pass. So the set that counts at its maker is the same as without a ring,
 * even if the nodes disagree for a moment about who is in the circuit. If it is lost on its way, the maker
 * asks the missing nodes one by one, as without a ring (7.4).
 */
import type { ParticipantId } from '../protocol.ts'
import type { RingRequestMessage } from './messages.ts'
import { defer, defersTo, isOwn, isValid, ownName, sendReply } from './section-2-rule.ts'
import type { Deferred } from './state.ts'
import { isActive, isMember, noteHighest, others, type Step, send } from './step.ts'

export function sendAround(step: Step): void {
  const { mode } = step.state.durable.own
  const message: RingRequestMessage = {
    type: 'ring-request',
    origin: step.self,
    ...ownName(step),
    mode,
    passed: [],
    deferredBy: [],
  }
  const [next] = circuitFrom(step)
  if (next !== undefined) send(step, next, message)
}

/** The other members, beginning with the next one. */
function circuitFrom(step: Step): ParticipantId[] {
  const members = others(step)
  return [...members.filter(member => member > step.self), ...members.filter(member => member < step.self)]
}

export function onRingRequest(step: Step, message: RingRequestMessage): void {
  const { origin } = message
  if (origin === step.self) return onReturn(step, message)
  if (!isValid(step, origin, message)) return
  noteHighest(step, message.request)
  // A node outside the group has no circuit: the maker asks the rest itself.
  if (!isActive(step)) return sendReply(step, origin, message)
  if (!defersTo(step, origin, message)) return pass(step, message, { passed: [...message.passed, step.self] })
  if (step.options.ring === 'waiting') return defer(step, origin, { ...message, passed: message.passed })
  defer(step, origin, { ...message, passed: null })
  pass(step, message, { deferredBy: [...message.deferredBy, step.self] })
}

function pass(step: Step, message: RingRequestMessage, notation: Partial<RingRequestMessage>): void {
  const [next] = circuitFrom(step)
  if (next !== undefined && isMember(step, message.origin)) send(step, next, { ...message, ...notation })
}

/**
 * "Outstanding_Reply_Count is set according to the notations": the nodes that did not let it pass are still
 * awaited.
 */
function onReturn(step: Step, message: RingRequestMessage): void {
  if (!isOwn(step, message)) return
  for (const peer of message.passed) step.state.soft.replies[peer] = true
}

/** A request that has waited here goes on its way. */
export function goOnAround(
  step: Step,
  origin: ParticipantId,
  { request, incarnation, mode }: Deferred,
  passed: readonly ParticipantId[],
): void {
  const message: RingRequestMessage = {
    type: 'ring-request',
    origin,
    request,
    incarnation,
    mode,
    passed: [],
    deferredBy: [],
  }
  pass(step, message, { passed: [...passed, step.self] })
}
