/**
 * Section 7.2: a node comes into the group: a new one, one that had left, one whose storage was wiped, or one
 * that was declared dead. It asks one member after the other to sponsor it until one has done so
 * (group-change.ts).
 *
 * Instead of waiting as in 7.2.1, a node that was there before comes with a new incarnation (R6). What its
 * earlier life asked for or was granted is over once all members have acknowledged the new one. Only then may
 * it ask: its number is above all that was in use (7.2.3). Until then it answers every request at once
 * ("incoming REQUEST messages are processed normally"). It is not requesting, so its REPLY is true, and
 * without it its sponsor would never be inside. A user that was inside at a node whose storage is gone is
 * ejected by that loss; the fences of those who follow are larger (fence.ts).
 */
import { eject } from '../lock-only/users.ts'
import {
  configIn,
  highestIn,
  isIn,
  isSelfIn,
  membersIn,
  type OfSet,
  sayMembers,
  withSet,
} from '../members/sets.ts'
import type { Context, ParticipantConfig, ParticipantId } from '../protocol.ts'
import { refuse } from '../refusals.ts'
import { addWish, dropWishes, endSponsoring, isOutOfDate, mayGroupChange, setGroup } from './group.ts'
import { becomeRemoved, isNamed, learnSet, noteNewcomer } from './members.ts'
import type {
  ElsewhereMessage,
  GroupSet,
  InviteMessage,
  Joining,
  JoinMessage,
  Members,
  NotAMemberMessage,
  WelcomeMessage,
} from './messages.ts'
import { leave } from './section-2-algorithm.ts'
import type { NodeChange } from './state.ts'
import { emit, isActive, noteHighest, restartRepeats, type Step, send, setMembership } from './step.ts'

/** 7.1: the name that is compared instead of the number. */
const nameOf = ({ config }: Context, participant: ParticipantId): number =>
  config.options?.names?.[participant - 1] ?? participant

/** The lock is born: its participants are in the group from the start. Written once (trap D3). */
export function initializeMember(step: Step): void {
  const members: { [participant: string]: Members[string] } = {}
  for (let member = 1; member <= step.context.config.participants; member++)
    members[member] = { name: nameOf(step.context, member), incarnation: 0 }
  setMembership(step, { status: 'member', incarnation: 0 })
  setGroup(step, { number: 0, members, gone: {} })
}

// ---------------------------------------------------------------- who joins

export function startJoining(step: Step, incarnation: number, request: string | null): void {
  setMembership(step, { status: 'joining', incarnation, request })
  // Whoever wants it asks anew, and hears whether it can be.
  step.state.soft.sponsorsTried = 0
  sendJoin(step)
  restartRepeats(step)
}

/**
 * After so many calls, and when it has asked all that it knows, a node that is no member, as far as it knows,
 * waits until it is called. The word of one of them is not enough: that one may have left long ago (R18).
 */
const MIN_CALLS = 6

/** Who the members are, as far as a node knows that is not in the group. */
function known({ state }: Step): OfSet<GroupSet> {
  const { group } = state.durable
  const { hint } = state.soft
  return hint !== null && configIn(hint) > configIn(group) ? hint : group
}

/** Whether a node that is on its way in goes on asking. */
export function isAsking(step: Step): boolean {
  const { config } = step.context
  if (step.state.durable.membership.status !== 'joining') return false
  if (mayBeMember(known(step), config)) return true
  return step.state.soft.sponsorsTried < Math.max(MIN_CALLS, sponsorsOf(step).length)
}

/**
 * Until all newcomers are in, those that are to go may have to stay (R12). A node of the same number in
 * another place is another one (R10).
 */
const mayBeMember = (ofSet: OfSet<GroupSet>, config: ParticipantConfig): boolean =>
  isSelfIn(config, ofSet) ||
  (ofSet.set?.hasArrived === false && ofSet.set.before[config.self] === (config.address ?? ''))

/** Asks one sponsor at a time. */
export function sendJoin(step: Step): void {
  if (!isAsking(step)) return
  const sponsor = nextSponsor(step)
  if (sponsor !== null) sendJoinTo(step, sponsor)
}

function sendJoinTo(step: Step, sponsor: ParticipantId): void {
  const joining = joiningOf(step)
  const { address } = step.context.config
  if (joining !== null)
    send(step, sponsor, { type: 'join', ...joining, ...(address !== undefined && { address }) })
}

/** An operator wants this node to be a member, even if it has left by its own wish (R16). */
export function onInvite(step: Step, from: ParticipantId, { members, number }: InviteMessage): void {
  const { membership, group } = step.state.durable
  if (!members.includes(from)) return
  if (membership.status === 'left' && number > group.number)
    setMembership(step, { status: 'joining', incarnation: nextIncarnation(step), request: null })
  sendJoinTo(step, from)
}

/**
 * A member speaks to a node that is not in the group, and that does not know it: it may be the only one that
 * can help.
 */
export function onContact(step: Step, from: ParticipantId): void {
  if (step.state.durable.membership.status !== 'joining') return
  if (!isIn(step.context.config, known(step), from)) sendJoinTo(step, from)
}

