/**
 * All timers of one participant on its one alarm: the protocol's, answers that are owed at a certain time,
 * comments to watchers. They live in memory; after an eviction the protocol's `start` sets its own again,
 * and whoever was owed an answer is gone with the connection.
 *
 * The alarm is moved only to an earlier time. One that fires too early finds nothing due and sets the next;
 * one that fires with nothing to come is the last: an idle lock has no alarm.
 */
import type { Runtime } from '../runtime.ts'

export interface Timer {
  readonly at: number
  readonly run: () => void
}

export class Timers {
  private readonly runtime: Pick<Runtime, 'alarm' | 'now'>
  private readonly timers = new Set<Timer>()
  private alarmAt: number | null = null

  constructor(runtime: Pick<Runtime, 'alarm' | 'now'>) {
    this.runtime = runtime
  }

  /** `run` is called in a turn. */
  set(at: number, run: () => void): Timer {
    const timer = { at, run }
    this.timers.add(timer)
    return timer
  }

  cancel(timer: Timer): void {
    this.timers.delete(timer)
  }

  /** The alarm has fired: it is set no more. What is due runs, earliest first. */
  fire(): void {
    const now = this.runtime.now()
    this.alarmAt = null
    const due = [...this.timers].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at)
    // One of them may cancel another.
    for (const timer of due) if (this.timers.delete(timer)) timer.run()
  }

  /** At the end of each turn. */
  arm(): void {
    const now = this.runtime.now()
    let first = Number.POSITIVE_INFINITY
    for (const { at } of this.timers) first = Math.min(first, at)
    if (first === Number.POSITIVE_INFINITY) return
    const isSet = this.alarmAt !== null && this.alarmAt > now && this.alarmAt <= first
    if (isSet) return
    this.alarmAt = Math.max(first, now + 1)
    this.runtime.alarm.set(this.alarmAt)
  }
}
