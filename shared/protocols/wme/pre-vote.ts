/**
 * L17: from silence to termination. A participant that needs the owner watches it (detector.ts): it asks
 * whether the owner is there, and only an answer counts, because an owner that speaks but hears nobody is of
 * no use. If no answer comes, it asks the others whether they get none either. The epoch is sealed only when
 * a majority agrees, so that one participant that cannot receive does not stop everybody (trap B10). A peer
 * that does hear the owner passes the request on to it instead.
 */
import * as detector from '../../detector.ts'
import type { ParticipantId } from '../protocol.ts'
import { seal } from './figure-2-termination.ts'
import { lengthOf } from './log.ts'
import { majorityOf } from './members.ts'
import { noteJoinAndEndEpoch } from './membership.ts'
import type { AliveMessage, PingMessage, PreVoteMessage, PreVoteReplyMessage } from './messages.ts'
import { isNeededElsewhere, needsOwner } from './needs-owner.ts'
import { restartRepeats } from './repeat.ts'
import { nextRound } from './soft.ts'
import type { Round, Watch } from './state.ts'
import { askForCatchUp, broadcast, cancelTimer, type Step, send, setTimer } from './step.ts'

/** The part of a time-out by which its end may be noticed late. */
const LATE = 1 / 4

// ---------------------------------------------------------------- watching

/**
 * Called at the end of each step: the owner is watched exactly while it is needed, here, by a participant
 * that asked for the token, or by a peer that asked about the owner.
 */
export function updateWatch(step: Step): void {
  const { durable, derived, soft } = step.state
  const { self } = step.context.config
  const isAsked = Object.keys(soft.voters).length > 0
  const isNeeded = needsOwner(step) || isAsked || isNeededElsewhere(step)
  if (derived.owner === self || durable.epoch.sealed || !isNeeded) return stopWatching(step)
  if (soft.watch?.peer === derived.owner) {
    // It fell silent while it was watched for somebody else, and now it is needed here.
    if (soft.watch.silent && soft.preVote === null && needsOwner(step)) startPreVote(step)
    return
  }
  soft.watch = { peer: derived.owner, silent: false, dueAt: 0, isExcused: false }
  soft.preVote = null
  detector.beginAsking(soft.detector, derived.owner)
  // A participant that is asked about the owner finds out how it is.
  if (isAsked) ping(step, soft.watch)
  else awaitNextPing(step, soft.watch)
  // An owner that asks to be taken back has lost the token together with everything else.
  if (soft.joins[derived.owner] !== undefined) becomeSilent(step, 'unreachable')
}

function stopWatching(step: Step): void {
  const { soft } = step.state
  soft.watch = null
  soft.preVote = null
  soft.voters = {}
  cancelTimer(step, 'heartbeat')
  cancelTimer(step, 'suspect')
}

const timeoutOf = (step: Step, peer: ParticipantId): number =>
  detector.timeoutOf(step.state.soft.detector, peer, step.context.config.timing, step.now)

const pauseOf = (step: Step, peer: ParticipantId): number =>
  detector.pauseOf(step.state.soft.detector, peer, step.context.config.timing, step.now)

/** The owner has time until the next ping, and after it as long as an answer may take. */
function awaitNextPing(step: Step, watch: Watch): void {
  const pauseMs = pauseOf(step, watch.peer)
  setTimer(step, 'heartbeat', pauseMs)
  awaitAnswer(step, watch, pauseMs + timeoutOf(step, watch.peer))
}

function awaitAnswer(step: Step, watch: Watch, timeMs: number): void {
  watch.dueAt = step.now + timeMs
  setTimer(step, 'suspect', timeMs)
}

export function onHeartbeatTimer(step: Step): void {
  const { watch } = step.state.soft
  if (watch !== null) ping(step, watch)
}

/** The owner's time runs from the first ping that it has not answered, also if that one was late to leave. */
function ping(step: Step, watch: Watch): void {
  const { soft } = step.state
  const isFirst = !detector.isUnanswered(soft.detector, watch.peer)
  sendPing(step, watch.peer)
  setTimer(step, 'heartbeat', pauseOf(step, watch.peer))
  if (isFirst && !watch.silent) awaitAnswer(step, watch, timeoutOf(step, watch.peer))
}

function sendPing(step: Step, peer: ParticipantId): void {
  const { durable, soft } = step.state
  const joins = { ...soft.joins }
  const name = detector.noteAsked(soft.detector, peer, step.now)
  const length = lengthOf(durable)
  send(step, peer, { type: 'ping', epoch: durable.epoch.epoch, length, joins, ping: name })
}

export function onPing(step: Step, from: ParticipantId, message: PingMessage): void {
  for (const [participant, incarnation] of Object.entries(message.joins)) {
    noteJoinAndEndEpoch(step, Number(participant), incarnation)
  }
  if (message.length > lengthOf(step.state.durable)) askForCatchUp(step, from)
  sendAlive(step, from, message.ping)
}

