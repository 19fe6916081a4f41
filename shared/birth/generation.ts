/** Generations of a lock (G9), and what remains of a participant whose process has begun a new life. */
import { dropCore } from './lock-core.ts'
import { blankBirth, cancelTimer, change, emit, MOVED_TIMER, PROPOSE_TIMER, type Step } from './lock-state.ts'

/** All that is left of the earlier generations is their tombstone, which is never dropped. */
export function adoptGeneration(step: Step, generation: number, startEpoch: number): void {
  dropCore(step, 'unknown', 'ended')
  step.ended = true
  beginAnew(step, generation, startEpoch, step.state.birth.incarnation)
  emit(step, { type: 'ended', generation })
}

/**
 * This process is in a later incarnation than the one under which this participant voted: the participant
 * counts as lost, whatever it has.
 */
export function forgetLife(step: Step, incarnation: number): void {
  const { generation, startEpoch, untold, former } = step.state.birth
  // Nobody tries again here: those that only waited are told so, too.
  step.state.soft.tries.clear()
  dropCore(step, 'unknown')
  beginAnew(step, generation, startEpoch, incarnation)
  if (untold !== undefined) change(step, { untold, ...(former && { former }) })
  step.restart = true
}

function beginAnew(step: Step, generation: number, startEpoch: number, incarnation: number): void {
  const { soft } = step.state
  // Who the members were is of no importance any more; who must hear of the end still is. The ledger says
  // again what holds for this participant.
  const { members: _, unmoved: __, isStrict: ___, ...birth } = step.state.birth
  const { known } = birth
  step.state.birth = birth
  cancelTimer(step, MOVED_TIMER)
  change(step, { ...blankBirth(generation, startEpoch), known, incarnation })
  // Whoever looked at the lock that is over must not bring the next one into being.
  if (generation > birth.generation) {
    if (soft.wish === 'look') soft.wish = 'none'
    soft.isLookedAt = false
  }
  // Those that asked what it is ask again, if they want the next one.
  soft.askers.clear()
  soft.proposal = null
  soft.isStuck = false
  soft.isWaitingForFirst = false
  soft.isAsking = false
  soft.attempts = 0
  soft.highestBallot = 0
  soft.unreachable.clear()
  soft.isFirstBound = false
  soft.informed.clear()
  soft.held = []
  cancelTimer(step, PROPOSE_TIMER)
}
