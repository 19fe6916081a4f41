/**
 * Deciding, instance by instance. After the preliminary broadcast (requests.ts) the coordinator proposes the
 * command in the next free instance; the others accept it and say so; what a majority has accepted in one
 * ballot is decided (P2).
 *
 * The two forms of Table 1 differ in who receives the acknowledgements:
 *   latency-optimal   all, and each concludes for itself: 3 steps with the broadcast, (N-1)(N+1) messages;
 *   message-optimal   the coordinator, which tells the others what is decided: 4 steps, 4(N-1) messages.
 */

import { configIn } from '../members/sets.ts'
import type { ParticipantId } from '../protocol.ts'
import { reachedByMajorityOf } from '../quorum.ts'
import { changeToPropose, ownChanges } from './change-of-members.ts'
import { type Command, isOver, isSameCommand, LANES } from './commands.ts'
import {
  accept,
  acceptedThrough,
  assertSameLog,
  baseOf,
  commandsForMessage,
  digestThrough,
  hasOpenChange,
  isCoordinator,
  knownDigest,
  lengthOf,
  ofConfig,
  promise,
  undecided,
  weightOf,
} from './log.ts'
import { membersOf, peersOf } from './members.ts'
import type { AckMessage, DecisionMessage, ProposeMessage } from './messages.ts'
import type { Durable } from './state.ts'
import { applyThrough } from './state-machine.ts'
import { askForCatchUp, broadcast, restartRepeats, type Step, send } from './step.ts'

const isMessageOptimal = (step: Step): boolean => step.context.config.options?.consensus === 'message-optimal'

// ---------------------------------------------------------------- the coordinator proposes

/** This participant's own commands that are not decided yet. */
export function ownCommands(step: Step): Command[] {
  const { durable, soft } = step.state
  const own: Command[] = LANES.flatMap(lane => durable.lanes[lane].command ?? [])
  if (soft.ejection !== null) own.push(soft.ejection)
  return [...own, ...ownChanges(step)]
}

/**
 * Called at the end of each step: commands that are in no instance yet get one. Returns whether there were
 * any.
 */
export function proposeAwaited(step: Step): boolean {
  const { durable } = step.state
  if (!isCoordinator(step)) return false
  // Who decides what follows a change of the members is not known before the change is decided (rule P7).
  if (hasOpenChange(durable)) return false
  const open = undecided(durable).map(entry => entry.command)
  const before = open.length
  const change = changeToPropose(step)
  if (change !== null && hasRoom(step, open, change)) open.push(change)
  else
    for (const command of [...ownCommands(step), ...step.state.soft.requested]) {
      const isKnown = open.some(other => isSameCommand(other, command)) || isOver(durable.machine, command)
      if (isKnown || command.kind === 'members') continue
      if (hasRoom(step, open, command)) open.push(command)
    }
  const ballot = durable.acceptor.promised
  for (const command of open.slice(before)) accept(step, lengthOf(durable) + 1, ballot, command)
  if (open.length === before) return false
  step.hasProposals = true
  concludeDecided(step)
  return true
}

/**
 * Everything open must fit the promise of one participant to a new coordinator. A command that does not fit
 * waits; alone it always fits.
 */
function hasRoom(step: Step, open: readonly Command[], command: Command): boolean {
  const { uncommitted, entriesPerMessage, messageWeight } = step.context.config.limits
  if (open.length === 0) return true
  const weight = [...open, command].reduce((total, each) => total + weightOf({ command: each }), 0)
  return open.length < Math.min(uncommitted, entriesPerMessage) && weight <= messageWeight
}

/** Sends what was proposed in this step to all, together with what is decided. */
export function sendProposals(step: Step): void {
  const { durable, soft } = step.state
  for (const peer of peersOf(step)) {
    sendProposalsTo(step, peer, soft.sent[peer]!)
    soft.sent[peer] = lengthOf(durable)
  }
  soft.told = durable.machine.applied
  restartRepeats(step)
}

export function sendProposalsTo(step: Step, peer: ParticipantId, after: number): void {
  const { durable } = step.state
  const previous = Math.max(after, baseOf(durable))
  send(step, peer, {
    type: 'propose',
    ballot: durable.acceptor.promised,
    previous,
    digest: digestThrough(durable, previous),
    commands: commandsForMessage(step, previous, lengthOf(durable)),
    decided: durable.machine.applied,
    ...ofConfig(durable),
  })
}

// ---------------------------------------------------------------- the others accept

