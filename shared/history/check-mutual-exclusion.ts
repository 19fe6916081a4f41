/**
 * Mutual exclusion: no two users are inside at the same time, unless both are readers. Only what is certain counts
 * (stays.ts), and two events of the same time are not ordered. The times of all participants must be of one clock, or of
 * clocks that differ by less than the time between two stays.
 */
import { show } from './compare.ts'
import type { HistoryEvent } from './events.ts'
import type { Stay } from './stays.ts'
import { Findings, type PropertyVerdict } from './verdict.ts'

export function checkMutualExclusion(
  events: readonly HistoryEvent[],
  stays: readonly Stay[],
): PropertyVerdict {
  const findings = new Findings(events)
  /** Of those that came in before, who stays longest. */
  let longest: Stay | null = null
  let longestWriter: Stay | null = null
  for (const stay of stays) {
    if (stay.exitAt === null) continue
    const other = stay.mode === 'exclusive' ? longest : longestWriter
    if (other !== null && doOverlap(other, stay)) {
      const message = () =>
        `users ${show(other.user)} (fence ${other.fence}) and ${show(stay.user)} (fence ${stay.fence}) are inside together`
      findings.violation(message, other.crit, other.exit, stay.crit, stay.exit)
    }
    longest = later(longest, stay)
    if (stay.mode === 'exclusive') longestWriter = later(longestWriter, stay)
  }
  return findings.safety('mutual exclusion')
}

const doOverlap = (one: Stay, other: Stay): boolean =>
  one.critAt < other.exitAt! && other.critAt < one.exitAt!

const later = (one: Stay | null, other: Stay): Stay =>
  one !== null && one.exitAt! >= other.exitAt! ? one : other
