/** Generations of a lock (G9), and what remains of a participant whose process has begun a new life. */
import { FENCE_GAP } from '../protocols/wme/fence.ts'
import { dropCore } from './lock-core.ts'
import { blankBirth, cancelTimer, change, PROPOSE_TIMER, type Step } from './lock-state.ts'

/** All fences that an owner that was cut off can still hand out are below those of the next generation. */
export function endGeneration(step: Step, epoch: number, length: number): void {
  const { chosen, generation } = step.state.birth
  if (chosen !== null) adoptGeneration(step, generation + 1, epoch + 2 + Math.floor(length / FENCE_GAP))
}

/** All that is left of the earlier generations is their tombstone, which is never dropped. */
export function adoptGeneration(step: Step, generation: number, startEpoch: number): void {
  beginAnew(step, generation, startEpoch, step.state.birth.incarnation)
}

/**
 * This process is in a later incarnation than the one under which this participant voted: the participant
 * counts as lost, whatever it has.
 */
export function forgetLife(step: Step, incarnation: number): void {
  const { generation, startEpoch } = step.state.birth
  beginAnew(step, generation, startEpoch, incarnation)
  step.restart = true
}

function beginAnew(step: Step, generation: number, startEpoch: number, incarnation: number): void {
  const { soft } = step.state
  const { known } = step.state.birth
  dropCore(step, 'unknown')
  change(step, { ...blankBirth(generation, startEpoch), known, incarnation })
  soft.proposal = null
  soft.isStuck = false
  soft.isWaitingForFirst = false
  soft.isAsking = false
  soft.attempts = 0
  soft.highestBallot = 0
  soft.informed.clear()
  cancelTimer(step, PROPOSE_TIMER)
}
