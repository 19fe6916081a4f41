/** Tools to break a valid history; see mutations.ts. */
import type { HistoryEvent } from '../../shared/history/events.ts'
import type { EventOf } from '../../shared/history/serial-order.ts'
import type { PropertyName } from '../../shared/history/verdict.ts'
import type { Random } from './random.ts'

export interface Mutation {
  readonly name: string
  readonly breaks: PropertyName
  readonly mutate: (events: readonly HistoryEvent[], random: Random) => HistoryEvent[] | null
}

export type EventTest<Event extends HistoryEvent> = (event: Event, index: number) => boolean

/** A random place with an event of this type. */
export function choose<Type extends HistoryEvent['type']>(
  events: readonly HistoryEvent[],
  random: Random,
  type: Type,
  test: EventTest<EventOf<Type>> = () => true,
): { index: number; event: EventOf<Type> } | null {
  const places = [...events.keys()].filter(index => {
    const event = events[index]!
    return event.type === type && test(event as EventOf<Type>, index)
  })
  const index = random.pick(places)
  return index === undefined ? null : { index, event: events[index] as EventOf<Type> }
}

export const replaced = (events: readonly HistoryEvent[], index: number, event: HistoryEvent) =>
  events.with(index, event)
export const removed = (events: readonly HistoryEvent[], index: number, count = 1) =>
  events.toSpliced(index, count)

export const appliedElsewhere = (
  events: readonly HistoryEvent[],
  { participant, sequence }: EventOf<'invoke'>,
) =>
  events.some(
    event => event.type === 'invoke' && event.participant !== participant && event.sequence === sequence,
  )

/** Whether the next thing that the replica does after this answer is to apply the next operation. */
export function goesOn(events: readonly HistoryEvent[], index: number, participant: number): number | null {
  const own = (event: HistoryEvent) =>
    'participant' in event && !('user' in event) && event.participant === participant
  const next = events.findIndex((event, place) => place > index + 1 && own(event))
  return events[next]?.type === 'invoke' ? next : null
}

export const inC = (events: readonly HistoryEvent[], fence: number, opId?: string) =>
  events.some(
    event => event.type === 'invoke' && event.fence === fence && (opId ?? event.opId) === event.opId,
  )

export const withFence = (event: HistoryEvent, fences: ReadonlyMap<number, number>): HistoryEvent =>
  'fence' in event ? { ...event, fence: fences.get(event.fence) ?? event.fence } : event
