/**
 * The durable side of one participant. What a turn writes is staged in memory and committed at its end, in
 * one transaction and as one row of the journal; a turn that changes nothing writes nothing. Now and then a
 * checkpoint folds the journal into a few long rows (checkpoint.ts, segments.ts).
 *
 * A turn whose changes all may wait is not written at once: they wait in memory and are part of the row of
 * the next turn that is written (or of `flush`). So what is on disk is always what some turn left behind.
 *
 * The protocol's records and the participant's own are stored together; the keys of its own begin with a dot.
 * Only its own are kept in memory here: the protocol has its state, and reads its records when it begins.
 */
import type { Json } from '../../../shared/json.ts'
import type { DurableRecord } from '../../../shared/protocols/protocol.ts'
import type { Rows } from '../runtime.ts'
import {
  type Checkpoint,
  FIRST_CHECKPOINT,
  leaveMark,
  readCheckpoint,
  readOlder,
  writeCheckpoint,
} from './checkpoint.ts'
import { EventLog } from './event-log.ts'
import { Journal } from './journal.ts'
import { lineOf, recordsIn, type Text } from './lines.ts'
import { addSegment, readSegments } from './segments.ts'

const OWN = '.'
const MISSED = '.missed'

const isOwn = (key: string): boolean => key.startsWith(OWN)

export interface StorageLimits {
  /** How many steps of history are kept; 0: none. */
  readonly eventsKept: number
  /** Rows of the journal between two checkpoints. */
  readonly journalRows?: number
}

export class Storage {
  readonly events: EventLog
  private readonly rows: Rows
  private readonly journal: Journal
  private checkpoint: Checkpoint
  private isBegun: boolean
  private readonly own = new Map<string, Json>()
  /** What the journal holds: changed since the checkpoint. */
  private changed = new Map<string, Text>()
  /** What this turn has changed; `null`: deleted. */
  private readonly staged = new Map<string, Json | null>()
  /** Whether something in this turn must not wait. */
  private isUrgent = false
  /** Whether the protocol has saved something in this turn that may wait. */
  private hasSavedLater = false
  /** What earlier turns have changed and no row tells of yet. */
  private waiting: string[] = []
  /** The protocol's records as they were found, until they have been read. */
  private found: Map<string, string> | null = new Map()
  /** Nothing of what is on disk counts any more: this turn empties it. */
  private isEmptied = false
  private hasChanged: boolean

  constructor(rows: Rows, { eventsKept, journalRows }: StorageLimits) {
    this.rows = rows
    const checkpoint = readCheckpoint(rows)
    this.isBegun = checkpoint !== null
    this.checkpoint = checkpoint ?? FIRST_CHECKPOINT
    this.hasChanged = this.checkpoint.hasChanged
    this.journal = new Journal(rows.journal, this.checkpoint.through, journalRows)
    const steps = readJournal(this.journal, this.changed)
    for (const [key, text] of this.committed()) {
      if (isOwn(key)) this.own.set(key, JSON.parse(text) as Json)
      else this.found!.set(key, text)
    }
    this.events = new EventLog(rows.steps, this.checkpoint.steps, this.missedThrough, eventsKept)
    for (const step of steps) this.events.restore(step)
    if (!this.isBegun && rows.older.isThere()) this.takeOver()
  }

  get(key: string): Json | undefined {
    const staged = this.staged.get(key)
    return staged === undefined ? this.own.get(key) : (staged ?? undefined)
  }

  put(key: string, value: Json): void {
    this.isUrgent = true
    this.staged.set(key, value)
  }

  delete(key: string): void {
    this.isUrgent = true
    this.staged.set(key, null)
  }

  save(records: readonly DurableRecord[], mayWait = false): void {
    if (mayWait) this.hasSavedLater = true
    else this.isUrgent = true
    for (const { key, value } of records) this.staged.set(key, value)
  }

  /** Nothing that this turn changes may wait. */
  hurry(): void {
    this.isUrgent = true
  }

  /** Whether something waits to be written. */
  get isBehind(): boolean {
    return this.waiting.length > 0
  }

  /** What has waited so far is written with this turn. */
  flush(): void {
    if (this.isBehind) this.isUrgent = true
  }

  /**
   * From this turn on, the storage is of a lock whose members have changed: versions that know nothing of
   * that refuse it.
   */
  noteMembers(): void {
    this.hasChanged = true
    if (!this.checkpoint.hasChanged) this.isUrgent = true
  }

  /** The participant's own keys that begin with this, as committed. */
  keysFrom(prefix: string): string[] {
    return [...this.own.keys()].filter(key => key.startsWith(prefix))
  }

  /** The records of the protocol, with what this turn has changed. */
  *protocolRecords(): Iterable<readonly [string, Json]> {
    const found = this.isEmptied ? [] : (this.found ?? this.committed())
    this.found = null
    for (const [key, text] of found)
      if (!isOwn(key) && !this.staged.has(key)) yield [key, JSON.parse(text) as Json]
    for (const [key, value] of this.staged) if (!isOwn(key) && value !== null) yield [key, value]
  }

