/**
 * H10, mutual exclusion: no two users are inside at the same time, unless both are readers. Only what is
 * certain counts (critical-sections.ts), and two events of the same time are not ordered. All participants'
 * times must come from one clock, or from clocks that differ by less than the time between two critical
 * sections.
 */
import { show } from './compare.ts'
import type { CriticalSection } from './critical-sections.ts'
import type { HistoryEvent } from './events.ts'
import { Findings, type PropertyVerdict } from './verdict.ts'

export function checkMutualExclusion(
  events: readonly HistoryEvent[],
  sections: readonly CriticalSection[],
): PropertyVerdict {
  const findings = new Findings(events)
  /** Among those that came in before, the one that stays longest. */
  let longest: CriticalSection | null = null
  let longestWriter: CriticalSection | null = null
  for (const section of sections) {
    if (section.exitAt === null) continue
    const other = section.mode === 'exclusive' ? longest : longestWriter
    if (other !== null && doOverlap(other, section)) {
      const message = () =>
        `users ${show(other.user)} (fence ${other.fence}) and ${show(section.user)} (fence ${section.fence}) are inside together`
      findings.violation(message, other.crit, other.exit, section.crit, section.exit)
    }
    longest = later(longest, section)
    if (section.mode === 'exclusive') longestWriter = later(longestWriter, section)
  }
  return findings.safety('mutual exclusion')
}

const doOverlap = (one: CriticalSection, other: CriticalSection): boolean =>
  one.critAt < other.exitAt! && other.critAt < one.exitAt!

const later = (one: CriticalSection | null, other: CriticalSection): CriticalSection =>
  one !== null && one.exitAt! >= other.exitAt! ? one : other
