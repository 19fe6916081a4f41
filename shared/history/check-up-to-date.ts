/**
 * H6, up-to-date entry, which the paper takes for granted and its pseudo-code misses (trap A10): when a user
 * is let in, its own replica has applied the operations of all earlier instances, as far as any replica had
 * applied them by then. Otherwise a local read inside the critical section would see the past.
 */
import { show } from './compare.ts'
import type { HistoryEvent } from './events.ts'
import { visitWithProgress } from './replica-progress.ts'
import { describe, type SerialOrder } from './serial-order.ts'
import { Findings, notJudged, type PropertyVerdict } from './verdict.ts'

export function checkUpToDate(events: readonly HistoryEvent[], order: SerialOrder): PropertyVerdict {
  if (!fencesIncrease(order)) {
    return notJudged(
      'up-to-date',
      'safety',
      'what precedes an instance is not defined: fences fall along C (see WME1)',
    )
  }
  const findings = new Findings(events)
  // How many entries of C some replica had applied before the present time. It only grows, because the events
  // are in order.
  let applied = 0
  visitWithProgress(events, (index, event, reached) => {
    if (event.type !== 'crit') return
    while (applied < order.entries.length && events[order.entries[applied]!.invoke]!.at < event.at) applied++
    const missing = order.entries[Math.min(applied, entriesBefore(order, event.fence)) - 1]
    if (missing === undefined || missing.sequence <= reached) return
    const message = () =>
      `user ${show(event.user)} was let in with fence ${event.fence} before replica ${event.participant} ` +
      `had applied ${describe(missing)}`
    findings.violation(message, missing.invoke, index)
  })
  return findings.safety('up-to-date')
}

function fencesIncrease({ entries }: SerialOrder): boolean {
  return entries.every((entry, position) => position === 0 || entries[position - 1]!.fence <= entry.fence)
}

/** How many entries of C belong to instances with a lower fence. */
function entriesBefore({ entries }: SerialOrder, fence: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries[middle]!.fence < fence) low = middle + 1
    else high = middle
  }
  return low
}