  /** Deletes all records of the protocol, including those that this turn has written. */
  clearProtocol(): void {
    this.isUrgent = true
    const keys = this.isEmptied ? [] : Array.from(this.committed(), ([key]) => key)
    for (const key of [...keys, ...this.staged.keys()]) if (!isOwn(key)) this.staged.set(key, null)
  }

  /**
   * Deletes everything but these records of the participant's own, on the disk too. What is put or saved
   * after this, in the same turn, is kept.
   */
  empty(kept: readonly string[]): void {
    for (const key of [...this.own.keys(), ...this.staged.keys()])
      if (!kept.includes(key)) this.staged.set(key, null)
    this.events.empty()
    this.isEmptied = true
    this.isUrgent = true
  }

  /** All or nothing. If it throws, what is in memory must not be used any more. */
  commit(): void {
    const { events, staged } = this
    if (events.missedThrough > this.missedThrough) this.put(MISSED, events.missedThrough)
    const isUrgent = this.isUrgent || (events.isStaged && !this.hasSavedLater)
    this.isUrgent = false
    this.hasSavedLater = false
    if (this.isEmptied) {
      this.changed.clear()
      this.waiting = []
    }
    for (const [key, value] of staged) this.waiting.push(lineOf(key, this.note(key, value)))
    this.waiting.push(...events.take())
    staged.clear()
    if (isUrgent) this.write()
  }

  /** A turn that is one row, as almost all are, needs no transaction: one row is all or nothing. */
  private write(): void {
    const lines = this.waiting
    this.waiting = []
    const isNew = this.hasChanged && !this.checkpoint.hasChanged
    const isPlain = this.isBegun && !this.isEmptied && !isNew && !this.events.isFull
    if (isPlain && this.journal.appendOne(lines)) return
    this.rows.transaction(() => {
      if (!this.isBegun) this.begin()
      if (this.isEmptied) return this.beginAnew()
      const isWritten = this.journal.append(lines)
      if (!isWritten || isNew || this.journal.isFull || this.events.isFull) this.fold()
    })
  }

  private get missedThrough(): number {
    return (this.own.get(MISSED) as number | undefined) ?? 0
  }

  private note(key: string, value: Json | null): Text {
    const text = value === null ? null : JSON.stringify(value)
    this.changed.set(key, text)
    if (!isOwn(key)) {
      this.found = null
      return text
    }
    if (value === null) this.own.delete(key)
    else this.own.set(key, value)
    return text
  }

  /** The records as they are on disk. */
  private committed(): Iterable<readonly [string, string]> {
    return allRecords(this.rows, this.checkpoint, this.changed)
  }

  private begin(): void {
    this.isBegun = true
    leaveMark(this.rows)
    writeCheckpoint(this.rows, this.checkpoint)
  }

  /** All that is left is what this turn has written, and the participant's own records. */
  private beginAnew(): void {
    this.isEmptied = false
    this.rows.empty()
    for (const [key, value] of this.own) this.changed.set(key, JSON.stringify(value))
    this.checkpoint = { ...this.checkpoint, segments: [] }
    this.fold()
  }

  /** The journal becomes part of the segments, and the steps that it tells of become blocks. */
  private fold(): void {
    const steps = this.events.writeBlocks()
    if (this.events.missedThrough > this.missedThrough) this.note(MISSED, this.events.missedThrough)
    const list = addSegment(this.rows.segments, this.checkpoint, this.changed)
    const { hasChanged } = this
    this.checkpoint = { ...list, through: this.journal.takeIn(), steps, hasChanged }
    writeCheckpoint(this.rows, this.checkpoint)
    this.changed = new Map()
  }

  private takeOver(): void {
    for (const [key, text] of readOlder(this.rows)) this.note(key, JSON.parse(text) as Json)
    this.events.missThrough(this.missedThrough)
    for (const { body } of this.rows.older.events()) this.events.restore(body)
    this.rows.transaction(() => {
      this.begin()
      this.fold()
    })
  }
}

function* allRecords(
  rows: Rows,
  checkpoint: Checkpoint,
  changed: ReadonlyMap<string, Text>,
): Iterable<readonly [string, string]> {
  for (const [key, text] of readSegments(rows.segments, checkpoint)) if (!changed.has(key)) yield [key, text]
  for (const [key, text] of changed) if (text !== null) yield [key, text]
}

/** Notes what has changed since the checkpoint, and returns the steps. */
function readJournal(journal: Journal, changed: Map<string, Text>): string[] {
  const steps: string[] = []
  for (const line of journal.read()) {
    if (line.startsWith('{')) steps.push(line)
    else for (const [key, text] of recordsIn(line)) changed.set(key, text)
  }
  return steps
}

/** For tools that look at storage from outside. */
export function storedRecords(rows: Rows): Iterable<readonly [key: string, text: string]> {
  const checkpoint = readCheckpoint(rows) ?? FIRST_CHECKPOINT
  const changed = new Map<string, Text>()
  readJournal(new Journal(rows.journal, checkpoint.through), changed)
  return allRecords(rows, checkpoint, changed)
}
