/**
 * Section 7.3: a node leaves the group. It takes no new users and serves those it has. Then it tells all
 * others that it leaves, and is out when they have acknowledged; nodes that wait for its REPLY pretend that
 * it came. The paper does not say what happens if two nodes leave, or one leaves and one comes, at the same
 * time. So the leaver does this as the sponsor of its own removal, inside the critical section, with no user
 * in it (R7, group-change.ts). Once outside it is neither requesting nor inside, and answers nobody: nobody
 * needs it any more.
 */

import { isIn } from '../members/sets.ts'
import type { ParticipantId, UserInput } from '../protocol.ts'
import { refuse } from '../refusals.ts'
import { addWish, dropWishes, endSponsoring, mayGroupChange } from './group.ts'
import { becomeRemoved, isToGo, refuseOutside } from './members.ts'
import { leave } from './section-2-algorithm.ts'
import { nextIncarnation, startJoining } from './section-7-2-insertion.ts'
import type { NodeChange } from './state.ts'
import { assert, emit, others, type Step, setMembership } from './step.ts'

export function onMembershipWish(step: Step, event: Extract<UserInput, { type: 'membership' }>): void {
  const { membership } = step.state.durable
  const { request, wish } = event
  const isThere = membership.status === (wish === 'leave' ? 'left' : 'member')
  if (isThere) return emit(step, { type: 'membership-done', request, wish })
  if (!mayGroupChange(step)) return refuse(step, request, 'membership', { code: 'not-supported' })
  switch (membership.status) {
    case 'member':
    case 'leaving':
      return wish === 'leave' ? startLeaving(step, request) : refuseBusy(step, request)
    case 'joining':
      return wish === 'join' ? startJoining(step, membership.incarnation, request) : refuseBusy(step, request)
    case 'left':
      return startJoining(step, nextIncarnation(step), request)
    case 'removed':
      return refuseOutside(step, event)
    default:
      return refuseBusy(step, request)
  }
}

/** The node is on its way in the other direction. */
function refuseBusy(step: Step, request: string): void {
  refuse(step, request, 'membership', { code: 'busy' })
}

/** The last member stays: a lock needs a participant. */
function startLeaving(step: Step, request: string): void {
  const { membership } = step.state.durable
  if (membership.status !== 'member' && membership.status !== 'leaving') return
  if (others(step).length === 0) return refuse(step, request, 'membership', { code: 'not-supported' })
  setMembership(step, { status: 'leaving', incarnation: membership.incarnation, request })
}

/** Whether somebody stays; for one that has to go, somebody that the set names. */
function isOneThere(step: Step): boolean {
  const isNamed = (member: ParticipantId) => isIn(step.context.config, step.state.durable.group, member)
  return isToGo(step) ? others(step).some(isNamed) : others(step).length > 0
}

/**
 * Called at the end of each step: of the nodes that leave at the same time, the last one stays; so does one
 * that has to go, as long as all that should stay have left.
 */
export function stayIfAlone(step: Step): void {
  const { membership } = step.state.durable
  if (membership.status !== 'leaving' || isOneThere(step)) return
  setMembership(step, { status: 'member', incarnation: membership.incarnation })
  if (membership.request !== null) refuse(step, membership.request, 'membership', { code: 'not-supported' })
}

/** What a node that has served its last user wants. */
export function ownRemoval(step: Step): NodeChange | null {
  const { membership } = step.state.durable
  const { waiters, holders } = step.localQueue
  if (membership.status !== 'leaving' || waiters.length + holders.length > 0) return null
  if (!isOneThere(step)) return null
  return { type: 'remove', participant: step.self, incarnation: membership.incarnation }
}

/**
 * All have acknowledged. But if all of them have lost their storage, nobody else knows the group: they come
 * back first.
 */
export function departOrStay(step: Step): void {
  const { durable, soft } = step.state
  const { membership } = durable
  assert(membership.status === 'leaving', 'only a node that is leaving departs')
  endSponsoring(step)
  if (soft.joiners.length === others(step).length) {
    for (const joiner of soft.joiners) addWish(step, joiner)
    return
  }
  dropWishes(step)
  leave(step)
  if (isToGo(step)) becomeRemoved(step)
  else setMembership(step, { status: 'left', incarnation: membership.incarnation })
  const { request } = membership
  if (request !== null) emit(step, { type: 'membership-done', request, wish: 'leave' })
}
