/** An operator forces the present holder out: by a decision if it is elsewhere, at once if it is here. */
import { roundOf } from '../ballots.ts'
import type { UserInput } from '../protocol.ts'
import { refuse } from '../refusals.ts'
import { ejectOnceSettled } from './grants.ts'
import { emit, type Step, submitEjection } from './step.ts'

/** Means the holder according to the log as it is known here. */
export function onEject(step: Step, event: Extract<UserInput, { type: 'eject' }>): void {
  const { durable, soft } = step.state
  const { holder, latestFence } = durable.machine
  const { request, fence = holder?.fence ?? latestFence } = event
  if (soft.ejects.length >= step.context.config.limits.waiters) {
    return refuse(step, request, 'eject', { code: 'too-many-waiters' })
  }
  // If another holder than the one that is meant is inside, it stays.
  if (fence !== (holder?.fence ?? latestFence)) return refuse(step, request, 'eject', { code: 'conflict' })
  soft.ejects.push({ request, fence })
  if (holder === null) return
  if (holder.participant === step.context.config.self) ejectOnceSettled(step, 'operator')
  else submitEjection(step, { kind: 'eject', fence: holder.fence, reason: 'operator' })
}

/** Called at the end of each step: an ejection is done when its holder is out. */
export function settleEjects(step: Step): void {
  const { durable, soft } = step.state
  if (soft.ejects.length === 0) return
  const { holder } = durable.machine
  const isHere = holder?.participant === step.context.config.self
  const isIn = (fence: number): boolean =>
    holder?.fence === fence && (!isHere || durable.stub.grant?.fence === fence)
  const epoch = roundOf(durable.acceptor.promised)
  for (const { request, fence } of soft.ejects)
    if (!isIn(fence)) emit(step, { type: 'eject-done', request, epoch })
  soft.ejects = soft.ejects.filter(({ fence }) => isIn(fence))
}
