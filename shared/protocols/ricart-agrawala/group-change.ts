/**
 * How the group changes (R5; 7.2.2, 7.3, 7.4): through a sponsor, under mutual exclusion, as the paper has it
 * for insertions. A node that wants in asks a member; a node that wants out, or has declared another one
 * dead, is the sponsor itself. The sponsor asks for the critical section as a writer, and once it is inside
 *   1. it writes the new group down, with a fence as its number, and tells all members; each member takes the
 *      group over if its number is the larger, and answers with the highest sequence number that it has seen
 *      or used;
 *   2. when all have acknowledged, a new node gets its `welcome`, with the highest of those numbers;
 *   3. when the new node has acknowledged that, or at once if a node was taken out, the sponsor releases.
 *
 * The message carries the whole group, not the difference. A sponsor that is wiped on the way leaves some
 * members with the new group and some with the old one; the next sponsor's group has a larger number and
 * replaces both. The subject of the half-made change has not been told yet, and asks again. A member that is
 * itself about to join acknowledges and takes nothing over: it gets the group with its own welcome. This does
 * not survive the case that all nodes that a node knows lose their storage at once: then nobody is left to
 * tell it that the group has gone on without it.
 */
import { highestAfter, newcomersOf } from '../members/changes.ts'
import { MAX_INVITATIONS } from '../members/requests.ts'
import { addressesIn, highestIn, isIn } from '../members/sets.ts'
import type { Members as Addresses, ParticipantId } from '../protocol.ts'
import { fenceOf, GRANTS_PER_REQUEST, NAMES } from './fence.ts'
import { addWish, endSponsoring, isOutOfDate, setGroup } from './group.ts'
import { repeatCalls, settleChanges } from './members.ts'
import type {
  ChangeAckMessage,
  ChangeMessage,
  Group,
  GroupSet,
  Members,
  WelcomeAckMessage,
} from './messages.ts'
import { joiningOf } from './section-7-2-insertion.ts'
import { departOrStay } from './section-7-3-removal.ts'
import type { Change, NodeChange, SetChange } from './state.ts'
import {
  assert,
  changeOwn,
  isActive,
  noteHighest,
  others,
  restartRepeats,
  type Step,
  save,
  send,
} from './step.ts'

// ---------------------------------------------------------------- the sponsor

/** This node is inside, and nobody else is. */
export function beginChange(step: Step, change: Change): void {
  const { durable, soft } = step.state
  const { own } = durable
  assert(own.phase === 'inside' && own.mode === 'exclusive', 'a group changes under mutual exclusion')
  if ('participant' in change && !isDue(step, change)) return
  const group = changed(step, change)
  const isNewcomer = change.type === 'add' && !isKnown(durable.group, change.participant)
  durable.sponsoring = { change, group, ...(isNewcomer && { isNewcomer }) }
  save(step, 'sponsoring', durable.sponsoring)
  // A node that takes itself out is in its own group until the others have acknowledged.
  if (!isDeparting(step, change)) setGroup(step, group)
  soft.acknowledged = {}
  soft.joiners = []
  soft.welcomes = 0
  restartRepeats(step)
  if (!concludeChange(step)) sendChange(step)
}

/** The node that comes or goes. */
const subjectOf = (change: Change): ParticipantId | null =>
  'participant' in change ? change.participant : null

/** Whether this node can still come or go: it may have, since it wanted to, or be wanted no longer (R10). */
function isDue(step: Step, change: NodeChange): boolean {
  const { group } = step.state.durable
  if (isOutOfDate(group, change)) return false
  return change.type === 'remove' || isIn(step.context.config, group, change.participant)
}

const isKnown = ({ members, gone }: Group, participant: ParticipantId): boolean =>
  members[participant] !== undefined || gone[participant] !== undefined

/** The next number under this request, for a user or for a group. */
export function drawFence(step: Step): number {
  const { own, group } = step.state.durable
  assert(own.grants < GRANTS_PER_REQUEST, 'a request has a limited number of grants')
  changeOwn(step, { grants: own.grants + 1 })
  return fenceOf(own.request, group.members[step.self]!.name, own.grants)
}

function changed(step: Step, change: Change): Group {
  const { group } = step.state.durable
  const number = drawFence(step)
  if ('participant' in change) return { ...group, number, ...withNode(group, change) }
  const set = nextSet(step, number, change)
  if (change.type === 'plan' || change.type === 'arrived') return { ...group, number, set }
  // What comes late from a node that the set does not name is out of date, whatever its incarnation.
  return { number, members: only(set.members, group.members), gone: only(set.members, group.gone), set }
}

