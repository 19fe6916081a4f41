/**
 * Section 4, the part of a member of S_i: steps (2), (4) and (7). A node is locked for one request at a time;
 * the others wait in order of precedence. A request that waits must know whether another one precedes it
 * here. Only then does its node give back what it holds elsewhere, and only that breaks a cycle of nodes that
 * lock one another.
 *
 * Invariant (K1): every waiting request but the first has been sent FAILED. The first has been sent FAILED
 * too, unless it precedes the locker, which has then been sent INQUIRE. A message that is lost is said again
 * when the node that waits asks again.
 */
import type { ParticipantId } from '../protocol.ts'
import { forget, save } from '../step.ts'
import type { ReleaseMessage, RelinquishMessage, RequestMessage } from './messages.ts'
import { compareRequests, isSame, precedes, type Request } from './precedence.ts'
import { endedKey, waitingKey } from './records.ts'
import { changeArbiter, raiseFence, type Step, send } from './step.ts'

/** Step (2). */
export function onRequest(step: Step, from: ParticipantId, { sequence, fence }: RequestMessage): void {
  const { durable, derived } = step.state
  const request: Request = { node: from, sequence }
  // The request is late, or arrived twice.
  if (sequence <= (durable.ended[from] ?? 0)) return
  derived.highest = Math.max(derived.highest, sequence)
  const earlier = requestOf(step, from)
  if (earlier !== undefined && earlier.sequence > sequence) return
  // Its sender has come to a new request: the RELEASE of the old one was lost or comes later.
  if (earlier !== undefined && earlier.sequence < sequence) end(step, earlier, fence)
  const { locker } = durable.arbiter
  if (locker === null) return lock(step, request)
  // The node asks again: the LOCKED was lost.
  if (isSame(locker, request)) return sendLocked(step, locker)
  if (durable.waiting.some(other => isSame(other, request))) return answerAgain(step, request, locker)
  wait(step, request)
  answer(step, request, locker)
}

function requestOf(step: Step, node: ParticipantId): Request | undefined {
  const { arbiter, waiting } = step.state.durable
  return arbiter.locker?.node === node ? arbiter.locker : waiting.find(other => other.node === node)
}

const sendFailed = (step: Step, { node, sequence }: Request): void =>
  send(step, node, { type: 'failed', sequence })

function answer(step: Step, request: Request, locker: Request): void {
  const { waiting, arbiter } = step.state.durable
  if (!isSame(waiting[0]!, request) || precedes(locker, request)) return sendFailed(step, request)
  // The request that was first until now hoped for the lock that is being inquired about. As the paper is
  // printed, its node is told nothing, gives nothing back, and the cycle stays closed.
  const displaced = waiting[1]
  if (displaced !== undefined && precedes(displaced, locker)) sendFailed(step, displaced)
  if (step.state.soft.inquiredRound !== arbiter.round) sendInquire(step, locker)
}

function sendInquire(step: Step, { node, sequence }: Request): void {
  const { round } = step.state.durable.arbiter
  step.state.soft.inquiredRound = round
  send(step, node, { type: 'inquire', sequence, round })
}

/** A node that waits asks again until it is locked, so whatever it waits for is said again too. */
function answerAgain(step: Step, request: Request, locker: Request): void {
  const [first] = step.state.durable.waiting
  if (isSame(first!, request) && precedes(request, locker)) return sendInquire(step, locker)
  sendFailed(step, request)
  send(step, locker.node, { type: 'are-you-there', sequence: locker.sequence })
}

/**
 * Step (4). Each lock has its round: a lock that was already given back, or that has ended since, is not
 * meant.
 */
export function onRelinquish(step: Step, { round }: RelinquishMessage): void {
  const { arbiter } = step.state.durable
  if (arbiter.locker === null || arbiter.round !== round) return
  wait(step, arbiter.locker)
  lockFirst(step)
}

/** Step (7). A request that still waits may be over too, because its users have given up. */
export function onRelease(step: Step, from: ParticipantId, { sequence, fence }: ReleaseMessage): void {
  end(step, { node: from, sequence }, fence)
}

/** This request and all earlier ones of its node are over. */
function end(step: Step, { node, sequence }: Request, fence: number): void {
  const { durable, derived } = step.state
  raiseFence(step, fence)
  if (sequence <= (durable.ended[node] ?? 0)) return
  derived.highest = Math.max(derived.highest, sequence)
  durable.ended[node] = sequence
  save(step, endedKey(node), { sequence })
  const known = requestOf(step, node)
  if (known === undefined || known.sequence > sequence) return
  if (known === durable.arbiter.locker) lockFirst(step)
  else stopWaiting(step, known)
}

// ---------------------------------------------------------------- the lock and the queue

/** Locks this node for the waiting request that precedes all others. */
function lockFirst(step: Step): void {
  const { arbiter, waiting } = step.state.durable
  const [first] = waiting
  if (first === undefined) return changeArbiter(step, { round: arbiter.round, locker: null })
  stopWaiting(step, first)
  lock(step, first)
}

function lock(step: Step, request: Request): void {
  changeArbiter(step, { round: step.state.durable.arbiter.round + 1, locker: request })
  sendLocked(step, request)
}

function sendLocked(step: Step, { node, sequence }: Request): void {
  const { arbiter, fence } = step.state.durable
  send(step, node, { type: 'locked', sequence, round: arbiter.round, fence: fence.fence })
}

function wait(step: Step, request: Request): void {
  const { durable } = step.state
  durable.waiting = [...durable.waiting, request].sort(compareRequests)
  save(step, waitingKey(request.node), request)
}

function stopWaiting(step: Step, request: Request): void {
  const { durable } = step.state
  durable.waiting = durable.waiting.filter(other => other !== request)
  forget(step, waitingKey(request.node))
}
