/**
 * Section 4, the part of the node i that wants the critical section: steps (1), (3), (5) and (6). It needs
 * the locks of all members of S_i at once. While it has only some of them, it may hold what others need; so
 * when it is asked whether it will succeed, it answers as soon as it knows.
 */
import { admitFirst } from '../lock-only/users.ts'
import type { ParticipantId } from '../protocol.ts'
import type { AreYouThereMessage, FailedMessage, InquireMessage, LockedMessage } from './messages.ts'
import { changeOwn, raiseFence, type Step, send } from './step.ts'

/** Step (1). The sequence number is durable before anybody hears of it. */
export function invoke(step: Step): void {
  const { derived } = step.state
  derived.highest++
  changeOwn(step, { phase: 'requesting', sequence: derived.highest })
  step.state.soft.repeatAttempts = 0
  sendRequests(step)
}

/**
 * Sends to the members that have not sent LOCKED: to all of them at first, and again until they have. This
 * node is one of them.
 */
export function sendRequests(step: Step): void {
  const { own, fence } = step.state.durable
  for (const member of missing(step)) {
    send(step, member, { type: 'request', sequence: own.sequence, fence: fence.fence })
  }
}

export function missing(step: Step): ParticipantId[] {
  const { derived, soft } = step.state
  return derived.members.filter(member => soft.locked[member] === undefined)
}

// ---------------------------------------------------------------- what the members say

type Answer = LockedMessage | FailedMessage | InquireMessage | AreYouThereMessage

export function onAnswer(step: Step, from: ParticipantId, message: Answer): void {
  const { phase, sequence } = step.state.durable.own
  if (phase === 'idle' || sequence !== message.sequence) return sayItIsOver(step, from, message)
  switch (message.type) {
    case 'locked':
      return phase === 'requesting' ? onLocked(step, from, message) : undefined
    case 'failed':
      return phase === 'requesting' ? onFailed(step, from) : undefined
    case 'inquire':
      return phase === 'requesting' ? onInquire(step, from, message) : noteWaitingNode(step)
    case 'are-you-there':
      return phase === 'inside' ? noteWaitingNode(step) : undefined
    default:
      return message satisfies never
  }
}

/**
 * The arbiter is locked for a request that is over: the RELEASE did not reach it, or it crossed this message.
 */
function sayItIsOver(step: Step, arbiter: ParticipantId, { type, sequence }: Answer): void {
  if (type !== 'failed') sendRelease(step, arbiter, sequence)
}

function onLocked(step: Step, member: ParticipantId, { round, fence }: LockedMessage): void {
  const { durable, soft } = step.state
  // This lock was given back. If the arbiter still says LOCKED, the RELINQUISH was lost.
  if (round <= (durable.own.relinquished[member] ?? 0)) return sendRelinquish(step, member, round)
  soft.locked[member] = { round, fence }
}

function onFailed(step: Step, member: ParticipantId): void {
  step.state.soft.failed[member] = true
  answerInquiries(step)
}

/** Step (3). */
function onInquire(step: Step, member: ParticipantId, { round }: InquireMessage): void {
  const { durable, soft } = step.state
  if (round <= (durable.own.relinquished[member] ?? 0)) return sendRelinquish(step, member, round)
  // This holds also if the LOCKED has not arrived yet: it will be here when this node knows whether it
  // succeeds.
  soft.inquired[member] = round
  answerInquiries(step)
}

/**
 * As the paper is printed, an INQUIRE is answered when it arrives. Here it is also answered when the FAILED
 * arrives that decides the answer.
 */
function answerInquiries(step: Step): void {
  const { derived, soft } = step.state
  if (!derived.members.some(member => hasFailed(step, member))) return
  for (const [member, round] of Object.entries(soft.inquired)) relinquish(step, Number(member), round)
}

/**
 * A member whose lock was given back counts as failed, like one that never was locked, until it is locked
 * again. A FAILED that arrives after the LOCKED is late: nobody else can have what this node holds and has
 * not given back.
 */
function hasFailed(step: Step, member: ParticipantId): boolean {
  const { durable, soft } = step.state
  if (soft.locked[member] !== undefined) return false
  return soft.failed[member] === true || durable.own.relinquished[member] !== undefined
}

/**
 * Durable before it is sent: a lock that was given back must not count again after a crash because its LOCKED
 * is repeated.
 */
function relinquish(step: Step, member: ParticipantId, round: number): void {
  const { durable, soft } = step.state
  delete soft.locked[member]
  delete soft.inquired[member]
  changeOwn(step, { relinquished: { ...durable.own.relinquished, [member]: round } })
  sendRelinquish(step, member, round)
}

function sendRelinquish(step: Step, member: ParticipantId, round: number): void {
  send(step, member, { type: 'relinquish', sequence: step.state.durable.own.sequence, round })
}

function noteWaitingNode(step: Step): void {
  step.state.soft.isWaitedFor = true
}

// ---------------------------------------------------------------- in and out

/**
 * Step (5). Every earlier grant, including this node's own last one, was under a request that shares a member
 * with this one. That member was told the grant's fence before it was locked for this request.
 */
export function enter(step: Step): void {
  const fences = Object.values(step.state.soft.locked).map(({ fence }) => fence)
  changeOwn(step, { phase: 'inside' })
  admit(step, Math.max(...fences) + 1)
}

function admit(step: Step, fence: number): void {
  raiseFence(step, fence)
  admitFirst(step, fence)
}

/** Whether the next local user may follow the last one without giving another node a chance. */
export function mayHandOver(step: Step): boolean {
  return !isWaitedFor(step) || step.state.durable.own.handoffs < step.context.config.localHandoffs
}

/** As far as this node knows. A node that waits elsewhere makes itself heard by asking twice. */
function isWaitedFor(step: Step): boolean {
  const { durable, soft } = step.state
  return soft.isWaitedFor || durable.waiting.length > 0 || Object.keys(soft.inquired).length > 0
}

export function handOver(step: Step): void {
  const { own, fence } = step.state.durable
  if (isWaitedFor(step)) changeOwn(step, { handoffs: own.handoffs + 1 })
  admit(step, fence.fence + 1)
}

/**
 * Step (6); also called when nobody wants the critical section any longer before it was reached. The next
 * request begins afresh.
 */
export function leave(step: Step): void {
  const { durable, derived, soft } = step.state
  changeOwn(step, { phase: 'idle', relinquished: {}, handoffs: 0 })
  soft.locked = {}
  soft.failed = {}
  soft.inquired = {}
  soft.isWaitedFor = false
  for (const member of derived.members) sendRelease(step, member, durable.own.sequence)
}

function sendRelease(step: Step, member: ParticipantId, sequence: number): void {
  send(step, member, { type: 'release', sequence, fence: step.state.durable.fence.fence })
}