function withNode(group: Group, change: NodeChange): Pick<Group, 'members' | 'gone'> {
  const { participant, incarnation } = change
  const { [participant]: known, ...members } = group.members
  const { [participant]: _, ...gone } = group.gone
  if (change.type === 'remove') return { members, gone: { ...gone, [participant]: incarnation } }
  const name = known?.name ?? freeName(members, change.name)
  return { members: { ...members, [participant]: { name, incarnation } }, gone }
}

/** "They must be assigned unique node numbers": two nodes with the same name would both go first (R15). */
function freeName(members: Members, wanted: number): number {
  const taken = Object.values(members).map(({ name }) => name)
  let name = wanted < NAMES && !taken.includes(wanted) ? wanted : 1
  while (taken.includes(name)) name++
  return name
}

function nextSet(step: Step, number: number, change: SetChange): GroupSet {
  const { group } = step.state.durable
  const { config } = step.context
  const before = addressesIn(config, group)
  if (change.type === 'plan') {
    const { id, members } = change.change
    return {
      members,
      config: number,
      highest: highestAfter(config, group, change.change),
      change: id,
      carrier: step.self,
      before,
      hasArrived: newcomersOf(config, group, change.change).length === 0,
      isReached: false,
    }
  }
  assert(group.set !== undefined, 'a set that an operator wanted is reached, or cancelled')
  if (change.type === 'arrived') return { ...group.set, hasArrived: true }
  if (change.type === 'reached') return { ...group.set, before: {}, hasArrived: true, isReached: true }
  const isIn = (member: string) =>
    group.members[member] !== undefined && !change.unreached.includes(Number(member))
  const staying = Object.entries(group.set.members).filter(([member]) => isIn(member))
  return {
    members: { ...group.set.before, ...(Object.fromEntries(staying) as Addresses) },
    config: number,
    highest: highestIn(config, group),
    change: '',
    carrier: step.self,
    before: {},
    hasArrived: true,
    isReached: true,
    cancelled: { change: group.set.change, unreached: change.unreached },
  }
}

function only<Value>(
  addresses: Addresses,
  table: { readonly [participant: string]: Value },
): { readonly [participant: string]: Value } {
  return Object.fromEntries(Object.entries(table).filter(([member]) => addresses[member] !== undefined))
}

/** The members that have to know of the change, without the subject, which is told last. */
function concerned(step: Step): ParticipantId[] {
  const { durable, soft } = step.state
  const subject = durable.sponsoring === null ? null : subjectOf(durable.sponsoring.change)
  return others(step).filter(peer => peer !== subject && !soft.dead[peer])
}

const unacknowledged = (step: Step): ParticipantId[] =>
  concerned(step).filter(peer => !step.state.soft.acknowledged[peer])

/** Whether this node takes itself out. The others may go on without it before it knows that it is out. */
const isDeparting = (step: Step, change: Change): boolean => subjectOf(change) === step.self

/** The nodes that the sponsor waits to hear from. */
export function awaitedBySponsor(step: Step): ParticipantId[] {
  const { sponsoring } = step.state.durable
  if (sponsoring === null) return []
  const open = unacknowledged(step)
  const subject = subjectOf(sponsoring.change)
  return open.length > 0 || subject === null ? open : [subject]
}

/** Sends what is due now: the change to those that have not acknowledged it, or the welcome. */
export function sendChange(step: Step): void {
  const { sponsoring, highest } = step.state.durable
  if (sponsoring === null) return
  const { change, group } = sponsoring
  const open = unacknowledged(step)
  // Those that have acknowledged may know by now that some of the others are not needed (R17).
  const asked = isDeparting(step, change) ? concerned(step) : open
  for (const peer of asked) send(step, peer, { type: 'change', group })
  if (open.length > 0) return
  if (change.type !== 'add') return
  const { participant, incarnation } = change
  send(step, participant, { type: 'welcome', group, highest: highest.request, incarnation })
}

