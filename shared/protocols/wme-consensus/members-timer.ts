/** What is said again about the members until it has had its effect, by a timer of its own. */
import { askWhoIsThere, repeatInvitations } from './change-of-members.ts'
import { mayDrop, owesHandover, sendHandover } from './handover.ts'
import { isCalling, MAX_CALLS, sendJoin } from './learner.ts'
import { isCoordinator } from './log.ts'
import { cancelTimer, type Step, setTimer } from './step.ts'

/**
 * Called at the end of each step. These repeats have a timer of their own: that of the log begins anew with
 * each proposal, and may never fire while there is much to propose.
 */
export function armMembersTimer(step: Step): void {
  const { timers, calls } = step.state.soft
  const { repeatMs, repeatMaxMs } = step.context.config.timing
  if (!isSpeaking(step)) cancelTimer(step, 'members')
  else if (!timers.members) setTimer(step, 'members', Math.min(repeatMs * 2 ** calls, repeatMaxMs))
}

function isSpeaking(step: Step): boolean {
  const { changes, asked } = step.state.soft
  if (changes.length > 0 || (isCoordinator(step) && asked.length > 0)) return true
  return owesHandover(step) || mayDrop(step) || isCalling(step)
}

/**
 * Newcomers are invited again, the coordinator asks who is there, and new members hear that they are some.
 */
export function onMembersTimer(step: Step): void {
  const { soft } = step.state
  soft.calls = Math.min(soft.calls + 1, MAX_CALLS)
  sendHandover(step)
  sendJoin(step)
  if (step.state.durable.membership.status !== 'member') return
  if (soft.changes.length > 0) repeatInvitations(step)
  if (isCoordinator(step)) for (const asked of soft.asked) askWhoIsThere(step, asked)
}