export function onPropose(step: Step, from: ParticipantId, message: ProposeMessage): void {
  const { durable } = step.state
  const { ballot, previous, digest, commands, decided } = message
  if (ballot < durable.acceptor.promised) {
    return send(step, from, { type: 'reject', promised: durable.acceptor.promised })
  }
  promise(step, ballot)
  if (previous <= acceptedThrough(durable, ballot)) assertSameLog(durable, previous, digest)
  const isNew = acceptAll(step, message)
  const through = acceptedThrough(durable, ballot)
  noteAcknowledged(step, from, ballot, previous + commands.length)
  const ack = acknowledgementOf(durable, ballot)
  if (isNew && !isMessageOptimal(step)) broadcast(step, ack)
  else send(step, from, ack)
  applyThrough(step, Math.min(decided, through))
  concludeDecided(step)
  if (decided > durable.machine.applied) askForCatchUp(step, from)
}

/** Everything that is decided, or accepted in this ballot. */
export function acknowledgementOf(durable: Durable, ballot: number): AckMessage {
  const through = acceptedThrough(durable, ballot)
  return { type: 'ack', ballot, through, digest: knownDigest(durable, through) }
}

/** Takes what follows without a gap. Returns whether any of it was new. */
function acceptAll(step: Step, message: ProposeMessage): boolean {
  const { durable } = step.state
  const { ballot, previous, commands, decided, config = 0 } = message
  const { uncommitted } = step.context.config.limits
  if (previous > lengthOf(durable)) return false
  const before = acceptedThrough(durable, ballot)
  let position = previous
  for (const command of commands) {
    position++
    if (position <= before || position > durable.machine.applied + uncommitted) continue
    // Before this, a change of the members was decided: it is applied first (rules M2, P7).
    applyThrough(step, Math.min(decided, position - 1, acceptedThrough(durable, ballot)))
    if (position > decided && config !== configIn(durable.machine)) break
    if (position > lengthOf(durable) + 1 || hasOpenChangeBefore(durable, position)) break
    if (position > durable.machine.applied) accept(step, position, ballot, command)
  }
  return acceptedThrough(durable, ballot) > before
}

/** Nothing is accepted behind a change of the members that is not decided here. */
const hasOpenChangeBefore = (durable: Durable, position: number): boolean =>
  hasOpenChange(durable) && position > lengthOf(durable)

export function onAck(step: Step, from: ParticipantId, message: AckMessage): void {
  const { ballot, through, digest } = message
  noteAcknowledged(step, from, ballot, through)
  const { acknowledged } = step.state.soft
  if (ballot === acknowledged.ballot && through >= (acknowledged.through[from] ?? 0))
    acknowledged.claims[from] = { length: through, digest }
  concludeDecided(step)
}

/** Acknowledgements may come before the proposal that they are for: they count once it is here. */
function noteAcknowledged(step: Step, from: ParticipantId, ballot: number, through: number): void {
  const { acknowledged } = step.state.soft
  if (ballot < acknowledged.ballot) return
  if (ballot > acknowledged.ballot) {
    acknowledged.ballot = ballot
    acknowledged.through.fill(0)
    acknowledged.claims.fill(null)
  }
  acknowledged.through[from] = Math.max(acknowledged.through[from] ?? 0, through)
}

/**
 * What a majority has accepted in one ballot is decided, as far as it is here. This participant counts
 * itself: everything is written before it is sent.
 */
export function concludeDecided(step: Step): void {
  const { durable, soft } = step.state
  if (isMessageOptimal(step) && !isCoordinator(step)) return
  const { ballot, through } = soft.acknowledged
  const own = acceptedThrough(durable, ballot)
  compareClaims(step, own)
  through[step.context.config.self] = own
  applyThrough(step, Math.min(own, reachedByMajorityOf(membersOf(step), through)))
}

/**
 * A participant that has accepted something else in this ballot than what is here must not count: one of the
 * two is wrong. Once a higher ballot is known here, a command may have been decided in that one, and differ.
 */
function compareClaims(step: Step, own: number): void {
  const { durable, soft } = step.state
  const { ballot, claims } = soft.acknowledged
  if (durable.acceptor.promised > ballot) return
  for (let peer = 1; peer < claims.length; peer++) {
    const claim = claims[peer] ?? null
    if (claim === null || claim.length > own) continue
    assertSameLog(durable, claim.length, claim.digest)
    claims[peer] = null
  }
}

// ---------------------------------------------------------------- the decision of the message-optimal form

/** Called at the end of each step: tells a decision that no proposal has told yet. */
export function tellDecision(step: Step): void {
  const { durable, soft } = step.state
  const { applied: decided, digest } = durable.machine
  if (!isMessageOptimal(step) || !isCoordinator(step) || decided <= soft.told) return
  soft.told = decided
  broadcast(step, { type: 'decision', ballot: durable.acceptor.promised, decided, digest })
}

export function onDecision(step: Step, from: ParticipantId, message: DecisionMessage): void {
  const { durable } = step.state
  const through = acceptedThrough(durable, message.ballot)
  if (message.decided <= through) assertSameLog(durable, message.decided, message.digest)
  applyThrough(step, Math.min(message.decided, through))
  if (message.decided > durable.machine.applied) askForCatchUp(step, from)
}
