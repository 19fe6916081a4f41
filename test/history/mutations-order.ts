/** Ways to break the order of the critical sections; see mutations.ts. */
import type { HistoryEvent } from '../../shared/history/events.ts'
import type { EventOf } from '../../shared/history/serial-order.ts'
import { choose, inC, type Mutation, removed, withFence } from './mutation-tools.ts'
import type { Random } from './random.ts'

export const orderMutations: readonly Mutation[] = [
  {
    name: 'a fence is granted twice',
    breaks: 'WME1',
    mutate(events, random) {
      const chosen = choose(events, random, 'crit', event => !inC(events, event.fence))
      const other = choose(events, random, 'crit', event => event.fence !== chosen?.event.fence)
      if (chosen === null || other === null) return null
      const fences = new Map([[chosen.event.fence, other.event.fence]])
      return events.map(event => withFence(event, fences))
    },
  },
  {
    name: 'two instances have exchanged their fences',
    breaks: 'WME1',
    mutate(events, random) {
      const one = choose(events, random, 'crit', event => inC(events, event.fence))?.event.fence
      const other = choose(events, random, 'crit', ({ fence }) => fence !== one && inC(events, fence))?.event
        .fence
      if (one === undefined || other === undefined) return null
      const fences = new Map([
        [one, other],
        [other, one],
      ])
      return events.map(event => withFence(event, fences))
    },
  },
  {
    name: 'an instance is interrupted',
    breaks: 'WME1',
    mutate(events, random) {
      const sequences = [
        ...new Set(events.filter(event => event.type === 'invoke').map(event => event.sequence)),
      ].sort((a, b) => a - b)
      const fenceAt = (place: number) =>
        events.find(
          event => event.type === 'invoke' && event.sequence === sequences[place],
        ) as EventOf<'invoke'>
      const inside = [...sequences.keys()]
        .slice(1, -1)
        .filter(place => fenceAt(place - 1).fence === fenceAt(place + 1).fence)
      const place = random.pick(inside)
      if (place === undefined) return null
      const fence = fenceAt(place).fence + 1_000_000
      return events.map(event =>
        event.type === 'invoke' && event.sequence === sequences[place] ? { ...event, fence } : event,
      )
    },
  },
  {
    name: 'the grant of an instance with operations is missing',
    breaks: 'WME1',
    mutate(events, random) {
      const chosen = choose(events, random, 'crit', event => inC(events, event.fence))
      return chosen && removed(events, chosen.index)
    },
  },
  {
    name: 'an instance comes before one that had ended when it was asked for',
    breaks: 'WME2',
    mutate: insertIntoThePast,
  },
  {
    name: 'a user is let in before its replica has caught up',
    breaks: 'up-to-date',
    mutate: letInEarly,
  },
]

/**
 * A new user asks for the lock at the very end, and its operation turns up on every replica just before that
 * of an instance that is long over. The operation fails, so that no other result changes.
 */
function insertIntoThePast(events: readonly HistoryEvent[], random: Random): HistoryEvent[] | null {
  const fences = new Set(events.filter(event => event.type === 'crit').map(event => event.fence))
  const sequences = new Set(events.filter(event => event.type === 'invoke').map(event => event.sequence))
  const chosen = choose(events, random, 'invoke', ({ fence, sequence }) => {
    const first = !events.some(
      event => event.type === 'invoke' && event.fence === fence && event.sequence < sequence,
    )
    const over = events.some(
      event => (event.type === 'rem' || event.type === 'ejected') && event.fence === fence,
    )
    return first && over && !fences.has(fence - 1) && !sequences.has(sequence - 1)
  })
  if (chosen === null) return null
  const [fence, sequence] = [chosen.event.fence - 1, chosen.event.sequence - 1]
  const [opId, operation] = ['from the past', { add: null }]
  const past: HistoryEvent[] = events.flatMap(event => {
    if (event.type !== 'invoke' || event.sequence !== chosen.event.sequence) return [event]
    const { at, participant } = event
    const answer = {
      type: 'response',
      at,
      participant,
      sequence,
      opId,
      result: { error: 'operation_failed' },
    } as const
    return [{ ...event, fence, sequence, opId, operation }, answer, event]
  })
  const who = { at: events.at(-1)!.at + 1, user: 'late', participant: 1 }
  past.push({ type: 'try', ...who }, { type: 'crit', ...who, fence, epoch: 0 })
  return [...past, { type: 'issue', ...who, fence, opId, operation }]
}

/** Exchanges a `crit` with the last operation that its replica applies just before. */
function letInEarly(events: readonly HistoryEvent[], random: Random): HistoryEvent[] | null {
  const chosen = choose(events, random, 'crit', (crit, index) => {
    const before = events[index - 2]
    if (before?.type !== 'invoke' || before.participant !== crit.participant) return false
    return events.some(event => {
      return event.type === 'invoke' && event.sequence === before.sequence && event.at < before.at
    })
  })
  if (chosen === null) return null
  const { index, event } = chosen
  const [invoke, response] = events.slice(index - 2, index) as [HistoryEvent, HistoryEvent]
  const early = { ...event, at: invoke.at }
  // The application must be later in time, not only in the list, so everything from here on is one later.
  const later = [invoke, response, ...events.slice(index + 1)].map(other => ({ ...other, at: other.at + 1 }))
  return [...events.slice(0, index - 2), early, ...later]
}
