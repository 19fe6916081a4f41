/** Whether something must be decided for somebody here: only then are others watched and asked. */
import { ownCommands } from './instances.ts'
import type { Step } from './step.ts'

/** A request of this participant waits for the lock. */
export const isQueued = (step: Step): boolean =>
  step.state.durable.machine.queue.some(({ participant }) => participant === step.context.config.self)

export const isWaiting = (step: Step): boolean => ownCommands(step).length > 0 || isQueued(step)

/** Somebody has asked for a command that is not decided yet. */
export const isAskedFor = ({ state: { soft } }: Step): boolean =>
  soft.requested.length > 0 || soft.asked.length > 0

/**
 * Another participant waits, for a decision or for the lock. It says so again and again; when it has stopped,
 * nobody is watched for its sake any longer (rule T4).
 */
export function noteWaitingElsewhere(step: Step): void {
  step.state.soft.leaseUntil = step.now + 2 * step.context.config.timing.repeatMaxMs
}

export function isWaitingElsewhere(step: Step): boolean {
  const { durable, soft } = step.state
  const isOne = soft.requested.length > 0 || durable.machine.queue.length > 0
  return isOne && step.now < soft.leaseUntil
}
