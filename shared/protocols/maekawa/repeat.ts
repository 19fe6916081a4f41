/**
 * Retransmission (K6). The paper's channels lose nothing. Here a node that waits asks again, with growing
 * intervals, until it is locked everywhere. Everything else follows: a member that is asked twice repeats
 * what was lost, to the node that asks and to the node that it is locked for. So a node that waits for
 * nothing sets no timer, and a run without loss needs no more messages than the paper's.
 */
import { hasEjections, repeatEjections } from '../lock-only/operators.ts'
import { cancelTimer, setTimer } from '../step.ts'
import { missing, sendRequests } from './section-4-requester.ts'
import type { Step } from './step.ts'

const MAX_DOUBLINGS = 6

const isRequesting = (step: Step): boolean => step.state.durable.own.phase === 'requesting'

/** Called at the end of each step: the timer is set exactly while something is unanswered. */
export function armRepeatTimer(step: Step): void {
  const isUnanswered = (isRequesting(step) && missing(step).length > 0) || hasEjections(step)
  if (!isUnanswered) cancelTimer(step, 'repeat')
  else if (!step.timers.repeat) setTimer(step, 'repeat', intervalMs(step))
}

function intervalMs(step: Step): number {
  const { repeatMs, repeatMaxMs } = step.context.config.timing
  return Math.min(repeatMs * 2 ** step.state.soft.repeatAttempts, repeatMaxMs)
}

export function onRepeatTimer(step: Step): void {
  const { soft } = step.state
  soft.repeatAttempts = Math.min(soft.repeatAttempts + 1, MAX_DOUBLINGS)
  if (isRequesting(step)) sendRequests(step)
  repeatEjections(step)
}
