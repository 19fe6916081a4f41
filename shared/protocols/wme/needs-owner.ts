/**
 * Whether the owner of the token matters to anybody here: only then is it watched, suspected and asked about.
 */
import type { Step } from './step.ts'

/** Somebody here waits for what only the owner, or its successor, can give. */
export function needsOwner(step: Step): boolean {
  const { durable, soft } = step.state
  if (durable.stub.phase === 'requesting' || soft.ejects.length > 0 || soft.reads.length > 0) return true
  return Object.keys(soft.joins).length > 0
}
