/**
 * Retransmission (K6). The paper's channels lose nothing. Here a node that waits asks again, with growing
 * intervals, until it is locked everywhere. Everything else follows: a member that is asked twice repeats
 * what was lost, to the node that asks and to the node that it is locked for. So a node that waits for
 * nothing sets no timer, and a run without loss needs no more messages than the paper's.
 */
import { hasEjections, repeatEjections } from '../lock-only/operators.ts'
import { countRepeat, keepRepeating } from '../retransmission.ts'
import { missing, sendRequests } from './section-4-requester.ts'
import type { Step } from './step.ts'

const isRequesting = (step: Step): boolean => step.state.durable.own.phase === 'requesting'

export function armRepeatTimer(step: Step): void {
  keepRepeating(step, (isRequesting(step) && missing(step).length > 0) || hasEjections(step))
}

export function onRepeatTimer(step: Step): void {
  countRepeat(step)
  if (isRequesting(step)) sendRequests(step)
  repeatEjections(step)
}
