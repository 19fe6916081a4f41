/** How often something took how long: what the small charts show. */

export interface TimesBucket {
  /** Times up to here, and longer than those of the bucket before; `Infinity` in the last one. */
  readonly upToMs: number
  readonly count: number
}

const BOUNDS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000]

/** Counts single times. */
export function bucketsOf(timesMs: readonly number[]): TimesBucket[] {
  const counts = [...BOUNDS_MS, Number.POSITIVE_INFINITY].map(upToMs => ({ upToMs, count: 0 }))
  for (const ms of timesMs) counts.find(({ upToMs }) => ms <= upToMs)!.count++
  return counts
}

/** Without the empty buckets before the first and after the last that has something. */
export function trimmed(buckets: readonly TimesBucket[]): readonly TimesBucket[] {
  const first = buckets.findIndex(({ count }) => count > 0)
  const last = buckets.findLastIndex(({ count }) => count > 0)
  return first === -1 ? [] : buckets.slice(Math.max(0, first - 1), last + 2)
}

/** The bound that so large a share of all times keeps within. */
export function quantile(buckets: readonly TimesBucket[], share: number): number {
  const total = buckets.reduce((sum, { count }) => sum + count, 0)
  let seen = 0
  for (const { upToMs, count } of buckets) {
    seen += count
    if (seen >= total * share) return upToMs
  }
  return Number.POSITIVE_INFINITY
}
