/**
 * How far the replica next to a user had come when something was said to that user. Events of the same time
 * are not ordered: a replica counts everything that it reached at that time, wherever it stands in the list.
 */
import type { HistoryEvent } from './events.ts'
import type { EventOf } from './serial-order.ts'

export type Told = EventOf<'crit' | 'outcome'>

/** A sequence below all others: the replica has applied nothing. */
export const NOTHING = -1

/**
 * Visits every `crit` and `outcome` with the highest sequence that the replica of its participant had reached
 * by then.
 */
export function visitWithProgress(
  events: readonly HistoryEvent[],
  visit: (index: number, event: Told, reached: number) => void,
): void {
  /** By participant: where the replica stands, and the furthest it stood at the present time. */
  const standing = new Map<number, number>()
  const reached = new Map<number, number>()
  let start = 0
  while (start < events.length) {
    let end = start
    while (end < events.length && events[end]!.at === events[start]!.at) end++
    for (let index = start; index < end; index++) advance(standing, reached, events[index]!)
    for (let index = start; index < end; index++) {
      const event = events[index]!
      if (event.type !== 'crit' && event.type !== 'outcome') continue
      const now = reached.get(event.participant) ?? standing.get(event.participant) ?? NOTHING
      visit(index, event, now)
    }
    reached.clear()
    start = end
  }
}

function advance(standing: Map<number, number>, reached: Map<number, number>, event: HistoryEvent): void {
  if (event.type !== 'invoke' && event.type !== 'restore' && event.type !== 'wipe') return
  const before = standing.get(event.participant) ?? NOTHING
  const after = event.type === 'wipe' ? NOTHING : Math.max(before, event.sequence)
  standing.set(event.participant, after)
  reached.set(event.participant, Math.max(before, after, reached.get(event.participant) ?? NOTHING))
}
