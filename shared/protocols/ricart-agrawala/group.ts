/** The group and what is wanted of it. group-change.ts says how it changes. */
import { forgetMember } from '../lock-only/operators.ts'
import type { ParticipantId } from '../protocol.ts'
import type { Group } from './messages.ts'
import { deferredKey } from './records.ts'
import type { NodeChange } from './state.ts'
import { forget, isMember, type Step, save } from './step.ts'

/** Whatever an earlier incarnation, or a node that has left, wanted or was asked is over. */
export function setGroup(step: Step, group: Group): void {
  const { durable, soft } = step.state
  const before = durable.group.members
  durable.group = group
  save(step, 'group', group)
  soft.calls = 0
  for (const peer of Object.keys(before)) {
    if (group.members[peer]?.incarnation === before[peer]!.incarnation) continue
    if (durable.deferred[peer] !== undefined) {
      delete durable.deferred[peer]
      forget(step, deferredKey(Number(peer)))
    }
    // A new life is not dead.
    delete soft.dead[peer]
    if (!isMember(step, Number(peer))) forgetMember(step, Number(peer))
  }
}

// ---------------------------------------------------------------- wishes

/**
 * A dead node is taken out before another one comes in: a new node is welcomed by all members
 * (group-change.ts).
 */
export function addWish(step: Step, change: NodeChange): void {
  dropWish(step, change.participant)
  const { soft } = step.state
  soft.wishes = change.type === 'remove' ? [change, ...soft.wishes] : [...soft.wishes, change]
}

/** A node that is not in the group wants nothing of it, and counts no member as dead. */
export function dropWishes(step: Step): void {
  step.state.soft.wishes = []
  step.state.soft.dead = {}
}

export function dropWish(step: Step, participant: ParticipantId): void {
  const { soft } = step.state
  soft.wishes = soft.wishes.filter(wish => wish.participant !== participant)
}

/** The participant has come back, or left, since it wanted this. */
export function isOutOfDate(
  { members, gone }: Group,
  { type, participant, incarnation }: NodeChange,
): boolean {
  if ((members[participant]?.incarnation ?? -1) > incarnation) return true
  const last = gone[participant] ?? -1
  return type === 'add' ? last >= incarnation : last > incarnation
}

/** With a modulus the group never changes (6.4). */
export const mayGroupChange = (step: Step): boolean => step.options.modulus === undefined

export function endSponsoring(step: Step): void {
  step.state.durable.sponsoring = null
  forget(step, 'sponsoring')
}
