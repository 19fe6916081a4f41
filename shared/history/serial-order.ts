/**
 * C, the one serial order of all operations that were applied (properties 1CS, WME1, WME2, WME3): the
 * operations of the replica that applied the most, by their place in the log. Where that replica jumped over
 * some with a snapshot, or was lost before the others went on, the others fill in. Grants take places in the
 * log too, so the numbers have gaps.
 *
 * Whether the replicas agree with C is for 1CS to judge (check-one-copy.ts). This file only chooses, so that
 * one diverging replica does not make the other properties fail as well.
 */
import type { Json } from '../json.ts'
import { equalJson, show } from './compare.ts'
import type { HistoryEvent } from './events.ts'

export type EventOf<Type extends HistoryEvent['type']> = Extract<HistoryEvent, { readonly type: Type }>

export interface SerialEntry {
  readonly sequence: number
  readonly fence: number
  readonly opId: string
  readonly operation: Json
  /** The first event that invokes it. */
  readonly invoke: number
  /** The first answer of a replica to it, if one is recorded. */
  readonly response: number | null
  /** Its place in C, from 0. */
  readonly position: number
}

export interface SerialOrder {
  readonly entries: readonly SerialEntry[]
  readonly bySequence: ReadonlyMap<number, SerialEntry>
  /** The `invoke` events of anything other than what C has at their place. */
  readonly strangers: ReadonlySet<number>
}

/** While C is built, entries can still change. */
type Draft = { -readonly [Field in keyof SerialEntry]: SerialEntry[Field] }

export function serialOrder(events: readonly HistoryEvent[]): SerialOrder {
  const drafts = new Map<number, Draft>()
  const disputed = new Map<number, Map<number, number>>()
  const lengths = new Map<number, { length: number; last: number }>()
  for (const [index, event] of events.entries()) {
    if (event.type !== 'invoke') continue
    grow(lengths, event)
    const draft = drafts.get(event.sequence)
    if (draft === undefined) drafts.set(event.sequence, draftOf(index, event))
    else if (!invokes(event, draft)) dispute(disputed, index, event)
  }
  settleDisputes(events, drafts, disputed, longest(lengths))
  const entries = [...drafts.values()].sort((left, right) => left.sequence - right.sequence)
  for (const [position, entry] of entries.entries()) entry.position = position
  const strangers = findStrangers(events, drafts, disputed)
  addResponses(events, drafts, strangers)
  return { entries, bySequence: drafts, strangers }
}

/** Whether the event invokes this very entry, and not another one that some replica has at the same place. */
function invokes(event: EventOf<'invoke'>, entry: SerialEntry): boolean {
  return (
    event.sequence === entry.sequence &&
    event.fence === entry.fence &&
    event.opId === entry.opId &&
    equalJson(event.operation, entry.operation)
  )
}

/** For messages. */
export function describe(entry: Pick<SerialEntry, 'sequence' | 'fence' | 'opId'>): string {
  return `${show(entry.opId)} (sequence ${entry.sequence}, fence ${entry.fence})`
}

/** How many entries of C have at most this sequence. */
export function entriesUpTo(order: SerialOrder, sequence: number): number {
  let low = 0
  let high = order.entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (order.entries[middle]!.sequence <= sequence) low = middle + 1
    else high = middle
  }
  return low
}

function draftOf(index: number, event: EventOf<'invoke'>): Draft {
  const { sequence, fence, opId, operation } = event
  return { sequence, fence, opId, operation, invoke: index, response: null, position: 0 }
}

/** Repetitions do not make a replica longer. */
function grow(lengths: Map<number, { length: number; last: number }>, event: EventOf<'invoke'>): void {
  const known = lengths.get(event.participant)
  if (known === undefined) lengths.set(event.participant, { length: 1, last: event.sequence })
  else if (event.sequence > known.last) {
    known.length++
    known.last = event.sequence
  }
}

function longest(lengths: ReadonlyMap<number, { length: number }>): number | null {
  let best: { participant: number; length: number } | null = null
  for (const [participant, { length }] of lengths) {
    if (best === null || length > best.length) best = { participant, length }
  }
  return best?.participant ?? null
}

/** Remembers, by participant, the first event that disagrees with the first one seen at its place. */
function dispute(disputed: Map<number, Map<number, number>>, index: number, event: EventOf<'invoke'>): void {
  const others = disputed.get(event.sequence) ?? new Map<number, number>()
  disputed.set(event.sequence, others)
  if (!others.has(event.participant)) others.set(event.participant, index)
}

/** Where replicas disagree, the longest one is C. */
function settleDisputes(
  events: readonly HistoryEvent[],
  drafts: Map<number, Draft>,
  disputed: ReadonlyMap<number, ReadonlyMap<number, number>>,
  longestReplica: number | null,
): void {
  if (longestReplica === null) return
  for (const [sequence, others] of disputed) {
    const index = others.get(longestReplica)
    const chosen = events[drafts.get(sequence)!.invoke]!
    if (index === undefined || ('participant' in chosen && chosen.participant === longestReplica)) continue
    drafts.set(sequence, draftOf(index, events[index] as EventOf<'invoke'>))
  }
}

/** Comparing operations takes time, so it is not done again where all agreed. */
function findStrangers(
  events: readonly HistoryEvent[],
  drafts: ReadonlyMap<number, Draft>,
  disputed: ReadonlyMap<number, unknown>,
): Set<number> {
  const strangers = new Set<number>()
  if (disputed.size === 0) return strangers
  for (const [index, event] of events.entries()) {
    if (event.type !== 'invoke' || !disputed.has(event.sequence)) continue
    if (!invokes(event, drafts.get(event.sequence)!)) strangers.add(index)
  }
  return strangers
}

/** A response counts for an entry if it answers an invocation of that very entry. */
function addResponses(
  events: readonly HistoryEvent[],
  drafts: ReadonlyMap<number, Draft>,
  strangers: ReadonlySet<number>,
): void {
  /** The sequence that each participant's replica was last asked for, if it is in C. */
  const invoked = new Map<number, number | null>()
  for (const [index, event] of events.entries()) {
    if (event.type === 'invoke') invoked.set(event.participant, strangers.has(index) ? null : event.sequence)
    if (event.type !== 'response' || invoked.get(event.participant) !== event.sequence) continue
    const draft = drafts.get(event.sequence)
    if (draft?.response === null && draft.opId === event.opId) draft.response = index
  }
}