export function joiningOf(step: Step): Joining | null {
  const { membership } = step.state.durable
  if (membership.status !== 'joining') return null
  return { incarnation: membership.incarnation, name: nameOf(step.context, step.self) }
}

function sponsorsOf(step: Step): ParticipantId[] {
  const { set } = known(step)
  // As long as a set is not reached, those that were members before may be the only ones that are.
  const before = Object.keys({ ...set?.before, ...step.state.durable.group.members }).map(Number)
  const all = new Set([...membersIn(step.context.config, known(step)), ...before])
  return [...all].filter(member => member !== step.self)
}

/** Tries one participant after the other. */
function nextSponsor(step: Step): ParticipantId | null {
  const sponsors = sponsorsOf(step)
  if (sponsors.length === 0) return null
  return sponsors[step.state.soft.sponsorsTried++ % sponsors.length]!
}

export function onWelcome(step: Step, from: ParticipantId, message: WelcomeMessage): void {
  const { membership } = step.state.durable
  const { group, highest, incarnation } = message
  if (membership.status === 'blank' || membership.incarnation !== incarnation) return
  if (membership.status === 'joining') {
    setMembership(step, { status: 'member', incarnation })
    setGroup(step, group)
    noteHighest(step, highest)
    const { request } = membership
    if (request !== null) emit(step, { type: 'membership-done', request, wish: 'join' })
  } else if (!isActive(step)) return
  send(step, from, { type: 'welcome-ack', number: group.number })
}

// ---------------------------------------------------------------- who sponsors

export function onJoin(step: Step, from: ParticipantId, message: JoinMessage): void {
  const { group, sponsoring, membership } = step.state.durable
  const { incarnation, name, address = '' } = message
  // Whoever has left may be the only one that it knows.
  if (membership.status === 'removed' || membership.status === 'left') return sendElsewhere(step, from)
  if (!isActive(step) || !mayGroupChange(step)) return
  // Nobody comes in whom no operator wants (R10).
  if (!isNamed(step, from, address)) return onStranger(step, from, address, incarnation)
  const wish: NodeChange = { type: 'add', participant: from, incarnation, name }
  if (isOutOfDate(group, wish)) {
    const known = group.members[from]?.incarnation ?? group.gone[from]!
    return send(step, from, { type: 'not-a-member', incarnation, known })
  }
  step.state.soft.calls = 0
  if (sponsoring !== null && 'participant' in sponsoring.change && sponsoring.change.participant === from) {
    if (sponsoring.change.incarnation === incarnation) return
    // The life that was to be welcomed is over: it will not answer.
    endSponsoring(step)
  }
  addWish(step, wish)
}

/** It was invited, or it is told who the members are. */
function onStranger(step: Step, from: ParticipantId, address: string, incarnation: number): void {
  const answer = noteNewcomer(step, from, address, incarnation, true)
  if (answer === 'stranger') sendElsewhere(step, from)
}

export function sendElsewhere(step: Step, to: ParticipantId): void {
  send(step, to, { type: 'elsewhere', ...withSet(step.state.durable.group.set) })
}

/** A node whose number was used, and that the set does not name, is never a member again (R10). */
export function onElsewhere(step: Step, message: ElsewhereMessage): void {
  const { durable, soft } = step.state
  const { config } = step.context
  if (durable.membership.status !== 'joining') return
  if (configIn(message) < configIn(known(step))) return
  soft.hint = withSet(message.set)
  sayMembers(step, message, true)
  if (mayBeMember(message, config) || config.self > highestIn(config, message)) return
  learnSet(step, message)
  becomeRemoved(step)
}

// ---------------------------------------------------------------- who is not in the group, and did not know

/** 7.4: "it should restart itself and use the insertion protocol". */
export function onNotAMember(step: Step, message: NotAMemberMessage): void {
  const { membership, sponsoring } = step.state.durable
  if (membership.status === 'blank' || membership.incarnation !== message.incarnation) return
  // A node that takes itself out knows that it is no longer a member for those that have heard of it.
  const isLeaving = sponsoring?.change.type === 'remove' && sponsoring.change.participant === step.self
  if (isActive(step) && !isLeaving) becomeExpelled(step)
  if (membership.status === 'joining')
    startJoining(step, Math.max(membership.incarnation, message.known) + 1, membership.request)
}

/** This node was declared dead. Users that wait here go on waiting; those that are inside are ejected. */
function becomeExpelled(step: Step): void {
  const { membership } = step.state.durable
  giveUpAll(step)
  dropWishes(step)
  if (membership.status === 'leaving' && membership.request !== null)
    refuse(step, membership.request, 'membership', { code: 'not-a-member' })
  startJoining(step, nextIncarnation(step), null)
}

/** Nobody is inside here any longer, and nothing is asked for. */
export function giveUpAll(step: Step): void {
  const { durable } = step.state
  for (const holder of [...step.localQueue.holders]) eject(step, holder, 'suspected')
  if (durable.sponsoring !== null) endSponsoring(step)
  if (durable.own.phase !== 'idle') leave(step)
}

/** Higher than the incarnation of every earlier life. */
export function nextIncarnation(step: Step): number {
  const { membership } = step.state.durable
  const last = membership.status === 'blank' ? 0 : membership.incarnation
  return Math.max(step.operators.life, last + 1)
}
