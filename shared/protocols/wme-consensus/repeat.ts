/**
 * What is unanswered, and therefore repeated (traps C1-C4; ../retransmission.ts). Only what somebody waits
 * for is repeated forever; the rest is repeated `idleRepeats` times.
 */

import { endAsking, isAsking, passOver } from '../asking.ts'
import type { ParticipantId } from '../protocol.ts'
import { countRepeat, keepRepeating } from '../retransmission.ts'
import { repeatPrepare } from './candidacy.ts'
import { repeatSnapshotRequest, sendCatchUp } from './catch-up.ts'
import { ownCommands, sendProposalsTo } from './instances.ts'
import { baseOf, isCoordinator, lengthOf } from './log.ts'
import { coordinatorOf, isAlone, membersOf, peersOf } from './members.ts'
import { sayStillWaiting, sendRequest } from './requests.ts'
import { type Step, send } from './step.ts'
import { isAskedFor, isQueued, isWaiting } from './waiting.ts'

export function armRepeatTimer(step: Step): void {
  const isWanted = isUnanswered(step)
  // Nobody waits for the answer any longer: the next time somebody needs it, it is asked for anew.
  if (!isWanted) endAsking(step.state.soft)
  keepRepeating(step, isWanted)
}

function isUnanswered(step: Step): boolean {
  const { durable, soft } = step.state
  const { status } = durable.membership
  if (status !== 'member') return soft.incoming !== null
  if (isAlone(step)) return false
  if (ownCommands(step).length > 0 || isQueued(step) || soft.incoming !== null) return true
  if (!isWaitedFor(step) && soft.idleRepeats >= step.context.config.limits.idleRepeats) return false
  if (soft.candidacy !== null || isAsking(soft)) return true
  return laggards(step).length > 0 || isUncertain(step)
}

/** Whether somebody waits here, or elsewhere and this participant is, or is to be, the coordinator. */
function isWaitedFor(step: Step): boolean {
  if (isWaiting(step)) return true
  return isAskedFor(step) && (isCoordinator(step) || step.state.soft.candidacy !== null)
}

/** The coordinator makes sure that all accept what it has proposed. */
function laggards(step: Step): ParticipantId[] {
  const { durable, soft } = step.state
  if (!isCoordinator(step)) return []
  return peersOf(step).filter(peer => (soft.acknowledged.through[peer] ?? 0) < lengthOf(durable))
}

/** Whether something was accepted here whose decision has not come. */
function isUncertain(step: Step): boolean {
  const { durable } = step.state
  return !isCoordinator(step) && lengthOf(durable) > durable.machine.applied
}

export function onRepeatTimer(step: Step): void {
  const { soft } = step.state
  const { idleRepeats } = step.context.config.limits
  countRepeat(step)
  soft.idleRepeats = Math.min(soft.idleRepeats + 1, idleRepeats)
  passOver(soft)
  repeatSnapshotRequest(step)
  if (step.state.durable.membership.status !== 'member') return
  sendRequest(step)
  sayStillWaiting(step)
  repeatPrepare(step)
  for (const peer of laggards(step)) repeatProposals(step, peer)
  if (isUncertain(step)) askAnyPeer(step)
}

function repeatProposals(step: Step, peer: ParticipantId): void {
  const { durable, soft } = step.state
  // After a restart it is not known how far the others are. A participant that is further behind than this
  // says so.
  const after = (soft.acknowledged.through[peer] ?? 0) || durable.machine.applied
  if (after < baseOf(durable)) sendCatchUp(step, peer, after)
  else sendProposalsTo(step, peer, after)
}

/**
 * Asks the coordinator and, if it does not answer, the others in turn. None of them is known to know more.
 */
function askAnyPeer(step: Step): void {
  const { durable, soft } = step.state
  const { self } = step.context.config
  const members = membersOf(step)
  const first = coordinatorOf(step)
  soft.guesses = (soft.guesses + 1) % members.length
  let peer = members[(members.indexOf(first) + soft.guesses) % members.length]!
  if (peer === self) peer = first
  if (peer !== self) send(step, peer, { type: 'catch-up-request', decided: durable.machine.applied })
}
