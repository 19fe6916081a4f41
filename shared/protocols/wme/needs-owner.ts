/**
 * Whether the owner of the token matters to anybody: only then is it watched, suspected and asked about.
 */
import { wantsChange } from './change-of-members.ts'
import type { Step } from './step.ts'

/** Somebody here waits for what only the owner, or its successor, can give. */
export function needsOwner(step: Step): boolean {
  const { durable, soft } = step.state
  if (durable.stub.phase === 'requesting' || soft.ejects.length > 0 || soft.reads.length > 0) return true
  return Object.keys(soft.joins).length > 0 || wantsChange(step)
}

/**
 * Another participant waits for the token. Whoever hears of it watches the owner too, so that the pre-vote
 * finds a silent one already known, and silence costs one time-out and not two. It is a lease (rule T4): a
 * participant that still waits repeats its request, and one whose grant was missed here does not.
 */
export function noteNeedElsewhere(step: Step): void {
  step.state.soft.leaseUntil = step.now + 2 * step.context.config.timing.repeatMaxMs
}

export function isNeededElsewhere(step: Step): boolean {
  const { requests, leaseUntil } = step.state.soft
  return requests.length > 0 && step.now < leaseUntil
}
