/**
 * ◇P at work (detector.ts). A participant that waits watches those it waits for: the coordinator, and the
 * participant of the holder. When one of them falls silent, it asks the others whether they hear nothing
 * either, so that a participant that cannot receive does not disturb everybody (trap B10). If a majority
 * agrees, a silent coordinator is replaced, and a silent holder is ejected by a command (P4).
 *
 * Only the answer to a ping is a sign of life: a participant that can send but hears nothing is of no use.
 */

import * as detector from '../../detector.ts'
import { slots } from '../members/sets.ts'
import type { ParticipantId } from '../protocol.ts'
import { startBallot } from './candidacy.ts'
import { noteHeard } from './change-of-members.ts'
import type { Command } from './commands.ts'
import { ownCommands } from './instances.ts'
import { promise } from './log.ts'
import { coordinatorOf, isMember, majorityOf, membersOf, peersOf } from './members.ts'
import type { AliveMessage, InquiryMessage, InquiryReplyMessage, PingMessage } from './messages.ts'
import { position, sendAlive, sendPing } from './ping.ts'
import { passOn } from './requests.ts'
import type { Holder, Round } from './state.ts'
import { askForCatchUp, cancelTimer, nextRound, type Step, send, setTimer, submitEjection } from './step.ts'
import { isQueued, isWaiting, isWaitingElsewhere } from './waiting.ts'

/** The part of a time-out by which its end may be noticed late. */
const LATE = 1 / 4

// ---------------------------------------------------------------- watching

/**
 * The peers without which what is waited for here, or elsewhere, does not come. The holder is one as soon as
 * somebody asks for the lock, so that a coordinator that holds it falls silent once for both.
 */
function peersFor(step: Step, isWaiting: boolean, wantsLock: boolean): ParticipantId[] {
  const { machine } = step.state.durable
  if (!isWaiting) return []
  const needed = new Set([coordinatorOf(step)])
  if (machine.holder !== null && wantsLock) needed.add(machine.holder.participant)
  needed.delete(step.context.config.self)
  return [...needed]
}

const asksForLock = (commands: readonly Command[]): boolean => commands.some(({ kind }) => kind === 'enter')

const neededPeers = (step: Step): ParticipantId[] =>
  peersFor(step, isWaiting(step), isQueued(step) || asksForLock(ownCommands(step)))

function peersNeededElsewhere(step: Step): ParticipantId[] {
  const { durable, soft } = step.state
  const wantsLock = durable.machine.queue.length > 0 || asksForLock(soft.requested)
  return peersFor(step, isWaitingElsewhere(step), wantsLock)
}

/**
 * Called at the end of each step: peers are watched exactly while they are needed, here or by a participant
 * that asked. Whoever hears that another participant waits watches the same peers, so that a question about a
 * silent one finds it already known.
 */
export function updateWatch(step: Step): void {
  const { soft } = step.state
  const needed = neededPeers(step)
  const elsewhere = peersNeededElsewhere(step)
  for (const about of Object.keys(soft.voters)) if (!isMember(step, Number(about))) delete soft.voters[about]
  const watched = [...new Set([...needed, ...elsewhere, ...Object.keys(soft.voters).map(Number)])]
  const fresh = watched.filter(peer => !soft.watched.includes(peer))
  for (const peer of fresh) {
    detector.beginAsking(soft.detector, peer)
    // A participant that is asked about a peer finds out how that peer is.
    if (soft.voters[peer] !== undefined) sendPing(step, peer)
  }
  soft.watched = watched
  soft.silent = soft.silent.filter(peer => watched.includes(peer))
  for (const about of Object.keys(soft.inquiries)) {
    if (!needed.includes(Number(about))) delete soft.inquiries[about]
  }
  askAboutSilentHolder(step)
  if (watched.length === 0) cancelTimer(step, 'heartbeat')
  else if (fresh.length > 0 || !soft.timers.heartbeat) hastenHeartbeat(step)
}

/** The holder fell silent before the request was decided, and now the answers of the others eject it. */
function askAboutSilentHolder(step: Step): void {
  const { silent, inquiries } = step.state.soft
  const about = holderToEject(step)?.participant
  if (about !== undefined && silent.includes(about) && inquiries[about] === undefined) inquire(step, about)
}

/** One timer serves all: it fires when the first of the watched peers is to be pinged. */
function pauseOf(step: Step): number {
  const { soft } = step.state
  const { timing } = step.context.config
  return Math.min(...soft.watched.map(peer => detector.pauseOf(soft.detector, peer, timing, step.now)))
}

function setHeartbeat(step: Step, pauseMs: number): void {
  step.state.soft.beat.dueAt = step.now + pauseMs
  setTimer(step, 'heartbeat', pauseMs)
}

