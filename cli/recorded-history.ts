/**
 * What the participants of a lock recorded, as one history for the judge; and whether it is all there is to
 * know.
 */
import type { LockHistory } from '../client/index.ts'
import type { History, HistoryEvent } from '../shared/history/events.ts'
import { merge } from '../shared/history/merge.ts'
import { DEFAULT_LIMITS } from '../shared/protocols/protocol.ts'

export function historyFrom({ protocol, resource, participants }: LockHistory): History {
  const highest = Math.max(0, ...participants.map(({ id }) => id))
  return {
    header: {
      format: 1,
      protocol,
      participants: highest,
      resource,
      resultsKept: DEFAULT_LIMITS.resultsKept,
    },
    events: merge(participants.map(({ events }) => events)),
  }
}

/**
 * Why the record may have a part missing. A participant keeps a bounded record, and what an old part of it
 * would have explained then looks like a violation.
 */
export function gapsOf({ participants }: LockHistory): string[] {
  const silent = participants
    .filter(({ reachable }) => !reachable)
    .map(({ id }) => `participant ${id} did not answer`)
  const invoked = participants.flatMap(({ events }) =>
    events.flatMap(event => (event.type === 'invoke' ? [event.sequence] : [])),
  )
  const first = Math.min(...invoked)
  const cut = participants
    .filter(({ reachable, events }) => reachable && beginsLate(events, first))
    .map(({ id }) => `the record of participant ${id} no longer goes back to its beginning`)
  return [...silent, ...cut]
}

/**
 * Replicas apply all operations, from the first one or from a snapshot on; and users come before they are let
 * in.
 */
function beginsLate(events: readonly HistoryEvent[], firstSequence: number): boolean {
  const replica = events.find(
    ({ type }) => type === 'invoke' || type === 'response' || type === 'restore' || type === 'wipe',
  )
  if (replica?.type === 'response') return true
  if (replica?.type === 'invoke' && replica.sequence > firstSequence) return true
  const seen = new Set<string>()
  for (const event of events) {
    if (!('user' in event) || seen.has(event.user)) continue
    if (event.type !== 'try') return true
    seen.add(event.user)
  }
  return false
}
