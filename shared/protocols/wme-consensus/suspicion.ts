/**
 * ◇P at work (detector.ts). A participant that waits watches those it waits for: the coordinator, and the
 * participant of the holder. When one of them falls silent, it asks the others whether they hear nothing
 * either, so that a participant that cannot receive does not disturb everybody (trap B10). If a majority
 * agrees, a silent coordinator is replaced, and a silent holder is ejected.
 *
 * Only the answer to a ping is a sign of life: a participant that can send but hears nothing is of no use.
 */
import * as detector from '../../detector.ts'
import type { ParticipantId } from '../protocol.ts'
import { majority } from '../quorum.ts'
import { startBallot } from './ballots.ts'
import { coordinatorOf, promise } from './log.ts'
import type { AliveMessage, InquiryMessage, InquiryReplyMessage, PingMessage } from './messages.ts'
import { passOn } from './requests.ts'
import type { Round } from './state.ts'
import { askForCatchUp, cancelTimer, nextRound, type Step, send, setTimer, submitEjection } from './step.ts'
import { isQueued, isWaiting } from './waiting.ts'

// ---------------------------------------------------------------- watching

/** The peers without which what is waited for here does not come. */
function neededPeers(step: Step): ParticipantId[] {
  const { acceptor, machine } = step.state.durable
  if (!isWaiting(step)) return []
  const needed = new Set([coordinatorOf(acceptor.promised)])
  if (machine.holder !== null && isQueued(step)) needed.add(machine.holder.participant)
  needed.delete(step.context.config.self)
  return [...needed]
}

/**
 * Called at the end of each step: peers are watched exactly while they are needed, here or by a participant
 * that asked.
 */
export function updateWatch(step: Step): void {
  const { soft } = step.state
  const needed = neededPeers(step)
  const watched = [...new Set([...needed, ...Object.keys(soft.voters).map(Number)])]
  for (const peer of watched) {
    if (!soft.watched.includes(peer)) soft.heardAt[peer] = step.now
  }
  soft.watched = watched
  soft.silent = soft.silent.filter(peer => watched.includes(peer))
  for (const about of Object.keys(soft.inquiries)) {
    if (!needed.includes(Number(about))) delete soft.inquiries[about]
  }
  if (watched.length === 0) cancelTimer(step, 'heartbeat')
  else if (!soft.timers.heartbeat) setTimer(step, 'heartbeat', step.context.config.timing.heartbeatMs)
}

export function onHeartbeatTimer(step: Step): void {
  const { soft } = step.state
  for (const peer of soft.watched) {
    sendPing(step, peer)
    const silentMs = step.now - soft.heardAt[peer]!
    if (soft.silent.includes(peer) || silentMs >= detector.timeoutOf(soft.detector, peer))
      becomeSilent(step, peer)
  }
}

/** Only the first such word says something new: the heartbeat repeats the question. */
export function onUnreachable(step: Step, peer: ParticipantId): void {
  const { watched, silent } = step.state.soft
  if (watched.includes(peer) && !silent.includes(peer)) becomeSilent(step, peer)
}

function position(step: Step): { ballot: number; decided: number } {
  const { acceptor, machine } = step.state.durable
  return { ballot: acceptor.promised, decided: machine.applied }
}

function sendPing(step: Step, peer: ParticipantId): void {
  send(step, peer, { type: 'ping', ...position(step) })
}

function sendAlive(step: Step, to: ParticipantId): void {
  send(step, to, { type: 'alive', ...position(step) })
}

export function onPing(step: Step, from: ParticipantId, message: PingMessage): void {
  learn(step, from, message)
  sendAlive(step, from)
}

export function onAlive(step: Step, from: ParticipantId, message: AliveMessage): void {
  const { soft } = step.state
  learn(step, from, message)
  detector.heard(soft.detector, from, step.context.config.timing)
  soft.heardAt[from] = step.now
  soft.silent = soft.silent.filter(peer => peer !== from)
  delete soft.inquiries[from]
  for (const voter of Object.keys(soft.voters[from] ?? {})) passOn(step, Number(voter), from)
  delete soft.voters[from]
}

/** A peer that is further ahead, or has seen a higher ballot, is believed. */
function learn(step: Step, from: ParticipantId, message: { ballot: number; decided: number }): void {
  promise(step, message.ballot)
  if (message.decided > step.state.durable.machine.applied) askForCatchUp(step, from)
}

// ---------------------------------------------------------------- asking the others

function becomeSilent(step: Step, peer: ParticipantId): void {
  const { soft } = step.state
  detector.suspect(soft.detector, peer)
  if (!soft.silent.includes(peer)) soft.silent.push(peer)
  for (const [voter, round] of Object.entries(soft.voters[peer] ?? {}))
    agree(step, Number(voter), peer, round)
  delete soft.voters[peer]
  if (neededPeers(step).includes(peer)) inquire(step, peer)
}

/** The question is repeated at each heartbeat, under the same name, until it is answered or refuted. */
function inquire(step: Step, about: ParticipantId): void {
  const { soft } = step.state
  const { self, participants } = step.context.config
  let inquiry = soft.inquiries[about]
  if (inquiry === undefined) {
    inquiry = { round: nextRound(soft), agreed: new Array(participants + 1).fill(false) }
    inquiry.agreed[self] = true
    soft.inquiries[about] = inquiry
  }
  for (let peer = 1; peer <= participants; peer++) {
    if (peer !== self && peer !== about)
      send(step, peer, { type: 'inquiry', about, round: inquiry.round, ...position(step) })
  }
}

/**
 * Both must have applied as much and seen the same ballot, or they may speak of different coordinators and
 * holders.
 */
export function onInquiry(step: Step, from: ParticipantId, message: InquiryMessage): void {
  const { soft } = step.state
  const { about, round } = message
  const own = position(step)
  learn(step, from, message)
  if (message.ballot > own.ballot || message.decided > own.decided) return
  if (message.ballot < own.ballot || message.decided < own.decided) return sendAlive(step, from)
  if (about === step.context.config.self) return sendAlive(step, from)
  if (soft.silent.includes(about)) agree(step, from, about, round)
  else soft.voters[about] = { ...soft.voters[about], [from]: round }
  // A participant that is asked about a peer finds out how that peer is.
  sendPing(step, about)
}

function agree(step: Step, voter: ParticipantId, about: ParticipantId, round: Round): void {
  send(step, voter, { type: 'inquiry-reply', about, round })
}

export function onInquiryReply(step: Step, from: ParticipantId, message: InquiryReplyMessage): void {
  const { durable, soft } = step.state
  const { about, round } = message
  const inquiry = soft.inquiries[about]
  if (inquiry?.round !== round) return
  inquiry.agreed[from] = true
  if (inquiry.agreed.filter(Boolean).length < majority(step.context.config.participants)) return
  delete soft.inquiries[about]
  const { acceptor, machine } = durable
  if (machine.holder?.participant === about && isQueued(step))
    submitEjection(step, { kind: 'eject', fence: machine.holder.fence, reason: 'suspected' })
  if (coordinatorOf(acceptor.promised) === about) startBallot(step)
}
