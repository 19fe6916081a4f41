/**
 * All timers of one participant: the protocol's, answers that are due at a certain time, comments to
 * watchers. They live in memory. After an eviction the protocol's `start` sets its own again, and clients
 * that waited for an answer are gone with their connections.
 *
 * The platform has an alarm, which survives the instance and is a write to disk, and timeouts, which do not
 * and are free. Most timers are cancelled or over within a second, so they are left to a timeout. Only a
 * timer that has been there for longer gets the alarm behind it, so that an instance which ends is woken
 * again; until then the next request wakes it, and its sender repeats it. A timer that is far away is left to
 * the alarm alone, since a timeout keeps the instance in memory.
 *
 * The alarm is moved only to an earlier time. One that fires too early finds nothing due and sets the next;
 * one that fires with nothing left to come is the last: an idle lock has no alarm.
 */
import type { Runtime } from '../runtime.ts'

export interface Timer {
  readonly at: number
  readonly setAt: number
  readonly run: () => void
}

/** A timer that is older than this has the alarm behind it. */
const ALARM_AFTER_MS = 1_000
/** A timer that is further away than this is left to the alarm. */
const TIMEOUT_MAX_MS = 10_000
/** The alarm behind a timeout comes this much later. */
const BEHIND_MS = 5_000

export class Timers {
  private readonly runtime: Pick<Runtime, 'alarm' | 'timeout' | 'now'>
  /** Begins a turn in which `fire` is called. */
  private readonly wake: () => void
  private readonly timers = new Set<Timer>()
  private alarmAt: number | null = null
  private timeoutAt: number | null = null

  constructor(runtime: Pick<Runtime, 'alarm' | 'timeout' | 'now'>, wake: () => void) {
    this.runtime = runtime
    this.wake = wake
  }

  /** `run` is called in a turn. */
  set(at: number, run: () => void): Timer {
    const timer = { at, setAt: this.runtime.now(), run }
    this.timers.add(timer)
    return timer
  }

  cancel(timer: Timer): void {
    this.timers.delete(timer)
  }

  /** The alarm has fired and is no longer set. */
  onAlarm(): void {
    this.alarmAt = null
    this.fire()
  }

  /** Timers that are due run, earliest first. */
  fire(): void {
    const now = this.runtime.now()
    const due = [...this.timers].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at)
    // One of them may cancel another.
    for (const timer of due) if (this.timers.delete(timer)) timer.run()
  }

  /** Called at the end of each turn. */
  arm(): void {
    const now = this.runtime.now()
    let alarmAt = Number.POSITIVE_INFINITY
    let timeoutAt = Number.POSITIVE_INFINITY
    for (const { at, setAt } of this.timers) {
      const isNear = at - now <= TIMEOUT_MAX_MS
      if (isNear) timeoutAt = Math.min(timeoutAt, at)
      if (now - setAt < ALARM_AFTER_MS) timeoutAt = Math.min(timeoutAt, setAt + ALARM_AFTER_MS)
      else alarmAt = Math.min(alarmAt, isNear ? at + BEHIND_MS : at)
    }
    this.moveTimeout(timeoutAt, now)
    this.moveAlarm(alarmAt, now)
  }

  private moveTimeout(at: number, now: number): void {
    const isSet = this.timeoutAt !== null && this.timeoutAt > now && this.timeoutAt <= at
    if (at === Number.POSITIVE_INFINITY || isSet) return
    this.timeoutAt = at
    this.runtime.timeout.set(Math.max(0, at - now), () => {
      this.timeoutAt = null
      this.wake()
    })
  }

  private moveAlarm(at: number, now: number): void {
    const isSet = this.alarmAt !== null && this.alarmAt > now && this.alarmAt <= at
    if (at === Number.POSITIVE_INFINITY || isSet) return
    this.alarmAt = Math.max(at, now + 1)
    this.runtime.alarm.set(this.alarmAt)
  }
}
