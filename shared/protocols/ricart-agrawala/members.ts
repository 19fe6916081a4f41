/**
 * Operators change the members (rules R9 to R18): any set of them in place of the present one. The paper
 * changes one node at a time, so the set is written down first, and the group follows it.
 *   1. The node that was asked calls the newcomers, and goes on when all have answered. Members that have
 *      left, or were declared dead, come back first (R16).
 *   2. As a sponsor, inside, it makes the new set a part of the group. Of two nodes that were asked for
 *      different changes the first one inside wins; the change of the other was made for another set.
 *   3. It calls the newcomers again. Each of them comes in as in 7.2, one after the other.
 *   4. When all are in, it says so to all, inside, and the nodes that the set does not name take themselves
 *      out as in 7.3.
 *   5. When the group is the set, a member says so to all, inside. Until then a node that has left may be the
 *      only one that could tell another member; afterwards nobody else is needed.
 * Whoever carries a change through, its carrier, is written down with the set. If that node is no longer in
 * the group, the first member is the carrier. The next change waits until the last one is through.
 */
import { createChangeRequests, MAX_INVITATIONS } from '../members/requests.ts'
import { addressesIn, configIn, isIn, membersIn, presentIn } from '../members/sets.ts'
import { refuseToChange } from '../members/which.ts'
import type { ParticipantId, Refusal, UserInput } from '../protocol.ts'
import { NOT_A_MEMBER, refuse, refuseEvent } from '../refusals.ts'
import { dismissWaiters } from '../waiting-users.ts'
import { mayGroupChange } from './group.ts'
import type { Group } from './messages.ts'
import type { Change, Durable } from './state.ts'
import { cancelTimer, isActive, others, type Step, save, send, setMembership, setTimer } from './step.ts'

const MAX_DOUBLINGS = 6

// ---------------------------------------------------------------- the node that was asked

export const { settleChanges, wanted, unready, noteNewcomer, repeatInvitations, onChangeMembers } =
  createChangeRequests<Step>({
    ofSet: ({ state }) => state.durable.group,
    isMember: isActive,
    isAway: ({ state }, member) => state.durable.group.members[member] === undefined,
    invite: sendInvite,
    restartRepeats: step => restartCalls(step),
    // A node that is not in the group may not have heard of the last changes.
    isHandedOver: step => isActive(step) && isHandedOverIn(step.state.durable),
    refusal(step, { id }) {
      const { group, membership } = step.state.durable
      if (membership.status === 'removed') return elsewhere(step)
      if (!isActive(step)) return NOT_A_MEMBER
      const cancelled = group.set?.cancelled
      return cancelled?.change === id ? { code: 'not-reached', participants: cancelled.unreached } : null
    },
  })

/** With a modulus the group never changes (6.4). */
export function onChange(step: Step, event: Extract<UserInput, { type: 'change-members' }>): void {
  if (!mayGroupChange(step)) refuseToChange(step, event)
  else onChangeMembers(step, event)
}

function sendInvite(step: Step, newcomer: ParticipantId): void {
  const { number } = step.state.durable.group
  send(step, newcomer, { type: 'invite', members: numbersOf(step), number })
}

const numbersOf = ({ state }: Step): ParticipantId[] => Object.keys(state.durable.group.members).map(Number)

export const isReached = ({ set }: Group): boolean => set === undefined || set.isReached

/** Nobody else is needed any more, as far as this node knows. */
export const isHandedOverIn = ({ group, sponsoring }: Durable): boolean =>
  isReached(group) && sponsoring === null

/** What users of a node that is no member any more are told. */
export function elsewhere({ state, context }: Step): Refusal {
  const { group } = state.durable
  return { code: 'elsewhere', epoch: configIn(group), ...presentIn(context.config, group) }
}

// ---------------------------------------------------------------- from the set to the group

/** Whether the set names this node, in this place (R10). */
export const isNamed = (step: Step, participant: ParticipantId, address: string): boolean =>
  addressesIn(step.context.config, step.state.durable.group)[participant] === address

/**
 * Those that are not in the group yet: newcomers, and members that have left since the change began (R16).
 * Once all have been in, the change goes on without those that leave.
 */
function missing({ state, context }: Step): ParticipantId[] {
  const { group } = state.durable
  if (isReached(group) || group.set?.hasArrived === true) return []
  return membersIn(context.config, group).filter(member => group.members[member] === undefined)
}

/** The nodes of the group that the set does not name. */
const going = (step: Step): ParticipantId[] =>
  numbersOf(step).filter(member => !isIn(step.context.config, step.state.durable.group, member))

