/** Ways to break what is owed at the end of a valid history; see mutations.ts. */
import type { HistoryEvent } from '../../shared/history/events.ts'
import type { Mutation } from './mutation-tools.ts'
import type { Random } from './random.ts'

/**
 * The last event of each user, if it is of this type and before the end, at a participant that was healed.
 */
function lastOfUsers(events: readonly HistoryEvent[], type: HistoryEvent['type']): number[] {
  const healed = events.findLast(event => event.type === 'healed')!.participants
  const settled = events.findLastIndex(event => event.type === 'settled')
  const last = new Map<string, number>()
  for (const [index, event] of events.entries()) if ('user' in event) last.set(event.user, index)
  return [...last.values()].filter(index => {
    const event = events[index]!
    return (
      index > settled && event.type === type && 'participant' in event && healed.includes(event.participant)
    )
  })
}

const isOf = (event: HistoryEvent, user: string) => 'user' in event && event.user === user

/**
 * Cuts off what happened to one user from the last event of this type on, provided that nothing else depends
 * on it.
 */
function cutOff(
  events: readonly HistoryEvent[],
  random: Random,
  from: HistoryEvent['type'],
): HistoryEvent[] | null {
  const last = events[random.pick(lastOfUsers(events, 'rem')) ?? -1]
  if (last?.type !== 'rem') return null
  const start = events.findLastIndex(event => event.type === from && isOf(event, last.user))
  const fenceAtStart = events[start]
  if (fenceAtStart === undefined || !('fence' in fenceAtStart) || fenceAtStart.fence !== last.fence)
    return null
  const applied = events.some(event => event.type === 'invoke' && event.fence === last.fence)
  if (from === 'crit' && applied) return null
  return events.filter((event, index) => index < start || !isOf(event, last.user))
}

export const livenessMutations: readonly Mutation[] = [
  {
    name: 'an exit is not answered',
    breaks: 'CS-release progress',
    mutate(events, random) {
      const index = random.pick(lastOfUsers(events, 'rem'))
      return index === undefined ? null : events.toSpliced(index, 1)
    },
  },
  {
    name: 'an operation is not answered',
    breaks: 'operation progress',
    mutate: (events, random) => cutOff(events, random, 'outcome'),
  },
  {
    name: 'a user is not let in',
    breaks: 'starvation-freedom',
    mutate: (events, random) => cutOff(events, random, 'crit'),
  },
  {
    name: 'a user is ejected on suspicion at the end',
    breaks: 'operation progress',
    mutate(events, random) {
      const index = random.pick(lastOfUsers(events, 'rem'))
      const rem = events[index ?? -1]
      if (index === undefined || rem?.type !== 'rem') return null
      const exit = events.findLastIndex(event => event.type === 'exit' && isOf(event, rem.user))
      return events.with(index, { ...rem, type: 'ejected', reason: 'suspected' }).toSpliced(exit, 1)
    },
  },
]
