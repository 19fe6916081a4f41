/**
 * How much of a log is kept for participants that are behind, and how much of it goes into one message. Both
 * are limited by count and by weight.
 */
import type { Limits } from './protocol.ts'

/** What an entry weighs besides its operation, in the units of `weight` (shared/resource/canonical.ts). */
export const ENTRY_WEIGHT = 64

/** Applied entries are dropped in runs of this many, not one at a time. */
export const truncationRun = (logKept: number): number => Math.max(4, Math.ceil(logKept / 4))

/** A log that weighs this much is cut down to `logWeight`. */
export const heaviestLog = (logWeight: number): number => Math.ceil(logWeight * 1.25)

/**
 * Returns how many of the oldest entries to drop. Only the first `committed` entries may go; the result is 0
 * until dropping is worth it.
 */
export function excess<Entry>(
  log: readonly Entry[],
  committed: number,
  weightOf: (entry: Entry) => number,
  weight: number,
  { logKept, logWeight }: Limits,
): number {
  const tooMany = committed - logKept
  if (tooMany < truncationRun(logKept) && weight <= heaviestLog(logWeight)) return 0
  let dropped = 0
  for (let rest = weight; dropped < committed && (dropped < tooMany || rest > logWeight); dropped++) {
    rest -= weightOf(log[dropped]!)
  }
  return dropped
}

/** The first of these entries: as many as fit one message, and at least one. */
export function fittingEntries<Entry>(
  entries: Entry[],
  weightOf: (entry: Entry) => number,
  { entriesPerMessage, messageWeight }: Limits,
): Entry[] {
  let count = 0
  for (let weight = 0; count < entries.length && count < entriesPerMessage; count++) {
    weight += weightOf(entries[count]!)
    if (weight > messageWeight && count > 0) break
  }
  return count === entries.length ? entries : entries.slice(0, count)
}
