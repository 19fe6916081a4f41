/**
 * How entries leave: what the owner has appended goes to all at the end of the step. A mere re-entry concerns
 * nobody else, and the paper sends nothing then. It rides on the next operation or grant. It leaves by itself
 * only if its user waits for the confirmation, if its user stays inside, or if many re-entries have gathered.
 */
import { inCriticalSection } from './figure-3-states.ts'
import { entriesAfter, lengthOf, sendEntries } from './log.ts'
import { restartRepeats } from './repeat.ts'
import { cancelTimer, type Step, setTimer } from './step.ts'

/** Called at the end of a step that has appended something. */
export function replicateAppended(step: Step): void {
  if (step.context.config.timing.confirmMs === 0 || !isReentryAlone(step)) replicate(step)
}

/** Whether re-entries are all that was not sent, and few enough that a grant to another fits behind them. */
function isReentryAlone(step: Step): boolean {
  const { durable } = step.state
  const { self, limits } = step.context.config
  // The user waits for the confirmation.
  if (durable.stub.phase === 'entering') return false
  const sent = leastSent(step)
  if (sent < durable.base.sequence) return false
  const most = Math.min(limits.entriesPerMessage, limits.uncommitted)
  const unsent = entriesAfter(durable, sent, most)
  return (
    unsent.length < most &&
    unsent.every(entry => entry.kind === 'grant' && entry.by === self && entry.to === self)
  )
}

/** Up to where the log was sent to all. */
export function leastSent(step: Step): number {
  const { self, participants } = step.context.config
  let least = lengthOf(step.state.durable)
  for (let peer = 1; peer <= participants; peer++) {
    if (peer !== self) least = Math.min(least, step.state.soft.sent[peer]!)
  }
  return least
}

/**
 * Called at the end of each step: the timer is set exactly while a user is inside under a grant that the
 * others have not been told of. They need to know only of a holder that stays: once it has left, nobody does.
 */
export function armConfirmTimer(step: Step): void {
  const { soft } = step.state
  if (!isHeldUnsent(step)) cancelTimer(step, 'confirm')
  else if (step.appended || !soft.timers.confirm)
    setTimer(step, 'confirm', step.context.config.timing.confirmMs)
}

function isHeldUnsent(step: Step): boolean {
  const { durable } = step.state
  const { grant, phase } = durable.stub
  return grant !== null && inCriticalSection(phase) && mayAppend(step) && grant.sequence > leastSent(step)
}

const mayAppend = ({ state: { durable, derived }, context }: Step): boolean =>
  derived.owner === context.config.self && !durable.epoch.sealed

/** A user has been inside for a while: a majority gets to know of its grant. */
export function onConfirmTimer(step: Step): void {
  if (isHeldUnsent(step)) replicate(step)
}

/** Sends all participants what they were not sent before, together with what is committed. */
function replicate(step: Step): void {
  const { durable, soft } = step.state
  const { self, participants } = step.context.config
  if (participants === 1) return
  for (let peer = 1; peer <= participants; peer++) {
    if (peer === self) continue
    sendEntries(step, peer, soft.sent[peer]!)
    soft.sent[peer] = lengthOf(durable)
  }
  soft.told = soft.committed
  cancelTimer(step, 'flush')
  restartRepeats(step)
}
