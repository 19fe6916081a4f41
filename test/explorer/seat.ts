/**
 * A seat is one participant with everything that belongs to it alone: its protocol's state (or none while it
 * is down), its storage, its user, and a record of what it once held, which only the properties look at.
 * Seats are immutable and numbered: in a search the same seat occurs in many thousand worlds, and what it
 * does with a given input is computed once.
 */
import type { Json } from '../../shared/json.ts'
import type { Effect } from '../../shared/protocols/protocol.ts'
import { entryAt } from '../../shared/protocols/wme/log.ts'
import type { Entry, WmeState } from '../../shared/protocols/wme/state.ts'
import { hashText } from '../../shared/resource/canonical.ts'
import type { User } from './user.ts'
import { type Numbering, textOf } from './values.ts'

export interface Seat<State = WmeState> {
  readonly participant: number
  readonly isUp: boolean
  /** While the participant is down: the state that it would recover, for the properties to look at. */
  readonly state: State
  readonly storage: Storage
  readonly user: User | null
  readonly record: Record
}

export interface Storage {
  /** What the process has saved. */
  readonly records: ReadonlyMap<string, Json>
  /** What of it a crash leaves: what may wait to be written is lost, always. */
  readonly written: ReadonlyMap<string, Json>
  /** Equal storages have equal numbers. */
  readonly number: number
}

/** What this participant once held: kept across crashes. */
export interface Record {
  /** Entries that were in the log and were rolled back. */
  readonly rolledBack: readonly Entry[]
  /** The epochs that this participant has entered. */
  readonly epochs: readonly EnteredEpoch[]
  /** How often this participant has started. */
  readonly starts: number
  /** The largest sequence that this participant ever knew to be committed. */
  readonly committed: number
}

export interface EnteredEpoch {
  readonly epoch: number
  readonly owner: number
  readonly start: number
  /** The log up to the start. */
  readonly log: string
  readonly members: readonly number[]
}

export const EMPTY_RECORD: Record = { rolledBack: [], epochs: [], starts: 1, committed: 0 }

export function seatText(seat: Seat<unknown>): string {
  const { participant, isUp, state, storage, user, record } = seat
  // A participant that is down is what storage holds; what it was when it crashed is gone.
  const held = isUp ? textOf(state) : 'down'
  return `${participant}|${held}|${storage.number}|${textOf(user)}|${textOf(record)}`
}

/** The storage after the save with which the effects begin, if they do. */
export function saved<Message>(
  storage: Storage,
  effects: readonly Effect<Message>[],
  storages: Numbering,
): Storage {
  const save = effects[0]
  if (save?.type !== 'save') return storage
  const records = new Map(storage.records)
  for (const { key, value } of save.records) {
    if (value === null) records.delete(key)
    else records.set(key, value)
  }
  return numbered(records, save.mayWait ? storage.written : records, storages)
}

export function numbered(
  records: ReadonlyMap<string, Json>,
  written: ReadonlyMap<string, Json>,
  storages: Numbering,
): Storage {
  const text = written === records ? recordsText(records) : `${recordsText(records)}|${recordsText(written)}`
  return { records, written, number: storages.number(text).id }
}

function recordsText(records: ReadonlyMap<string, Json>): string {
  let text = ''
  for (const key of [...records.keys()].sort()) text += `${key}=${textOf(records.get(key))};`
  return text
}

/** The record after a step from `before` to `after`. */
export function recorded(record: Record, before: WmeState, after: WmeState): Record {
  let { rolledBack, epochs } = record
  const gone = before.durable.log.filter(entry => !isHeld(after, entry))
  if (gone.length > 0) rolledBack = [...rolledBack, ...gone]
  const { epoch, owner, start } = after.durable.epoch
  if (epochs.at(-1)?.epoch !== epoch) {
    const log = hashText(textOf(after.durable.log.filter(({ sequence }) => sequence <= start)))
    epochs = [...epochs, { epoch, owner, start, log, members: after.derived.members }]
  }
  const committed = Math.max(record.committed, after.soft.committed)
  const isSame =
    rolledBack === record.rolledBack && epochs === record.epochs && committed === record.committed
  return isSame ? record : { ...record, rolledBack, epochs, committed }
}

/** An entry that was dropped because it was applied long ago counts as held. */
function isHeld({ durable }: WmeState, entry: Entry): boolean {
  if (entry.sequence <= durable.base.sequence) return true
  return entryAt(durable, entry.sequence)?.epoch === entry.epoch
}
