/**
 * Retransmission: one timer, `repeat`, serves everything that a participant says until it has its effect. It
 * is set exactly while something is unanswered, so that a lock that nobody waits for falls silent. Its
 * intervals double until they are as long as they may be. What is unanswered, and what is then said again, is
 * the protocol's own business.
 */
import type { Context, Effect } from './protocol.ts'
import { cancelTimer, type SetTimers, setTimer } from './step.ts'

const MAX_DOUBLINGS = 6

/** Soft state. */
export interface Repeats {
  /** How often the timer has fired since there was something new. */
  repeatAttempts: number
}

export interface RepeatingStep {
  readonly context: Context
  readonly effects: { push(effect: Effect<never>): unknown }
  readonly timers: SetTimers<'repeat'>
  readonly state: { readonly soft: Repeats }
}

function intervalMs({ context, state }: RepeatingStep): number {
  const { repeatMs, repeatMaxMs } = context.config.timing
  return Math.min(repeatMs * 2 ** state.soft.repeatAttempts, repeatMaxMs)
}

/** Called at the end of each step. */
export function keepRepeating(step: RepeatingStep, isUnanswered: boolean): void {
  if (!isUnanswered) cancelTimer(step, 'repeat')
  else if (!step.timers.repeat) setTimer(step, 'repeat', intervalMs(step))
}

/** Called when the timer fires. */
export function countRepeat({ state }: RepeatingStep): void {
  state.soft.repeatAttempts = Math.min(state.soft.repeatAttempts + 1, MAX_DOUBLINGS)
}

/** There is something new to make known: repeats begin again with the shortest interval. */
export function restartRepeats(step: RepeatingStep & { state: { soft: { idleRepeats: number } } }): void {
  step.state.soft.repeatAttempts = 0
  step.state.soft.idleRepeats = 0
  setTimer(step, 'repeat', step.context.config.timing.repeatMs)
}
