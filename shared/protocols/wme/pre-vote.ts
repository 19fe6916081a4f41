/**
 * From silence to termination. A participant that needs the owner watches it (detector.ts): it asks whether
 * the owner is there, and only an answer counts, because an owner that speaks but hears nobody is of no use.
 * If no answer comes, it asks the others whether they get none either. The epoch is sealed only when a
 * majority agrees, so that one participant that cannot receive does not stop everybody (trap B10). A peer
 * that does hear the owner passes the request on to it instead.
 */
import * as detector from '../../detector.ts'
import type { ParticipantId } from '../protocol.ts'
import { majority } from '../quorum.ts'
import { seal } from './figure-2-termination.ts'
import { lengthOf } from './log.ts'
import { noteJoinAndEndEpoch } from './membership.ts'
import type { AliveMessage, PingMessage, PreVoteMessage, PreVoteReplyMessage } from './messages.ts'
import { needsOwner } from './needs-owner.ts'
import { restartRepeats } from './repeat.ts'
import { nextRound } from './soft.ts'
import type { Round } from './state.ts'
import { askForCatchUp, broadcast, cancelTimer, type Step, send, setTimer } from './step.ts'

// ---------------------------------------------------------------- watching

/**
 * Called at the end of each step: the owner is watched exactly while it is needed, here or by a peer that
 * asked.
 */
export function updateWatch(step: Step): void {
  const { durable, derived, soft } = step.state
  const { self, timing } = step.context.config
  const isNeeded = needsOwner(step) || Object.keys(soft.voters).length > 0
  if (derived.owner === self || durable.epoch.sealed || !isNeeded) return stopWatching(step)
  if (soft.watch?.peer === derived.owner) return
  soft.watch = { peer: derived.owner, silent: false }
  soft.preVote = null
  setTimer(step, 'heartbeat', timing.heartbeatMs)
  setTimer(step, 'suspect', detector.timeoutOf(soft.detector, derived.owner))
  // A participant that is asked about the owner finds out how it is.
  if (Object.keys(soft.voters).length > 0) sendPing(step, derived.owner)
  // An owner that asks to be taken back has lost the token together with everything else.
  if (soft.joins[derived.owner] !== undefined) becomeSilent(step)
}

function stopWatching(step: Step): void {
  const { soft } = step.state
  soft.watch = null
  soft.preVote = null
  soft.voters = {}
  cancelTimer(step, 'heartbeat')
  cancelTimer(step, 'suspect')
}

export function onHeartbeatTimer(step: Step): void {
  const { soft } = step.state
  if (soft.watch === null) return
  sendPing(step, soft.watch.peer)
  setTimer(step, 'heartbeat', step.context.config.timing.heartbeatMs)
}

function sendPing(step: Step, peer: ParticipantId): void {
  const { durable, soft } = step.state
  const joins = { ...soft.joins }
  send(step, peer, { type: 'ping', epoch: durable.epoch.epoch, length: lengthOf(durable), joins })
}

export function onPing(step: Step, from: ParticipantId, message: PingMessage): void {
  for (const [participant, incarnation] of Object.entries(message.joins)) {
    noteJoinAndEndEpoch(step, Number(participant), incarnation)
  }
  if (message.length > lengthOf(step.state.durable)) askForCatchUp(step, from)
  sendAlive(step, from)
}

export function sendAlive(step: Step, to: ParticipantId): void {
  const { durable } = step.state
  send(step, to, { type: 'alive', epoch: durable.epoch.epoch, length: lengthOf(durable) })
}

/** An ALIVE is only ever an answer, so its sender hears this participant. */
export function onAlive(step: Step, from: ParticipantId, message: AliveMessage): void {
  onAnswer(step, from)
  // The owner tells a participant that lags before long. Only one at which somebody waits asks for it.
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
  soft.preVote = null
  setTimer(step, 'suspect', detector.timeoutOf(soft.detector, from))
  for (const voter of Object.keys(soft.voters)) passRequestOn(step, Number(voter), from)
  soft.voters = {}
}

function passRequestOn(step: Step, participant: ParticipantId, owner: ParticipantId): void {
  const { durable, soft } = step.state
  const request = soft.requests.find(queued => queued.participant === participant)
  if (request !== undefined) send(step, owner, { type: 'request', epoch: durable.epoch.epoch, ...request })
}

// ---------------------------------------------------------------- suspecting

/** The owner's time is over, or the transport says that it cannot be reached. */
export function becomeSilent(step: Step): void {
  const { soft } = step.state
  if (soft.watch === null || soft.watch.silent) return
  soft.watch.silent = true
  cancelTimer(step, 'suspect')
  detector.suspect(soft.detector, soft.watch.peer)
  for (const [voter, round] of Object.entries(soft.voters)) agree(step, Number(voter), round)
  soft.voters = {}
  if (needsOwner(step)) startPreVote(step)
}

export function onUnreachable(step: Step, peer: ParticipantId): void {
  if (step.state.soft.watch?.peer === peer) becomeSilent(step)
}

// ---------------------------------------------------------------- asking the others

function startPreVote(step: Step): void {
  const { soft } = step.state
  const { self, participants } = step.context.config
  soft.preVote = { round: nextRound(soft), agreed: new Array(participants + 1).fill(false) }
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
 * Both must speak of the same owner; otherwise the one that is behind catches up first. Their logs may
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
  if (soft.watch !== null) sendPing(step, derived.owner)
}

function agree(step: Step, voter: ParticipantId, round: Round): void {
  const { epoch } = step.state.durable.epoch
  send(step, voter, { type: 'pre-vote-reply', epoch, round })
}

export function onPreVoteReply(step: Step, from: ParticipantId, message: PreVoteReplyMessage): void {
  const { preVote } = step.state.soft
  if (preVote === null || preVote.round !== message.round) return
  preVote.agreed[from] = true
  if (preVote.agreed.filter(Boolean).length >= majority(step.context.config.participants)) seal(step)
}
