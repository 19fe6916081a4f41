/** The group and what is wanted of it; how it changes is in group-change.ts. */
import { forgetMember } from '../lock-only/operators.ts'
import type { ParticipantId } from '../protocol.ts'
import type { Group } from './messages.ts'
import { deferredKey } from './records.ts'
import type { Change } from './state.ts'
import { forget, isMember, type Step, save } from './step.ts'

/** What an earlier incarnation, or somebody who has left, wanted or was asked is over. */
export function setGroup(step: Step, group: Group): void {
  const { durable, soft } = step.state
  const before = durable.group.members
  durable.group = group
  save(step, 'group', group)
  for (const peer of Object.keys(before)) {
    const isSame = group.members[peer]?.incarnation === before[peer]!.incarnation
    if (!isSame && durable.deferred[peer] !== undefined) {
      delete durable.deferred[peer]
      forget(step, deferredKey(Number(peer)))
    }
    if (isMember(step, Number(peer))) continue
    delete soft.dead[peer]
    forgetMember(step, Number(peer))
  }
}

// ---------------------------------------------------------------- wishes

export function addWish(step: Step, change: Change): void {
  dropWish(step, change.participant)
  step.state.soft.wishes.push(change)
}

export function dropWish(step: Step, participant: ParticipantId): void {
  const { soft } = step.state
  soft.wishes = soft.wishes.filter(wish => wish.participant !== participant)
}

/** The participant has come back, or left, since it wanted this. */
export function isOutOfDate({ members, gone }: Group, { type, participant, incarnation }: Change): boolean {
  if ((members[participant]?.incarnation ?? -1) > incarnation) return true
  const last = gone[participant] ?? -1
  return type === 'add' ? last >= incarnation : last > incarnation
}

/** With a modulus the group stands still (6.4). */
export const mayGroupChange = (step: Step): boolean => step.options.modulus === undefined

export function endSponsoring(step: Step): void {
  step.state.durable.sponsoring = null
  forget(step, 'sponsoring')
}
