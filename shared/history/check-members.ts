/**
 * H12, agreed members, where the participants of the lock changed: a participant hears of no set
 * after a later one, and whoever names a set by the same number means the same participants, which came in
 * the same way.
 */
import { equalJson, show } from './compare.ts'
import type { HistoryEvent, MembersEvent } from './events.ts'
import { Findings, type PropertyVerdict } from './verdict.ts'

export function checkMembers(events: readonly HistoryEvent[]): PropertyVerdict {
  const findings = new Findings(events)
  /** By participant: the last set that it heard of. By number: the first that named the set. */
  const last = new Map<number, number>()
  const first = new Map<number, number>()
  for (const [index, event] of events.entries()) {
    // It knows nothing any more, and may hear of an earlier set first.
    if (event.type === 'wipe') last.delete(event.participant)
    if (event.type !== 'members') continue
    const { participant, configuration } = event
    const before = last.get(participant)
    const highest = before === undefined ? 0 : (events[before] as MembersEvent).configuration
    if (configuration < highest)
      findings.violation(
        () => `participant ${participant} hears of set ${configuration} after set ${highest}`,
        before,
        index,
      )
    last.set(participant, index)
    const other = first.get(configuration) ?? index
    first.set(configuration, other)
    if (!areSame(events[other] as MembersEvent, event))
      findings.violation(
        () =>
          `set ${configuration} is ${show(idsOf(event))} and ${show(idsOf(events[other] as MembersEvent))}`,
        other,
        index,
      )
  }
  return findings.safety('agreed members')
}

const areSame = (one: MembersEvent, other: MembersEvent): boolean =>
  one.by === other.by && equalJson([...one.members], [...other.members])

const idsOf = ({ members, by }: MembersEvent) => ({ by, ids: members.map(({ id }) => id) })
