/** Makes one history of what several participants recorded, each by its own clock. */
import type { HistoryEvent } from './events.ts'

/**
 * By time; what one participant recorded stays in its order. A clock that was set back meanwhile must not
 * look like a violation, so time stands still then. Clocks that differ from machine to machine are not
 * corrected.
 */
export function merge(histories: readonly (readonly HistoryEvent[])[]): HistoryEvent[] {
  const steady = histories.map(events => {
    let latest = 0
    return events.map(event => {
      latest = Math.max(latest, event.at)
      return event.at === latest ? event : { ...event, at: latest }
    })
  })
  return steady.flat().sort((left, right) => left.at - right.at)
}