export function sendAlive(step: Step, to: ParticipantId, ping?: number): void {
  const { durable } = step.state
  const answers = ping === undefined ? {} : { ping }
  send(step, to, { type: 'alive', epoch: durable.epoch.epoch, length: lengthOf(durable), ...answers })
}

/** An ALIVE is only ever an answer, so its sender hears this participant. */
export function onAlive(step: Step, from: ParticipantId, message: AliveMessage): void {
  if (message.ping !== undefined)
    detector.noteAnswered(step.state.soft.detector, from, message.ping, step.now)
  onAnswer(step, from)
  // The owner tells a participant that lags before long. Only one at which somebody waits asks (Q4).
  if (message.length > lengthOf(step.state.durable) && needsOwner(step)) askForCatchUp(step, from)
}

/** Any message of this epoch is a sign of life, except from the owner that is watched. */
export function onSignOfLife(step: Step, from: ParticipantId): void {
  const { soft } = step.state
  if (soft.watch?.peer !== from) detector.heard(soft.detector, from, step.context.config.timing)
}

/** The sender has heard a question of this participant, and answers it. */
export function onAnswer(step: Step, from: ParticipantId): void {
  const { soft } = step.state
  detector.heard(soft.detector, from, step.context.config.timing)
  if (soft.watch?.peer !== from) return
  soft.watch.silent = false
  soft.watch.isExcused = false
  soft.preVote = null
  awaitNextPing(step, soft.watch)
  for (const voter of Object.keys(soft.voters)) passRequestOn(step, Number(voter), from)
  soft.voters = {}
}

function passRequestOn(step: Step, participant: ParticipantId, owner: ParticipantId): void {
  const { durable, soft } = step.state
  const request = soft.requests.find(queued => queued.participant === participant)
  if (request !== undefined) send(step, owner, { type: 'request', epoch: durable.epoch.epoch, ...request })
}

// ---------------------------------------------------------------- suspecting

/**
 * The owner's time is over. If that is noticed late, this participant itself has stood still, and the answer
 * may be here without having been read. So the owner gets its time once more.
 */
export function onSuspectTimer(step: Step): void {
  const { watch } = step.state.soft
  if (watch === null || watch.silent) return
  const timeoutMs = timeoutOf(step, watch.peer)
  if (watch.isExcused || step.now - watch.dueAt <= timeoutMs * LATE) return becomeSilent(step, 'late')
  watch.isExcused = true
  ping(step, watch)
  awaitAnswer(step, watch, timeoutMs)
}

/** The owner's time is over, or the transport says that it cannot be reached. */
function becomeSilent(step: Step, cause: detector.Cause): void {
  const { soft } = step.state
  if (soft.watch === null || soft.watch.silent) return
  soft.watch.silent = true
  cancelTimer(step, 'suspect')
  detector.suspect(soft.detector, soft.watch.peer, cause)
  for (const [voter, round] of Object.entries(soft.voters)) agree(step, Number(voter), round)
  soft.voters = {}
  if (needsOwner(step)) startPreVote(step)
}

export function onUnreachable(step: Step, peer: ParticipantId): void {
  if (step.state.soft.watch?.peer === peer) becomeSilent(step, 'unreachable')
}

// ---------------------------------------------------------------- asking the others

function startPreVote(step: Step): void {
  const { soft } = step.state
  const { self } = step.context.config
  soft.preVote = { round: nextRound(soft), agreed: new Array(soft.acknowledged.length).fill(false) }
  soft.preVote.agreed[self] = true
  sendPreVote(step)
  restartRepeats(step)
}

export function sendPreVote(step: Step): void {
  const { durable, derived, soft } = step.state
  const { epoch } = durable.epoch
  const { owner } = derived
  broadcast(step, { type: 'pre-vote', epoch, length: lengthOf(durable), owner, round: soft.preVote!.round })
}

/**
 * Q3: both must speak of the same owner; otherwise the one that is behind catches up first. Their logs may
 * differ: a participant may lag behind another by some operations (replicate.ts).
 */
export function onPreVote(step: Step, from: ParticipantId, message: PreVoteMessage): void {
  const { durable, derived, soft } = step.state
  const { self } = step.context.config
  const length = lengthOf(durable)
  const isSameOwner = message.length === length || message.owner === derived.owner
  if (message.length > length && !isSameOwner) return askForCatchUp(step, from)
  if (!isSameOwner || derived.owner === self) return sendAlive(step, from)
  if (from === derived.owner) return
  // A suspicion from before may be out of date: it counts only while the owner is watched.
  if (soft.watch?.silent) agree(step, from, message.round)
  else soft.voters[from] = message.round
  if (soft.watch !== null) ping(step, soft.watch)
}

function agree(step: Step, voter: ParticipantId, round: Round): void {
  const { epoch } = step.state.durable.epoch
  send(step, voter, { type: 'pre-vote-reply', epoch, round })
}

export function onPreVoteReply(step: Step, from: ParticipantId, message: PreVoteReplyMessage): void {
  const { preVote } = step.state.soft
  if (preVote === null || preVote.round !== message.round) return
  preVote.agreed[from] = true
  if (preVote.agreed.filter(Boolean).length >= majorityOf(step)) seal(step)
}
