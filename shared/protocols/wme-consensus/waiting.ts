/** Whether something must be decided for somebody here: only then are others watched and asked. */
import { ownCommands } from './instances.ts'
import type { Step } from './step.ts'

/** A request of this participant waits for the lock. */
export const isQueued = (step: Step): boolean =>
  step.state.durable.machine.queue.some(({ participant }) => participant === step.context.config.self)

export const isWaiting = (step: Step): boolean => ownCommands(step).length > 0 || isQueued(step)
