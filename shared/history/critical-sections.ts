/**
 * The critical sections of users of a lock that guards no state, as far as a history can show them. A history
 * contains what a user heard and said: `crit` may reach it late, and an ejection even later, when another
 * user is inside already. Only if a user's `exit` was answered with `rem` is it certain that the user was
 * inside from its `crit` to its `exit`.
 */
import type { Mode } from '../protocols/protocol.ts'
import type { HistoryEvent } from './events.ts'
import type { Instance, Instances } from './instances.ts'
import type { EventOf } from './serial-order.ts'

export interface CriticalSection extends Instance {
  readonly mode: Mode
  readonly critAt: number
  /** The time of the `try` that led to it. */
  readonly tryAt: number | null
  /** The `exit` that was answered with `rem`: the end of what is certain. */
  readonly exit: number | null
  readonly exitAt: number | null
}

/** In the order of their `crit`. */
export function findCriticalSections(
  events: readonly HistoryEvent[],
  { byFence }: Instances,
): CriticalSection[] {
  const exits = exitsByFence(events)
  const timeOf = (index: number | null) => (index === null ? null : events[index]!.at)
  return [...byFence.values()].map(instance => {
    const { fence, user, init, crit, final } = instance
    const said = exits.get(fence)
    const isReleased = final !== null && events[final]!.type === 'rem' && said !== undefined
    const exit = isReleased && (events[said] as EventOf<'exit'>).user === user ? said : null
    return {
      ...instance,
      mode: modeOf(events, instance),
      critAt: events[crit]!.at,
      tryAt: timeOf(init),
      exit,
      exitAt: timeOf(exit),
    }
  })
}

function exitsByFence(events: readonly HistoryEvent[]): Map<number, number> {
  const exits = new Map<number, number>()
  for (const [index, event] of events.entries()) {
    if (event.type === 'exit' && !exits.has(event.fence)) exits.set(event.fence, index)
  }
  return exits
}

function modeOf(events: readonly HistoryEvent[], { init, crit }: Instance): Mode {
  const asked = init === null ? undefined : (events[init] as EventOf<'try'>).mode
  return (events[crit] as EventOf<'crit'>).mode ?? asked ?? 'exclusive'
}