/** A timer that is set for an earlier time is early enough. */
function hastenHeartbeat(step: Step): void {
  const { beat, timers } = step.state.soft
  const pauseMs = pauseOf(step)
  if (!timers.heartbeat || step.now + pauseMs < beat.dueAt) setHeartbeat(step, pauseMs)
}

/**
 * If the timer is noticed late, this participant itself has stood still, and answers may be here without
 * having been read: once, nobody is suspected then.
 */
export function onHeartbeatTimer(step: Step): void {
  const { soft } = step.state
  const { timing } = step.context.config
  const lateMs = step.now - soft.beat.dueAt
  const wasExcused = soft.beat.isExcused
  const mayRepeat = isTimeToRepeat(step)
  soft.beat.isExcused = false
  for (const peer of soft.watched) {
    const isSilent = soft.silent.includes(peer)
    if (isSilent && !mayRepeat) continue
    const isLate = lateMs > LATE * detector.timeoutOf(soft.detector, peer, timing, step.now)
    if (isLate && !wasExcused) soft.beat.isExcused = true
    else if (isSilent || detector.isOverdue(soft.detector, peer, timing, step.now))
      becomeSilent(step, peer, 'late')
    sendPing(step, peer)
  }
}

/**
 * The timer may fire often for the sake of one peer. The question about another one that is silent, and what
 * follows from the answers, comes again only at each heartbeat.
 */
function isTimeToRepeat(step: Step): boolean {
  const { beat } = step.state.soft
  const { heartbeatMs } = step.context.config.timing
  if (beat.repeatedAt !== null && Math.abs(step.now - beat.repeatedAt) < 0.75 * heartbeatMs) return false
  beat.repeatedAt = step.now
  return true
}

/** Only the first such word says something new: the heartbeat repeats the question. */
export function onUnreachable(step: Step, peer: ParticipantId): void {
  const { watched, silent } = step.state.soft
  if (watched.includes(peer) && !silent.includes(peer)) becomeSilent(step, peer, 'unreachable')
}

export function onPing(step: Step, from: ParticipantId, message: PingMessage): void {
  learn(step, from, message)
  sendAlive(step, from, message.ping)
}

export function onAlive(step: Step, from: ParticipantId, message: AliveMessage): void {
  const { soft } = step.state
  learn(step, from, message)
  noteHeard(step, from)
  if (message.ping !== undefined) detector.noteAnswered(soft.detector, from, message.ping, step.now)
  detector.heard(soft.detector, from, step.context.config.timing)
  soft.silent = soft.silent.filter(peer => peer !== from)
  // The next ping has time now.
  if (soft.watched.includes(from)) setHeartbeat(step, pauseOf(step))
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

function becomeSilent(step: Step, peer: ParticipantId, cause: detector.Cause): void {
  const { soft } = step.state
  detector.suspect(soft.detector, peer, cause)
  if (!soft.silent.includes(peer)) soft.silent.push(peer)
  for (const [voter, round] of Object.entries(soft.voters[peer] ?? {}))
    agree(step, Number(voter), peer, round)
  delete soft.voters[peer]
  if (neededPeers(step).includes(peer)) inquire(step, peer)
}

/** The question is repeated at each heartbeat, under the same name, until it is answered or refuted. */
function inquire(step: Step, about: ParticipantId): void {
  const { soft } = step.state
  const { config } = step.context
  let inquiry = soft.inquiries[about]
  if (inquiry === undefined) {
    const size = slots(config, step.state.durable.machine)
    inquiry = { round: nextRound(soft), agreed: new Array(size).fill(false) }
    inquiry.agreed[config.self] = true
    soft.inquiries[about] = inquiry
  }
  for (const peer of peersOf(step))
    if (peer !== about) send(step, peer, { type: 'inquiry', about, round: inquiry.round, ...position(step) })
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
  if (soft.watched.includes(about)) sendPing(step, about)
}

function agree(step: Step, voter: ParticipantId, about: ParticipantId, round: Round): void {
  send(step, voter, { type: 'inquiry-reply', about, round })
}

export function onInquiryReply(step: Step, from: ParticipantId, message: InquiryReplyMessage): void {
  const { soft } = step.state
  const { about, round } = message
  const inquiry = soft.inquiries[about]
  if (inquiry?.round !== round) return
  inquiry.agreed[from] = true
  if (membersOf(step).filter(member => inquiry.agreed[member]).length < majorityOf(step)) return
  delete soft.inquiries[about]
  const holder = holderToEject(step)
  if (holder?.participant === about)
    submitEjection(step, { kind: 'eject', fence: holder.fence, reason: 'suspected' })
  if (coordinatorOf(step) === about) startBallot(step)
}

/** Whom this participant waits for. What is submitted already is repeated in its own time. */
function holderToEject(step: Step): Holder | null {
  const { durable, soft } = step.state
  const { holder } = durable.machine
  if (holder === null || !isQueued(step) || soft.ejection?.fence === holder.fence) return null
  return holder.participant === step.context.config.self ? null : holder
}
