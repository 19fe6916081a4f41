/** How long things took, as counts by their length: as much memory for a million of them as for none. */

/** Upper bounds in milliseconds: from a step within one region to the longest time to live. */
const BOUNDS_MS = [
  5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 600_000,
]

export interface HistogramReport {
  readonly boundsMs: readonly number[]
  /**
   * How many were at most as long as each bound and longer than the one before; the last one, longer than
   * all.
   */
  readonly counts: readonly number[]
  readonly sumMs: number
}

export class Histogram {
  private readonly counts: number[] = Array(BOUNDS_MS.length + 1).fill(0)
  private sumMs = 0

  /** A clock that was set back makes something last less than nothing: that counts as nothing. */
  observe(ms: number): void {
    const lasted = Math.max(0, ms)
    const index = BOUNDS_MS.findIndex(bound => lasted <= bound)
    this.counts[index === -1 ? BOUNDS_MS.length : index]!++
    this.sumMs += lasted
  }

  report(): HistogramReport {
    return { boundsMs: BOUNDS_MS, counts: [...this.counts], sumMs: this.sumMs }
  }
}