/** Whether this node sees to it that the group becomes the set. */
function isCarrier(step: Step): boolean {
  const { group } = step.state.durable
  if (group.set === undefined || group.set.isReached || !isActive(step)) return false
  const isThere = group.members[group.set.carrier] !== undefined
  const carrier = isThere ? group.set.carrier : Math.min(...numbersOf(step))
  return carrier === step.self
}

/** What this node has to do to the group for operators, once it is inside. */
export function setChangeNeeded(step: Step): Change | null {
  const { group } = step.state.durable
  if (isReached(group)) {
    const change = step.state.soft.changes.length > 0 && mayGroupChange(step) ? wanted(step) : null
    if (change === null) return null
    const { id, base, members } = change
    return { type: 'plan', change: { id, base, members } }
  }
  if (!isCarrier(step)) return null
  const absent = missing(step)
  if (absent.length === 0) {
    if (going(step).length === 0) return { type: 'reached' }
    return group.set!.hasArrived ? null : { type: 'arrived' }
  }
  return step.state.soft.calls < MAX_INVITATIONS
    ? null
    : { type: 'cancel', unreached: absent, incarnation: null }
}

/** There is somebody new to call: repeats begin again with the shortest interval. */
function restartCalls(step: Step): void {
  step.state.soft.callRepeats = 0
  cancelTimer(step, 'members')
}

/**
 * Called at the end of each step. These repeats have a timer of their own: that of the requests begins anew
 * with each request, and may never fire while users come all the time.
 */
export function armMembersTimer(step: Step): void {
  const { timers, callRepeats } = step.state.soft
  const { repeatMs, repeatMaxMs } = step.context.config.timing
  const isCalling = unready(step).length > 0 || (isCarrier(step) && missing(step).length > 0)
  if (!isCalling) cancelTimer(step, 'members')
  else if (!timers.members) setTimer(step, 'members', Math.min(repeatMs * 2 ** callRepeats, repeatMaxMs))
}

export function onMembersTimer(step: Step): void {
  step.state.soft.callRepeats = Math.min(step.state.soft.callRepeats + 1, MAX_DOUBLINGS)
  repeatCalls(step)
}

/** Also called after a restart, and when a new set is known to all. */
export function repeatCalls(step: Step): void {
  const { soft } = step.state
  if (soft.changes.length > 0) repeatInvitations(step)
  const absent = isCarrier(step) ? missing(step) : []
  if (absent.length === 0) return
  soft.calls = Math.min(soft.calls + 1, MAX_INVITATIONS)
  for (const newcomer of absent) sendInvite(step, newcomer)
}

// ---------------------------------------------------------------- who has to go

/** Whether operators want this node to leave, and that is certain: all newcomers are in (R11). */
export function isToGo({ state, context }: Step): boolean {
  const { group } = state.durable
  return group.set?.hasArrived === true && !isIn(context.config, group, context.config.self)
}

/**
 * All newcomers are in, and welcome: this node begins to leave (R11). Those that wait here are sent elsewhere
 * (R13); nobody is inside, because the one who has said it is. Returns whether it has just begun.
 */
export function beginRemoval(step: Step): boolean {
  const { membership, group } = step.state.durable
  if (membership.status !== 'member' || !isToGo(step)) return false
  if (!others(step).some(member => isIn(step.context.config, group, member))) return false
  setMembership(step, { status: 'leaving', incarnation: membership.incarnation, request: null })
  dismiss(step)
  return true
}

/** Those that wait here are sent on. */
function dismiss(step: Step): void {
  for (const { user } of dismissWaiters(step)) refuse(step, user, 'try', elsewhere(step))
}

/** This node is no member any more, for good. It remembers who is. */
export function becomeRemoved(step: Step): void {
  const { membership } = step.state.durable
  if (membership.status === 'blank') return
  const { incarnation } = membership
  if ('request' in membership && membership.request !== null && membership.status === 'joining')
    refuse(step, membership.request, 'membership', elsewhere(step))
  setMembership(step, { status: 'removed', incarnation })
  dismiss(step)
}

/** What a node that is on its way in has learned: it is not wanted, or never again. */
export function learnSet(step: Step, group: Pick<Group, 'set'>): void {
  const { durable } = step.state
  if (group.set === undefined) return
  durable.group = { ...durable.group, set: group.set }
  save(step, 'group', durable.group)
}

/** Refuses what only a member can do. */
export function refuseOutside(step: Step, event: UserInput): void {
  const { status } = step.state.durable.membership
  const isSentOn = status === 'removed' || (status === 'leaving' && isToGo(step))
  refuseEvent(step, event, isSentOn ? elsewhere(step) : NOT_A_MEMBER)
}
