/**
 * After healing: the participants that were lost are taken back in the background, a few locks at a time. A
 * machine with much to do takes longer for each, and then fewer are begun: its clients come first.
 */
import { isUnfinished, type Step, writeEntry } from './ledger-state.ts'
import type { LedgerInput } from './ledger-types.ts'

type Finished = Extract<LedgerInput, { readonly type: 'finished' }>

export function armFinishing(step: Step): void {
  const { entries, soft } = step.state
  soft.unfinished = []
  soft.finishing.clear()
  for (const [lock, entry] of entries) if (isUnfinished(entry)) soft.unfinished.push(lock)
  if (soft.unfinished.length > 0) setFinishTimer(step, step.context.timing.finishMs)
}

/** One more lock, whose participant was lost alone. */
export function finishSoon(step: Step, lock: string): void {
  step.state.soft.unfinished.push(lock)
  if (hasRoom(step)) setFinishTimer(step, step.context.timing.finishMs)
}

const hasRoom = ({ context, state }: Step): boolean => state.soft.finishing.size < context.timing.finishAtOnce

function setFinishTimer(step: Step, afterMs: number): void {
  step.effects.push({ type: 'set-timer', timer: 'finish', afterMs })
}

/** The next lock. Those that could not be finished are tried again later. */
export function onFinishTimer(step: Step): void {
  const { entries, soft, record } = step.state
  if (record?.status !== 'founded' || !record.isHealed) return
  // Those that are on their way have had their time.
  if (!hasRoom(step)) soft.finishing.clear()
  const lock = soft.unfinished.shift()
  if (lock === undefined) return armFinishing(step)
  const entry = entries.get(lock)
  if (entry !== undefined && entry.isFinished !== true) {
    soft.finishing.add(lock)
    step.effects.push({ type: 'finish', lock, incarnation: record.incarnation, generation: entry.lost })
  }
  setFinishTimer(step, untilNextMs(step))
}

function untilNextMs(step: Step): number {
  const { finishMs, finishAgainMs } = step.context.timing
  return step.state.soft.unfinished.length > 0 && hasRoom(step) ? finishMs : finishAgainMs
}

/**
 * A participant that was taken back in an earlier life of the process is lost again in this one, and will be
 * told so: it is not finished.
 */
export function onFinished(step: Step, { lock, generation, incarnation }: Finished): void {
  const { record, entries, soft } = step.state
  const entry = entries.get(lock)
  if (entry === undefined || entry.isFinished || generation < entry.lost) return
  if (record?.status !== 'founded' || incarnation < record.incarnation) return
  writeEntry(step, lock, { ...entry, isFinished: true })
  const wasFull = !hasRoom(step)
  soft.finishing.delete(lock)
  if (wasFull && hasRoom(step) && soft.unfinished.length > 0)
    setFinishTimer(step, step.context.timing.finishMs)
}
