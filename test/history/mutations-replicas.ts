/** Ways to break what the replicas do; see mutations.ts. */
import { appliedElsewhere, choose, goesOn, type Mutation, removed, replaced } from './mutation-tools.ts'

export const replicaMutations: readonly Mutation[] = [
  {
    name: 'a replica answers something else',
    breaks: '1CS',
    mutate(events, random) {
      const chosen = choose(events, random, 'response')
      return chosen && replaced(events, chosen.index, { ...chosen.event, result: 'something else' })
    },
  },
  {
    name: 'a replica has another state',
    breaks: '1CS',
    mutate(events, random) {
      const chosen = choose(events, random, 'response', event => event.hash !== undefined)
      return chosen && replaced(events, chosen.index, { ...chosen.event, hash: 'another' })
    },
  },
  {
    name: 'a snapshot has another state',
    breaks: '1CS',
    mutate(events, random) {
      const chosen = choose(events, random, 'restore')
      return chosen && replaced(events, chosen.index, { ...chosen.event, hash: 'another' })
    },
  },
  {
    name: 'a replica leaves out an operation',
    breaks: '1CS',
    mutate(events, random) {
      const chosen = choose(events, random, 'invoke', (event, index) => {
        return appliedElsewhere(events, event) && goesOn(events, index, event.participant) !== null
      })
      return chosen && removed(events, chosen.index, 2)
    },
  },
  {
    name: 'a replica applies an operation again',
    breaks: '1CS',
    mutate(events, random) {
      const chosen = choose(events, random, 'invoke')
      return chosen && events.toSpliced(chosen.index, 0, ...events.slice(chosen.index, chosen.index + 2))
    },
  },
  {
    name: 'a replica applies two operations in the wrong order',
    breaks: '1CS',
    mutate(events, random) {
      const chosen = choose(events, random, 'invoke', (event, index) => {
        return goesOn(events, index, event.participant) === index + 2
      })
      if (chosen === null) return null
      const [first, second] = [
        events.slice(chosen.index, chosen.index + 2),
        events.slice(chosen.index + 2, chosen.index + 4),
      ]
      const swapped = [...second, ...first].map((event, place) => ({
        ...event,
        at: events[chosen.index + place]!.at,
      }))
      return events.toSpliced(chosen.index, 4, ...swapped)
    },
  },
  {
    name: 'a replica applies another operation',
    breaks: '1CS',
    mutate(events, random) {
      const chosen = choose(events, random, 'invoke', event => appliedElsewhere(events, event))
      return chosen && replaced(events, chosen.index, { ...chosen.event, operation: { add: 77 } })
    },
  },
]
