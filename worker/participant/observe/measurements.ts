/**
 * What a participant counts and measures for `/metrics`. It only listens: nothing that is decided depends on
 * it. All of it is in memory, and begins at zero with each instance; a wait that began before that is not
 * measured.
 */
import type { EjectionReason, HistoryEvent } from '../../../shared/history/events.ts'
import { DEFAULT_LIMITS, type Emitted } from '../../../shared/protocols/protocol.ts'
import { Histogram, type HistogramReport } from './histogram.ts'

export type WithdrawalCause = 'asked' | 'timeout'

export interface MeasurementsReport {
  readonly counters: {
    readonly grants: number
    readonly operations: number
    readonly epochChanges: number
    readonly suspicions: number
    readonly births: number
  }
  readonly ejections: { readonly [cause in EjectionReason]: number }
  readonly withdrawals: { readonly [cause in WithdrawalCause]: number }
  readonly wait: HistogramReport
  readonly hold: HistogramReport
  readonly operation: HistogramReport
}

/** What a step may have changed besides its users. */
export interface Progress {
  readonly epoch: number
  readonly suspects: readonly number[]
  /** Another object for another core; `null` before the lock is born. */
  readonly core: object | null
}

/** More users than can wait and be inside at once. */
const MAX_STARTED = 2 * DEFAULT_LIMITS.waiters

export class Measurements {
  private readonly counters = { grants: 0, operations: 0, epochChanges: 0, suspicions: 0, births: 0 }
  private readonly ejections = { suspected: 0, operator: 0, expired: 0 }
  private readonly withdrawals = { asked: 0, timeout: 0 }
  private readonly wait = new Histogram()
  private readonly hold = new Histogram()
  private readonly operation = new Histogram()
  /** When each user began to wait, to hold, and to wait for an outcome; by its name in the history. */
  private readonly tried = new Map<string, number>()
  private readonly entered = new Map<string, number>()
  private readonly issued = new Map<string, number>()

  report(): MeasurementsReport {
    const { counters, ejections, withdrawals, wait, hold, operation } = this
    return {
      counters: { ...counters },
      ejections: { ...ejections },
      withdrawals: { ...withdrawals },
      wait: wait.report(),
      hold: hold.report(),
      operation: operation.report(),
    }
  }

  /** How long this user has held the lock; `null` if it came in before this instance began. */
  heldMs(user: string, now: number): number | null {
    const since = this.entered.get(user)
    return since === undefined ? null : Math.max(0, now - since)
  }

  onStep(history: readonly HistoryEvent[], emitted: readonly Emitted[]): void {
    for (const event of history) this.onEvent(event)
    for (const event of emitted) if (event.type === 'withdrawn') this.withdrawals[event.reason]++
  }

  onProgress(before: Progress, after: Progress): void {
    if (after.core !== before.core) {
      if (after.core !== null) this.counters.births++
      return
    }
    if (after.epoch > before.epoch) this.counters.epochChanges++
    for (const peer of after.suspects) if (!before.suspects.includes(peer)) this.counters.suspicions++
  }

  private onEvent(event: HistoryEvent): void {
    switch (event.type) {
      case 'try':
        return start(this.tried, event)
      case 'withdrawn':
        this.tried.delete(event.user)
        return
      case 'crit':
        this.counters.grants++
        end(this.tried, event, this.wait)
        return start(this.entered, event)
      case 'issue':
        return start(this.issued, event)
      case 'outcome':
        return end(this.issued, event, this.operation)
      case 'rem':
        return end(this.entered, event, this.hold)
      case 'ejected':
        this.ejections[event.reason]++
        this.issued.delete(event.user)
        return end(this.entered, event, this.hold)
      case 'invoke':
        this.counters.operations++
    }
  }
}

interface UserMoment {
  readonly user: string
  readonly at: number
}

function start(started: Map<string, number>, { user, at }: UserMoment): void {
  // One that never ended, because its core was lost, makes room.
  if (started.size >= MAX_STARTED) started.delete(started.keys().next().value!)
  started.set(user, at)
}

function end(started: Map<string, number>, { user, at }: UserMoment, histogram: Histogram): void {
  const since = started.get(user)
  if (since === undefined) return
  started.delete(user)
  histogram.observe(at - since)
}
