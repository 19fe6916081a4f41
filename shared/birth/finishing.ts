/**
 * After healing: the participants that were lost are taken back in the background, one lock after the other.
 */
import { isUnfinished, type Step, writeEntry } from './ledger-state.ts'

export function armFinishing(step: Step): void {
  const { entries, soft } = step.state
  soft.unfinished = []
  for (const [lock, entry] of entries) if (isUnfinished(entry)) soft.unfinished.push(lock)
  if (soft.unfinished.length > 0) setFinishTimer(step, step.context.timing.finishMs)
}

/** One more lock, whose participant was lost alone. */
export function finishSoon(step: Step, lock: string): void {
  step.state.soft.unfinished.push(lock)
  setFinishTimer(step, step.context.timing.finishMs)
}

export function setFinishTimer(step: Step, afterMs: number): void {
  step.effects.push({ type: 'set-timer', timer: 'finish', afterMs })
}

/** One lock at a time. Those that could not be finished are tried again later. */
export function onFinishTimer(step: Step): void {
  const { entries, soft, record } = step.state
  if (record?.status !== 'founded' || !record.isHealed) return
  const lock = soft.unfinished.shift()
  if (lock === undefined) return armFinishing(step)
  const isOver = entries.get(lock)?.isFinished === true
  if (!isOver) step.effects.push({ type: 'finish', lock, incarnation: record.incarnation })
  const { finishMs, finishAgainMs } = step.context.timing
  setFinishTimer(step, soft.unfinished.length > 0 ? finishMs : finishAgainMs)
}

export function onFinished(step: Step, lock: string, generation: number): void {
  const entry = step.state.entries.get(lock)
  if (entry === undefined || entry.isFinished || generation < entry.lost) return
  writeEntry(step, lock, { ...entry, isFinished: true })
}
