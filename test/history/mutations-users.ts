/** Ways to break what users are told and say; see mutations.ts. */
import { choose, inC, type Mutation, removed, replaced } from './mutation-tools.ts'

export const userMutations: readonly Mutation[] = [
  {
    name: 'a try is missing',
    breaks: 'well-formedness',
    mutate(events, random) {
      const chosen = choose(events, random, 'try', (event, index) => {
        const next = events.find(
          (other, place) => place > index && 'user' in other && other.user === event.user,
        )
        return next !== undefined && next.type !== 'crash'
      })
      return chosen && removed(events, chosen.index)
    },
  },
  {
    name: 'an event comes twice',
    breaks: 'well-formedness',
    mutate(events, random) {
      const index = random.pick([...events.keys()].filter(place => 'user' in events[place]!))
      return index === undefined ? null : events.toSpliced(index, 0, events[index]!)
    },
  },
  {
    name: 'a crashed user goes on',
    breaks: 'well-formedness',
    mutate(events, random) {
      const chosen = choose(events, random, 'crash')
      return chosen && events.toSpliced(chosen.index + 1, 0, { ...chosen.event, type: 'try' })
    },
  },
  {
    name: 'time falls',
    breaks: 'well-formedness',
    mutate(events, random) {
      const index = random.pick([...events.keys()].slice(1).filter(place => events[place - 1]!.at > 0))
      return index === undefined ? null : replaced(events, index, { ...events[index]!, at: -1 })
    },
  },
  {
    name: 'a user hears another result',
    breaks: 'WME3',
    mutate(events, random) {
      const chosen = choose(events, random, 'outcome')
      return chosen && replaced(events, chosen.index, { ...chosen.event, result: 'something else' })
    },
  },
  {
    name: 'a user hears another place',
    breaks: 'WME3',
    mutate(events, random) {
      const chosen = choose(events, random, 'outcome')
      const sequence = (chosen?.event.sequence ?? 0) + random.pick([-1, 1, 1_000_000])!
      const same = events.some(
        event => event.type === 'invoke' && event.sequence === sequence && event.opId === chosen?.event.opId,
      )
      return chosen && !same ? replaced(events, chosen.index, { ...chosen.event, sequence }) : null
    },
  },
  {
    name: 'an operation that was applied is reported as not applied',
    breaks: 'WME3',
    mutate(events, random) {
      const chosen = choose(events, random, 'ejected', event => {
        return event.pending !== undefined && inC(events, event.fence, event.pending.opId)
      })
      if (chosen === null) return null
      const pending = { opId: chosen.event.pending!.opId, outcome: 'not-applied' } as const
      return replaced(events, chosen.index, { ...chosen.event, pending })
    },
  },
  {
    name: 'an operation was applied that nobody issued',
    breaks: 'WME3',
    mutate(events, random) {
      const chosen = choose(events, random, 'issue', event => {
        const again = events.filter(
          other => other.type === 'issue' && other.opId === event.opId && other.fence === event.fence,
        )
        return inC(events, event.fence, event.opId) && again.length === 1
      })
      return chosen && removed(events, chosen.index)
    },
  },
  {
    name: 'an operation was applied as something else everywhere',
    breaks: 'WME3',
    mutate(events, random) {
      const chosen = choose(events, random, 'invoke')
      if (chosen === null) return null
      const { sequence } = chosen.event
      return events.map(event => {
        return event.type === 'invoke' && event.sequence === sequence
          ? { ...event, operation: { add: 77 } }
          : event
      })
    },
  },
]
