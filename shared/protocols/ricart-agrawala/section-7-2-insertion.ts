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
import type { Context, ParticipantId } from '../protocol.ts'
import { refuse } from '../refusals.ts'
import { NAMES } from './fence.ts'
import { addWish, dropWishes, endSponsoring, isOutOfDate, mayGroupChange, setGroup } from './group.ts'
import type { Joining, JoinMessage, Members, NotAMemberMessage, WelcomeMessage } from './messages.ts'
import { leave } from './section-2-algorithm.ts'
import type { Change, Membership } from './state.ts'
import { emit, isActive, noteHighest, restartRepeats, type Step, save, send } from './step.ts'

/** 7.1: the name that is compared instead of the number. */
const nameOf = ({ config }: Context, participant: ParticipantId): number =>
  config.options?.names?.[participant - 1] ?? participant

export function setMembership(step: Step, membership: Membership): void {
  step.state.durable.membership = membership
  save(step, 'membership', membership)
}

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
  sendJoin(step)
  restartRepeats(step)
}

/** Asks one sponsor at a time. */
export function sendJoin(step: Step): void {
  const joining = joiningOf(step)
  const sponsor = joining === null ? null : nextSponsor(step)
  if (joining !== null && sponsor !== null) send(step, sponsor, { type: 'join', ...joining })
}

export function joiningOf(step: Step): Joining | null {
  const { membership } = step.state.durable
  if (membership.status !== 'joining') return null
  return { incarnation: membership.incarnation, name: nameOf(step.context, step.self) }
}

/** Tries one participant after the other; one that is no member does not answer. */
function nextSponsor(step: Step): ParticipantId | null {
  const { participants } = step.context.config
  if (participants === 1) return null
  const turn = step.state.soft.sponsorsTried++ % (participants - 1)
  return turn + 1 < step.self ? turn + 1 : turn + 2
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

export function onJoin(step: Step, from: ParticipantId, { incarnation, name }: JoinMessage): void {
  const { group, sponsoring } = step.state.durable
  if (!isActive(step) || !mayGroupChange(step) || !isFree(step, from, name)) return
  const wish: Change = { type: 'add', participant: from, incarnation, name }
  if (isOutOfDate(group, wish)) {
    const known = group.members[from]?.incarnation ?? group.gone[from]!
    return send(step, from, { type: 'not-a-member', incarnation, known })
  }
  if (sponsoring?.change.participant === from) {
    if (sponsoring.change.incarnation === incarnation) return
    // The life that was to be welcomed is over: it will not answer.
    endSponsoring(step)
  }
  addWish(step, wish)
}

/** "They must be assigned unique node numbers": two nodes with the same name would both go first. */
function isFree(step: Step, participant: ParticipantId, name: number): boolean {
  const { [participant]: _, ...rest } = step.state.durable.group.members
  return name < NAMES && Object.values(rest).every(member => member.name !== name)
}

// ---------------------------------------------------------------- who is not in the group, and did not know

/** 7.4: "it should restart itself and use the insertion protocol". */
export function onNotAMember(step: Step, message: NotAMemberMessage): void {
  const { membership, sponsoring } = step.state.durable
  if (membership.status === 'blank' || membership.incarnation !== message.incarnation) return
  // A node that takes itself out knows that it is no longer a member for those that have heard of it.
  if (isActive(step) && sponsoring?.change.participant !== step.self) becomeExpelled(step)
  if (membership.status === 'joining')
    startJoining(step, Math.max(membership.incarnation, message.known) + 1, membership.request)
}

/** This node was declared dead. Users that wait here go on waiting; those that are inside are ejected. */
function becomeExpelled(step: Step): void {
  const { membership } = step.state.durable
  giveUpAll(step)
  dropWishes(step)
  if (membership.status === 'leaving')
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
