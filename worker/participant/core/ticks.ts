/**
 * Something that is done at intervals for as long as there is a reason. There is one timer for it, however
 * often the reason goes and comes back before the next tick: otherwise each return would begin a chain of
 * ticks of its own, beside those that have not noticed yet that they were to end.
 */
import type { Timer, Timers } from './timers.ts'

export interface TicksHost {
  readonly timers: Timers
  readonly everyMs: number
  now(): number
  /** Called in a turn. Returns whether there is a reason to go on. */
  tick(): boolean
}

export class Ticks {
  private readonly host: TicksHost
  private next: Timer | null = null

  constructor(host: TicksHost) {
    this.host = host
  }

  /** The next tick is an interval away from now, also if one was due earlier. Called in a turn. */
  begin(): void {
    const { timers, everyMs } = this.host
    if (this.next !== null) timers.cancel(this.next)
    this.next = timers.set(this.host.now() + everyMs, () => {
      this.next = null
      if (this.host.tick()) this.begin()
    })
  }
}
