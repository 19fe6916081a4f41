/**
 * Participants that are no members yet, or any more (rules M2, M3, M10). A newcomer has a number and an
 * incarnation of its own, which it stores before it says a word. It is invited, applies what is decided, and
 * says so: it is primed. It accepts and promises nothing. A decision names it in this very life, and from
 * then on it is a member.
 *
 * A newcomer calls those that it knows of a few times, and then answers whoever speaks to it.
 */
import { passOver } from '../asking.ts'
import { addressesIn, configIn, isIn, membersIn, type OfSet, sayMembers, withSet } from '../members/sets.ts'
import type { ParticipantId } from '../protocol.ts'
import * as snapshots from '../snapshots.ts'
import * as catchUp from './catch-up.ts'
import { announceChanges, noteNewcomer } from './change-of-members.ts'
import { isMember } from './members.ts'
import type { ConsensusMessage, ElsewhereMessage, JoinMessage } from './messages.ts'
import { askForCatchUp, type Step, save, send } from './step.ts'

/** After so many calls a newcomer waits until it is called. Intervals double as often. */
export const MAX_CALLS = 6

// ---------------------------------------------------------------- calling

/** Who the members are, as far as a participant knows that is none. */
function known({ state }: Step): OfSet {
  const { machine } = state.durable
  const { hint } = state.soft
  return hint !== null && hint.decided > machine.applied ? hint : machine
}

/** Whether a newcomer goes on calling. */
export const isCalling = (step: Step): boolean =>
  step.state.durable.membership.status === 'joining' && step.state.soft.calls < MAX_CALLS

export function sendJoin(step: Step): void {
  const { config } = step.context
  if (!isCalling(step) || snapshots.isComing(step.state.soft.incoming)) return
  for (const peer of membersIn(config, known(step))) if (peer !== config.self) sendJoinTo(step, peer)
}

function sendJoinTo(step: Step, peer: ParticipantId): void {
  const { membership, machine } = step.state.durable
  const { address } = step.context.config
  if (membership.status !== 'joining') return
  const { incarnation, isPrimed = false } = membership
  const decided = machine.applied
  send(step, peer, {
    type: 'join',
    incarnation,
    ...(address !== undefined && { address }),
    decided,
    isPrimed,
  })
}

// ---------------------------------------------------------------- a newcomer, and one that was removed

/** A newcomer takes help, and speaks only of itself. */
export function onMessageWhenJoining(step: Step, from: ParticipantId, message: ConsensusMessage): void {
  const { applied: before } = step.state.durable.machine
  if (onHelp(step, from, message)) return becomePrimed(step, from, message, before)
  switch (message.type) {
    case 'elsewhere':
      return onElsewhere(step, from, message)
    case 'invite':
    case 'handover':
      return sendJoinTo(step, from)
    case 'join':
      // Another newcomer has nothing to help with, and would answer in turn.
      return
    default:
      // All that it knows of may be gone by now, so it answers a stranger, and whoever has something new.
      if (!isIn(step.context.config, known(step), from) || isNews(step, message)) sendJoinTo(step, from)
  }
}

const isNews = ({ state }: Step, message: ConsensusMessage): boolean =>
  'decided' in message && (message.decided ?? 0) > state.durable.machine.applied

/** A newcomer that has everything that the sender had is primed. */
function becomePrimed(step: Step, from: ParticipantId, message: ConsensusMessage, before: number): void {
  const { durable } = step.state
  const { membership, machine } = durable
  if (membership.status !== 'joining') return
  const isComplete =
    message.type === 'catch-up' ? machine.applied >= message.decided : machine.applied > before
  if (!isComplete) return
  if (!membership.isPrimed) {
    durable.membership = { ...membership, isPrimed: true }
    save(step, 'membership', durable.membership)
  }
  sendJoinTo(step, from)
}

