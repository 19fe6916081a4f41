/**
 * Notices that the machine's clock was set back. The platform lets no instance see time go back: its clock
 * stands still until the machine's has caught up with it, perhaps for an hour, and no alarm or timeout that
 * is set meanwhile comes before. Such an instance is as good as dead, and says so: it ends, and the next one
 * begins with the machine's time.
 */
import type { Runtime } from '../runtime.ts'

/** Less than this only makes timers late. */
const TOLERANCE_MS = 1_000

export class Clock {
  private readonly runtime: Pick<Runtime, 'now'>
  /** Where the two clocks differ from the beginning, their difference says nothing. */
  private isComparable: boolean | null = null
  private lastNow = 0

  constructor(runtime: Pick<Runtime, 'now'>) {
    this.runtime = runtime
  }

  /** At the beginning of each turn. Throws if this instance's clock stands still, or was set back itself. */
  check(machineNow: number): void {
    const now = this.runtime.now()
    const isAhead = now > machineNow + TOLERANCE_MS
    this.isComparable ??= !isAhead
    const isSetBack = (this.isComparable && isAhead) || now < this.lastNow - TOLERANCE_MS
    if (isSetBack) throw new Error('the clock of this machine was set back')
    this.lastNow = now
  }
}