/** "Ask all other nodes for their Highest_Sequence_Number and use the largest" (7.2.3). */
export function onChangeAck(step: Step, from: ParticipantId, message: ChangeAckMessage): void {
  const { durable, soft } = step.state
  const { sponsoring } = durable
  if (sponsoring?.group.number !== message.number) return
  const { later } = message
  if (later !== undefined && isDeparting(step, sponsoring.change)) dispenseWithOthers(step, later)
  else if (soft.acknowledged[from]) return
  soft.acknowledged[from] = true
  if (message.joining !== null) soft.joiners.push({ type: 'add', participant: from, ...message.joining })
  noteHighest(step, message.highest)
  if (unacknowledged(step).length > 0) return
  restartRepeats(step)
  if (!concludeChange(step)) sendChange(step)
}

/**
 * R17: a node that takes itself out needs no answer of those that are not in a later group. Whoever has left
 * since then was inside after it, and knew that it is out; whoever was declared dead comes back with a group
 * that is without it. They may be switched off.
 */
function dispenseWithOthers(step: Step, later: readonly ParticipantId[]): void {
  for (const peer of others(step)) if (!later.includes(peer)) step.state.soft.acknowledged[peer] = true
}

/**
 * A node that was declared dead is told, in case it is alive, and nobody waits for it. A new node is waited
 * for, since everybody needs its REPLYs from now on, unless it has died before its welcome.
 */
export function concludeChange(step: Step): boolean {
  const { sponsoring } = step.state.durable
  if (sponsoring === null || unacknowledged(step).length > 0) return false
  const { change } = sponsoring
  if (!('participant' in change)) {
    endSponsoring(step)
    if (change.type === 'plan') repeatCalls(step)
    // The next change may begin in this very step.
    if (change.type === 'reached') settleChanges(step)
    return true
  }
  const { type, participant, incarnation } = change
  if (type === 'add' && hasDeadBesides(step, participant)) {
    endSponsoring(step)
    addWish(step, change)
    return true
  }
  if (type === 'add' && !step.state.soft.dead[participant]) return false
  if (isDeparting(step, change)) {
    departOrStay(step)
    return true
  }
  if (type === 'remove') send(step, participant, { type: 'not-a-member', incarnation, known: incarnation })
  endSponsoring(step)
  return true
}

/**
 * A member that died before it knew the new node is taken out first. If it came back after the welcome, it
 * would ask only the others, and its number would not count in the new node's.
 */
const hasDeadBesides = (step: Step, participant: ParticipantId): boolean =>
  Object.keys(step.state.soft.dead).some(peer => Number(peer) !== participant)

export function onWelcomeAck(step: Step, from: ParticipantId, message: WelcomeAckMessage): void {
  const { sponsoring } = step.state.durable
  if (sponsoring?.group.number === message.number && subjectOf(sponsoring.change) === from)
    endSponsoring(step)
}

/**
 * Called with the repeats. A newcomer that does not answer its welcome is taken out again, in the same
 * critical section, and with it all that the operator wanted (R12). It cannot have been inside: it needs the
 * REPLY of this node, and never gets it.
 */
export function loseNewcomer(step: Step): void {
  const { durable, soft } = step.state
  const { sponsoring } = durable
  if (sponsoring?.isNewcomer !== true || sponsoring.change.type !== 'add') return
  if (unacknowledged(step).length > 0 || ++soft.welcomes < MAX_INVITATIONS) return
  const { participant, incarnation } = sponsoring.change
  endSponsoring(step)
  beginChange(step, { type: 'cancel', unreached: [participant], incarnation })
  send(step, participant, { type: 'not-a-member', incarnation, known: incarnation })
}

// ---------------------------------------------------------------- the members

/**
 * A member that has a later group acknowledges, too. That happens if a node takes itself out: a member that
 * has heard of it goes on without the leaver and may be the next sponsor while others have not heard of it
 * yet. The later group is without the leaver as well, and the leaver learns who is in it (R17).
 */
export function onChange(step: Step, from: ParticipantId, { group }: ChangeMessage): void {
  const { durable } = step.state
  const { number, members } = group
  if (isActive(step) && members[step.self] === undefined) return
  if (isActive(step) && number > durable.group.number) setGroup(step, group)
  // A node that left a later group and is on its way back has lost nothing: it must not be taken in by a node
  // that is out itself.
  const joining = number > durable.group.number ? joiningOf(step) : null
  const later = number < durable.group.number && { later: Object.keys(durable.group.members).map(Number) }
  send(step, from, { type: 'change-ack', number, highest: durable.highest.request, joining, ...later })
}