/** A participant that was removed has no say, but helps others as long as it has something to help with. */
export function onMessageWhenRemoved(step: Step, from: ParticipantId, message: ConsensusMessage): void {
  const { membership, machine } = step.state.durable
  const hasData = membership.status === 'removed' && membership.hasData
  const decided = 'decided' in message ? (message.decided ?? machine.applied) : machine.applied
  switch (message.type) {
    case 'join':
      return hasData && isNamed(step, from, message)
        ? catchUp.sendCatchUp(step, from, message.decided)
        : sendElsewhere(step, from)
    case 'snapshot-request':
      return hasData ? catchUp.onSnapshotRequest(step, from, message) : undefined
    case 'elsewhere':
    case 'installed':
      return
    default:
      if (decided >= machine.applied) return
      return hasData ? catchUp.sendCatchUp(step, from, decided) : sendElsewhere(step, from)
  }
}

/** Help for one that is behind. Returns whether this was some. */
export function onHelp(step: Step, from: ParticipantId, message: ConsensusMessage): boolean {
  switch (message.type) {
    case 'catch-up':
      catchUp.onCatchUp(step, from, message)
      return true
    case 'snapshot-offer':
      catchUp.onSnapshotOffer(step, from, message)
      return true
    case 'snapshot-page':
      catchUp.onSnapshotPage(step, from, message)
      return true
    case 'snapshot-gone':
      snapshots.onSnapshotGone(step, from, message)
      return true
    default:
      return false
  }
}

// ---------------------------------------------------------------- the members

const isNamed = ({ state, context }: Step, from: ParticipantId, { incarnation, address = '' }: JoinMessage) =>
  addressesIn(context.config, state.durable.machine)[from] === address &&
  state.durable.machine.set?.incarnations[from] === incarnation

/**
 * A newcomer that was named and does not know it gets what it lacks. One that an operator wants is brought up
 * to date. Anybody else is told who the members are.
 */
export function onJoin(step: Step, from: ParticipantId, message: JoinMessage): void {
  const { applied } = step.state.durable.machine
  const { incarnation, address = '', decided } = message
  if (isNamed(step, from, message)) return catchUp.sendCatchUp(step, from, decided)
  const isPrimed = message.isPrimed || decided >= applied
  const answer = isMember(step, from) ? 'stranger' : noteNewcomer(step, from, address, incarnation, isPrimed)
  if (answer === 'stranger') return sendElsewhere(step, from)
  if (!isPrimed) return catchUp.sendCatchUp(step, from, decided)
  if (answer !== 'primed') return
  announceChanges(step)
}

function sendElsewhere(step: Step, to: ParticipantId): void {
  const { applied: decided, set } = step.state.durable.machine
  send(step, to, { type: 'elsewhere', decided, ...withSet(set) })
}

/** Only a hint whom to ask: the log itself says who is a member. */
export function onElsewhere(step: Step, from: ParticipantId, message: ElsewhereMessage): void {
  const { durable, soft } = step.state
  const { config } = step.context
  const { decided, set } = message
  sayMembers(step, message, true)
  if (durable.membership.status === 'joining') {
    if (soft.hint === null || decided >= soft.hint.decided) soft.hint = { decided, ...withSet(set) }
    return
  }
  if (decided <= durable.machine.applied) return
  // Whoever was asked and sends this participant on has answered: the next one can be asked (rule M10).
  if (soft.asking === from) passOver(soft)
  const others = membersIn(config, message).filter(member => member !== config.self)
  // One after the other, if they do not answer.
  const next = others.find(member => !soft.unanswered.includes(member)) ?? others[0]
  if (next !== undefined) askForCatchUp(step, next)
}

/**
 * Somebody speaks who is no member here, and is not counted. Either it is behind, and gets what it lacks, or
 * this participant is, and asks (rule M10).
 */
export function onStranger(step: Step, from: ParticipantId, message: ConsensusMessage): void {
  if (!('decided' in message) || message.decided === undefined) return
  const { machine } = step.state.durable
  if (message.decided > machine.applied) askForCatchUp(step, from)
  else if (message.decided < configIn(machine)) catchUp.sendCatchUp(step, from, message.decided)
}
