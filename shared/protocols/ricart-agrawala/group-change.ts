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
import type { ParticipantId } from '../protocol.ts'
import { fenceOf, GRANTS_PER_REQUEST } from './fence.ts'
import { addWish, endSponsoring, isOutOfDate, setGroup } from './group.ts'
import type { ChangeAckMessage, ChangeMessage, Group, WelcomeAckMessage } from './messages.ts'
import { joiningOf } from './section-7-2-insertion.ts'
import { departOrStay } from './section-7-3-removal.ts'
import type { Change } from './state.ts'
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
  if (isOutOfDate(durable.group, change)) return
  const group = changed(durable.group, change, drawFence(step))
  durable.sponsoring = { change, group }
  save(step, 'sponsoring', durable.sponsoring)
  // A node that takes itself out is in its own group until the others have acknowledged.
  if (change.participant !== step.self) setGroup(step, group)
  soft.acknowledged = {}
  soft.joiners = []
  restartRepeats(step)
  if (!concludeChange(step)) sendChange(step)
}

/** The next number under this request, for a user or for a group. */
export function drawFence(step: Step): number {
  const { own, group } = step.state.durable
  assert(own.grants < GRANTS_PER_REQUEST, 'a request has a limited number of grants')
  changeOwn(step, { grants: own.grants + 1 })
  return fenceOf(own.request, group.members[step.self]!.name, own.grants)
}

function changed(group: Group, change: Change, number: number): Group {
  const { participant, incarnation } = change
  const { [participant]: _, ...members } = group.members
  const { [participant]: __, ...gone } = group.gone
  if (change.type === 'remove') return { number, members, gone: { ...gone, [participant]: incarnation } }
  return { number, members: { ...members, [participant]: { name: change.name, incarnation } }, gone }
}

/** The members that have not acknowledged, without the subject, which is told last. */
function unacknowledged(step: Step): ParticipantId[] {
  const { durable, soft } = step.state
  const subject = durable.sponsoring?.change.participant
  return others(step).filter(peer => peer !== subject && !soft.acknowledged[peer] && !soft.dead[peer])
}

/** The nodes that the sponsor waits to hear from. */
export function awaitedBySponsor(step: Step): ParticipantId[] {
  const { sponsoring } = step.state.durable
  if (sponsoring === null) return []
  const open = unacknowledged(step)
  return open.length > 0 ? open : [sponsoring.change.participant]
}

/** Sends what is due now: the change to those that have not acknowledged it, or the welcome. */
export function sendChange(step: Step): void {
  const { sponsoring, highest } = step.state.durable
  if (sponsoring === null) return
  const { change, group } = sponsoring
  const open = unacknowledged(step)
  for (const peer of open) send(step, peer, { type: 'change', group })
  if (open.length > 0) return
  const { participant, incarnation } = change
  send(step, participant, { type: 'welcome', group, highest: highest.request, incarnation })
}

/** "Ask all other nodes for their Highest_Sequence_Number and use the largest" (7.2.3). */
export function onChangeAck(step: Step, from: ParticipantId, message: ChangeAckMessage): void {
  const { durable, soft } = step.state
  if (durable.sponsoring?.group.number !== message.number || soft.acknowledged[from]) return
  soft.acknowledged[from] = true
  if (message.joining !== null) soft.joiners.push({ type: 'add', participant: from, ...message.joining })
  noteHighest(step, message.highest)
  if (unacknowledged(step).length > 0) return
  restartRepeats(step)
  if (!concludeChange(step)) sendChange(step)
}

/**
 * A node that was declared dead is told, in case it is alive, and nobody waits for it. A new node is waited
 * for, since everybody needs its REPLYs from now on, unless it has died before its welcome.
 */
export function concludeChange(step: Step): boolean {
  const { sponsoring } = step.state.durable
  if (sponsoring === null || unacknowledged(step).length > 0) return false
  const { type, participant, incarnation } = sponsoring.change
  if (type === 'add' && hasDeadBesides(step, participant)) {
    endSponsoring(step)
    addWish(step, sponsoring.change)
    return true
  }
  if (type === 'add' && !step.state.soft.dead[participant]) return false
  if (participant === step.self) {
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
  if (sponsoring?.group.number === message.number && sponsoring.change.participant === from)
    endSponsoring(step)
}

// ---------------------------------------------------------------- the members

/**
 * A member that has a later group acknowledges, too. That happens if a node takes itself out: a member that
 * has heard of it goes on without the leaver and may be the next sponsor while others have not heard of it
 * yet. The later group is without the leaver as well.
 */
export function onChange(step: Step, from: ParticipantId, { group }: ChangeMessage): void {
  const { durable } = step.state
  const { number, members } = group
  if (isActive(step) && members[step.self] === undefined) return
  if (isActive(step) && number > durable.group.number) setGroup(step, group)
  // A node that left a later group and is on its way back has lost nothing: it must not be taken in by a node
  // that is out itself.
  const joining = number > durable.group.number ? joiningOf(step) : null
  send(step, from, { type: 'change-ack', number, highest: durable.highest.request, joining })
}
