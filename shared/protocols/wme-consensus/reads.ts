/**
 * Linearizable reads without the lock, in the manner of this algorithm: by a consensus instance. The command
 * changes nothing, but once it is decided and applied here, so is everything that was decided before the read
 * was asked for. One barrier at a time serves all the reads that came before it (P5).
 */
import type { UserInput } from '../protocol.ts'
import { refuse } from '../refusals.ts'
import { lastNumber } from './commands.ts'
import { emit, isFree, type Step, submit } from './step.ts'

export function onRead(step: Step, event: Extract<UserInput, { type: 'read' }>): void {
  const { soft } = step.state
  const { request } = event
  if (soft.reads.some(read => read.request === request)) return
  if (soft.reads.length >= step.context.config.limits.waiters) {
    return refuse(step, request, 'read', { code: 'too-many-waiters' })
  }
  soft.reads.push({ request, barrier: null })
}

export function onCancelRead(step: Step, event: Extract<UserInput, { type: 'cancel-read' }>): void {
  const { soft } = step.state
  soft.reads = soft.reads.filter(read => read.request !== event.request)
}

/**
 * Called at the end of each step: decided reads are answered, and those that came since wait for the next
 * barrier.
 */
export function proceedReads(step: Step): void {
  const { durable, soft } = step.state
  if (soft.reads.length === 0) return
  const { applied: sequence } = durable.machine
  const passed = lastNumber(durable.machine, 'reading', step.context.config.self)
  const isReadable = (read: { barrier: number | null }) => read.barrier !== null && read.barrier <= passed
  for (const read of soft.reads) {
    if (isReadable(read)) emit(step, { type: 'readable', request: read.request, sequence })
  }
  soft.reads = soft.reads.filter(read => !isReadable(read))
  if (!isFree(step, 'reading') || soft.reads.length === 0) return
  const barrier = submit(step, { kind: 'barrier' })
  for (const read of soft.reads) read.barrier = barrier
}
