/** Ways to break a valid history of a lock that guards no state. */

import { type CriticalSection, findCriticalSections } from '../../shared/history/critical-sections.ts'
import type { HistoryEvent } from '../../shared/history/events.ts'
import { findInstances } from '../../shared/history/instances.ts'
import { choose, type Mutation, removed, replaced, withFence } from './mutation-tools.ts'
import type { Random } from './random.ts'

/** Two certain critical sections, one after the other, not both of readers. */
function neighbours(
  events: readonly HistoryEvent[],
  random: Random,
  areFit: (first: CriticalSection, second: CriticalSection) => boolean = () => true,
): readonly [first: CriticalSection, second: CriticalSection] | null {
  const sections = findCriticalSections(events, findInstances(events)).filter(({ exitAt }) => exitAt !== null)
  const pairs = sections.slice(1).map((section, index) => [sections[index]!, section] as const)
  const fit = pairs.filter(
    ([first, second]) =>
      (first.mode === 'exclusive' || second.mode === 'exclusive') &&
      first.critAt < second.critAt &&
      areFit(first, second),
  )
  return random.pick(fit) ?? null
}

export const lockOnlyMutations: readonly Mutation[] = [
  {
    name: 'a user comes in before the one before it has left',
    breaks: 'mutual exclusion',
    mutate(events, random) {
      const pair = neighbours(events, random, (first, second) => {
        return second.init !== null && second.init < first.exit! && first.critAt < first.exitAt!
      })
      if (pair === null) return null
      const [first, second] = pair
      const place = Math.max(first.crit, second.init!) + 1
      const at = Math.max(first.critAt, second.tryAt!)
      return at < first.exitAt!
        ? removed(events, second.crit).toSpliced(place, 0, { ...events[second.crit]!, at })
        : null
    },
  },
  {
    name: 'a reader and a writer are let in together',
    breaks: 'mutual exclusion',
    mutate(events, random) {
      const sections = findCriticalSections(events, findInstances(events)).filter(
        ({ exitAt }) => exitAt !== null,
      )
      const inside = sections.filter(section =>
        sections.some(
          other => other !== section && other.critAt < section.exitAt! && section.critAt < other.exitAt!,
        ),
      )
      const section = random.pick(inside)
      const asked = section?.init === undefined || section.init === null ? undefined : events[section.init]
      return asked?.type === 'try' ? replaced(events, section!.init!, { ...asked, mode: 'exclusive' }) : null
    },
  },
  {
    name: 'a fence is given twice',
    breaks: 'increasing fences',
    mutate(events, random) {
      const pair = neighbours(events, random)
      return pair && events.map(event => withFence(event, new Map([[pair[1].fence, pair[0].fence]])))
    },
  },
  {
    name: 'two fences are exchanged',
    breaks: 'increasing fences',
    mutate(events, random) {
      const pair = neighbours(events, random)
      if (pair === null) return null
      const [{ fence: first }, { fence: second }] = pair
      const exchanged = new Map([
        [first, second],
        [second, first],
      ])
      return events.map(event => withFence(event, exchanged))
    },
  },
  {
    name: 'a user issues an operation',
    breaks: 'well-formedness',
    mutate(events, random) {
      const chosen = choose(events, random, 'crit')
      if (chosen === null) return null
      const { at, user, participant, fence } = chosen.event
      const issue = { at, user, participant, fence, type: 'issue', opId: 'op', operation: null } as const
      return events.toSpliced(chosen.index + 1, 0, issue)
    },
  },
  {
    name: 'a replica applies an operation',
    breaks: 'well-formedness',
    mutate(events, random) {
      const chosen = choose(events, random, 'crit')
      if (chosen === null) return null
      const { at, participant, fence } = chosen.event
      const operation = { opId: 'op', operation: { add: 1 }, sequence: 1 }
      return events.toSpliced(chosen.index + 1, 0, { at, participant, fence, type: 'invoke', ...operation })
    },
  },
  {
    name: 'a user is ejected that has left',
    breaks: 'well-formedness',
    mutate(events, random) {
      const chosen = choose(events, random, 'rem')
      return (
        chosen &&
        events.toSpliced(chosen.index + 1, 0, { ...chosen.event, type: 'ejected', reason: 'expired' })
      )
    },
  },
]
