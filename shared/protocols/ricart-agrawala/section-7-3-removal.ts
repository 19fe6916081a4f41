/**
 * Section 7.3: a node leaves the group. It takes no new users and serves those it has; then, neither requesting nor inside,
 * it asks one member after the other to take it out (group-change.ts), and goes on answering requests until it is out.
 * The paper lets the leaver tell everybody itself; with a sponsor the group has one number after the other, and it is sure
 * that the leaver is not inside when it is taken out, because the sponsor is.
 */

import { refuse } from '../lock-only/users.ts'
import type { ParticipantId, UserInput } from '../protocol.ts'
import { addWish, isOutOfDate, mayGroupChange } from './group.ts'
import type { FarewellMessage, LeaveMessage } from './messages.ts'
import {
  becomeExpelled,
  nextIncarnation,
  nextSponsor,
  setMembership,
  startJoining,
  stopSponsoring,
} from './section-7-2-insertion.ts'
import type { Change } from './state.ts'
import { assert, emit, isActive, others, restartRepeats, type Step, send } from './step.ts'

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
    default:
      return refuseBusy(step, request)
  }
}

/** It is on its way in the other direction. */
function refuseBusy(step: Step, request: string): void {
  refuse(step, request, 'membership', { code: 'busy' })
}

/** The last member stays: a lock without participants is none. */
function startLeaving(step: Step, request: string): void {
  const { membership } = step.state.durable
  if (membership.status !== 'member' && membership.status !== 'leaving') return
  if (others(step).length === 0) return refuse(step, request, 'membership', { code: 'not-supported' })
  setMembership(step, { status: 'leaving', incarnation: membership.incarnation, request })
  restartRepeats(step)
}

/** At the end of each step: of those who leave at the same time, the last one stays. */
export function stayIfAlone(step: Step): void {
  const { membership } = step.state.durable
  if (membership.status !== 'leaving' || others(step).length > 0) return
  setMembership(step, { status: 'member', incarnation: membership.incarnation })
  refuse(step, membership.request, 'membership', { code: 'not-supported' })
}

/** Neither requesting nor inside: the others may be told. It may still sponsor somebody else, or nobody would if all leave. */
export function isDrained(step: Step): boolean {
  const { membership, own } = step.state.durable
  return membership.status === 'leaving' && own.phase === 'idle' && step.desk.waiters.length === 0
}

export function sendLeave(step: Step): void {
  const { membership } = step.state.durable
  if (membership.status !== 'leaving' || !isDrained(step)) return
  const sponsor = nextSponsor(step)
  if (sponsor !== null) send(step, sponsor, { type: 'leave', incarnation: membership.incarnation })
}

export function onLeave(step: Step, from: ParticipantId, { incarnation }: LeaveMessage): void {
  const { group, sponsoring } = step.state.durable
  if (!isActive(step) || !mayGroupChange(step)) return
  // A leaver that is out already has not heard it: it is told once more, by a change that changes nothing.
  const wish: Change = { type: 'remove', participant: from, incarnation }
  if (!isOutOfDate(group, wish) && sponsoring?.change.participant !== from) addWish(step, wish)
}

export function onFarewell(step: Step, { incarnation }: FarewellMessage): void {
  const { membership } = step.state.durable
  if (membership.status === 'blank' || membership.incarnation !== incarnation) return
  if (membership.status === 'member') return becomeExpelled(step)
  if (membership.status !== 'leaving') return
  stopSponsoring(step)
  assert(step.state.durable.own.phase === 'idle', 'nobody is taken out who is inside, for its sponsor was')
  setMembership(step, { status: 'left', incarnation })
  emit(step, { type: 'membership-done', request: membership.request, wish: 'leave' })
}
