/**
 * Newcomers (rules M2, M3, M10). A participant that is no member of the lock yet has a number and an
 * incarnation of its own, which it stores before it says a word. It is invited, gets a copy of what is
 * committed, and says so: it is primed. It has no vote and acknowledges nothing. A decision names it with
 * this very incarnation, and with everything up to the start of the next epoch it becomes a member of that
 * epoch. If it loses its storage after it was named, it asks to be taken back like any other (membership.ts).
 *
 * A newcomer calls those that it knows of. If it is told that it is no member, it falls silent after a while,
 * and answers whoever speaks to it: those that need it do.
 */

import { passOver } from '../asking.ts'
import type { Incarnations } from '../members/changes.ts'
import { isIn, isSelfIn, membersIn, type OfSet, sayMembers, withSet } from '../members/sets.ts'
import type { ParticipantId } from '../protocol.ts'
import { advanceCommitted } from './commit.ts'
import { assertSameLog, derive, lengthOf, push } from './log.ts'
import type { CatchUpMessage, ElsewhereMessage } from './messages.ts'
import type { Entry } from './state.ts'
import { askForCatchUp, type Step, save, send } from './step.ts'

/** The members of an epoch, as somebody said. */
export interface Hint extends OfSet {
  readonly epoch: number
}

/** After so many calls a participant that was told that it is no member falls silent. */
const MAX_CALLS = 6

// ---------------------------------------------------------------- calling

function known(step: Step): Hint | null {
  const { durable, soft } = step.state
  const isPrimed = durable.membership.status === 'joining' && durable.membership.isPrimed === true
  if (!isPrimed) return soft.hint
  return soft.hint !== null && soft.hint.epoch > durable.epoch.epoch ? soft.hint : durable.epoch
}

/** Whether to go on asking to become a member. */
export function isCalling(step: Step): boolean {
  const hint = known(step)
  const { config } = step.context
  return hint === null || isSelfIn(config, hint) || step.state.soft.repeatAttempts < MAX_CALLS
}

export function sendJoin(step: Step): void {
  const { self } = step.context.config
  for (const peer of membersIn(step.context.config, known(step) ?? step.state.durable.epoch))
    if (peer !== self) sendJoinTo(step, peer)
}

export function sendJoinTo(step: Step, peer: ParticipantId): void {
  const { durable, soft } = step.state
  const { address } = step.context.config
  if (durable.membership.status !== 'joining') return
  const { incarnation, isPrimed } = durable.membership
  const { epoch } = durable.epoch
  const position = { epoch, length: lengthOf(durable), committed: soft.committed }
  send(step, peer, {
    type: 'join',
    incarnation,
    ...(address !== undefined && { address }),
    ...(isPrimed && { position }),
  })
}

/**
 * Somebody speaks to a participant that is no member. All that it knows of may be gone by now, so it answers
 * a stranger (rule M10), and whoever speaks of an epoch that is news: both can help.
 */
export function onContact(step: Step, from: ParticipantId, epoch: number): void {
  const hint = known(step)
  const isStranger = !isIn(step.context.config, hint ?? step.state.durable.epoch, from)
  const isNews = hint !== null && epoch > step.state.durable.epoch.epoch
  if (isStranger || isNews) sendJoinTo(step, from)
}

export function sendElsewhere(step: Step, to: ParticipantId): void {
  const { epoch, set } = step.state.durable.epoch
  send(step, to, { type: 'elsewhere', epoch, ...withSet(set) })
}

/** Only a hint whom to ask: the state itself says who is a member. */
export function onElsewhere(step: Step, from: ParticipantId, message: ElsewhereMessage): void {
  const { durable, soft } = step.state
  const { epoch, set } = message
  sayMembers(step, message, true)
  if (durable.membership.status === 'joining') {
    if (soft.hint === null || epoch >= soft.hint.epoch) soft.hint = { epoch, ...withSet(set) }
    return
  }
  if (epoch <= durable.epoch.epoch) return
  // Whoever was asked and sends this participant on has answered: the next one can be asked (rule M10).
  if (soft.asking === from) passOver(soft)
  const members = membersIn(step.context.config, message)
  const others = members.filter(member => member !== step.context.config.self)
  // One after the other, if they do not answer.
  const next = others.find(member => !soft.unanswered.includes(member)) ?? others[0]
  if (next !== undefined) askForCatchUp(step, next)
}

// ---------------------------------------------------------------- taking what there is

/**
 * What the state of an epoch makes of this participant. One that lost its storage takes only a state that
 * knows its new incarnation, because in older epochs it had a vote that it has forgotten. `null`: nothing.
 */
export function roleIn(
  step: Step,
  epochOf: OfSet & { incarnations: Incarnations },
): 'member' | 'learner' | null {
  const { membership } = step.state.durable
  const { config } = step.context
  if (membership.status !== 'joining') return 'member'
  if (!isIn(config, epochOf, config.self)) return 'learner'
  return epochOf.incarnations[config.self] === membership.incarnation ? 'member' : null
}

type EpochOf = Omit<CatchUpMessage, 'type' | 'previous' | 'digest' | 'entries'>

/** Takes what is committed, and nothing else: whatever is not may still be rolled back. */
export function takeAsLearner(
  step: Step,
  from: ParticipantId,
  epochOf: EpochOf,
  entries: readonly Entry[],
): void {
  const { durable } = step.state
  const { epoch, epochOwner, epochStart, incarnations, set, committed } = epochOf
  for (const entry of entries.filter(({ sequence }) => sequence <= committed)) {
    if (entry.sequence > lengthOf(durable)) push(step, entry)
    else assertSameLog(durable, entry.sequence, entry.digest)
  }
  durable.epoch = {
    epoch,
    owner: epochOwner,
    start: epochStart,
    sealed: false,
    incarnations,
    ...withSet(set),
  }
  save(step, 'epoch', durable.epoch)
  derive(step.context.config, step.state)
  advanceCommitted(step, committed)
  if (durable.membership.status === 'joining' && !durable.membership.isPrimed) {
    durable.membership = { ...durable.membership, isPrimed: true }
    save(step, 'membership', durable.membership)
  }
  sendJoinTo(step, from)
}
