/** The durable side of one participant: the protocol's records and the bounded record of events, in the object's SQLite. */
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { HistoryEvent } from '../../shared/history/events.ts'
import type { Json } from '../../shared/json.ts'
import type { DurableRecord } from '../../shared/protocols/protocol.ts'

/** What one step did, or a part of it, for the history and for watchers. */
interface EventRow {
  readonly history: readonly HistoryEvent[]
  readonly changes: readonly WatchEvent[]
}

/** A row holds at most 2 MB, and a character is at most three bytes of UTF-8. */
const MOST_ROW_LENGTH = 500_000
const MOST_ROW_BYTES = 1_900_000

/** A statement binds at most a hundred values. */
const MOST_VALUES = 100

/** What watchers are told; see api.md, Watch. */
export interface WatchEvent {
  readonly event: 'op' | 'holder' | 'snapshot'
  readonly sequence: number
  readonly data: Json
}

export class Storage {
  private readonly sql: SqlStorage
  private readonly eventsKept: number
  private readonly eventBytesKept: number
  private events = 0
  private eventBytes = 0

  constructor(sql: SqlStorage, eventsKept: number) {
    this.sql = sql
    this.eventsKept = eventsKept
    this.eventBytesKept = eventsKept * API_LIMITS.bytesPerEventKept
    sql.exec('CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID')
    sql.exec(
      'CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, body TEXT NOT NULL)',
    )
    this.countEvents()
  }

  private countEvents(): void {
    const kept = this.sql
      .exec<{ events: number; bytes: number }>(
        'SELECT count(*) AS events, total(octet_length(body)) AS bytes FROM events',
      )
      .one()
    this.events = kept.events
    this.eventBytes = kept.bytes
  }

  /** A superseded instance of the object finds out by touching its storage; every handler begins with this. */
  touch(): void {
    this.sql.exec('SELECT 1').one()
  }

  get(key: string): Json | undefined {
    const [row] = this.sql.exec<{ value: string }>('SELECT value FROM records WHERE key = ?', key).toArray()
    return row === undefined ? undefined : (JSON.parse(row.value) as Json)
  }

  put(key: string, value: Json): void {
    this.sql.exec('INSERT OR REPLACE INTO records VALUES (?, ?)', key, JSON.stringify(value))
  }

  delete(key: string): void {
    this.sql.exec('DELETE FROM records WHERE key = ?', key)
  }

  /** The keys that begin with this. A range of the primary key: nothing else is read. */
  keysFrom(prefix: string): string[] {
    const behind = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
    return this.sql
      .exec<{ key: string }>('SELECT key FROM records WHERE key >= ? AND key < ?', prefix, behind)
      .toArray()
      .map(row => row.key)
  }

  *records(): Iterable<readonly [string, Json]> {
    for (const row of this.sql.exec<{ key: string; value: string }>('SELECT key, value FROM records')) {
      yield [row.key, JSON.parse(row.value) as Json]
    }
  }

  /** All in one transaction: the statements of one synchronous block are. One statement writes many rows: each costs its call. */
  save(records: readonly DurableRecord[]): void {
    const written: string[] = []
    const deleted: string[] = []
    for (const { key, value } of records) {
      if (value === null) deleted.push(key)
      else written.push(key, JSON.stringify(value))
    }
    for (let at = 0; at < written.length; at += MOST_VALUES) this.insert(written.slice(at, at + MOST_VALUES))
    for (let at = 0; at < deleted.length; at += MOST_VALUES) this.remove(deleted.slice(at, at + MOST_VALUES))
  }

  private insert(keysAndValues: readonly string[]): void {
    const rows = new Array(keysAndValues.length / 2).fill('(?, ?)').join(', ')
    this.sql.exec(`INSERT OR REPLACE INTO records VALUES ${rows}`, ...keysAndValues)
  }

  private remove(keys: readonly string[]): void {
    this.sql.exec(`DELETE FROM records WHERE key IN (${keys.map(() => '?').join(', ')})`, ...keys)
  }

  /** One row for each step, more if it did so much that one would not hold it: a participant that catches up does. */
  record(history: readonly HistoryEvent[], changes: readonly WatchEvent[]): void {
    if (this.eventsKept === 0) return
    for (const { text, sequence } of this.rowsOf(history, changes)) {
      this.sql.exec('INSERT INTO events (sequence, body) VALUES (?, ?)', sequence, text)
      this.eventBytes += bytesOf(text)
      this.events++
    }
    // Old rows go in runs, so that a step rarely pays for it.
    const isMuch = this.events > this.eventsKept * 1.25 || this.eventBytes > this.eventBytesKept * 1.25
    if (isMuch) this.forgetOldEvents()
  }

  private forgetOldEvents(): void {
    const newestFirst =
      'SELECT id, row_number() OVER newest AS place, sum(octet_length(body)) OVER newest AS bytes ' +
      'FROM events WINDOW newest AS (ORDER BY id DESC)'
    const isOld = `id <= (SELECT max(id) FROM (${newestFirst}) WHERE place > ? OR bytes > ?)`
    const limits = [this.eventsKept, this.eventBytesKept]
    const { through } = this.sql
      .exec<{ through: number | null }>(
        `SELECT max(sequence) AS through FROM events WHERE ${isOld}`,
        ...limits,
      )
      .one()
    this.missThrough(through ?? 0)
    this.sql.exec(`DELETE FROM events WHERE ${isOld}`, ...limits)
    this.countEvents()
  }

  /** Not everything up to this sequence is among the events: it was forgotten, or came here as a snapshot. */
  missThrough(sequence: number): void {
    if (sequence > this.missedThrough) this.put('.missed', sequence)
  }

  private get missedThrough(): number {
    return (this.get('.missed') as number | undefined) ?? 0
  }

  history(): HistoryEvent[] {
    return this.rows('SELECT body FROM events ORDER BY id').flatMap(row => row.history)
  }

  /** The watch events after `since`, or `null` if some of them are missing. */
  changesAfter(since: number): WatchEvent[] | null {
    if (since < this.missedThrough) return null
    return this.rows('SELECT body FROM events WHERE sequence > ? ORDER BY id', since)
      .flatMap(row => row.changes)
      .filter(change => change.sequence > since)
  }

  private rows(query: string, ...values: number[]): EventRow[] {
    return this.sql
      .exec<{ body: string }>(query, ...values)
      .toArray()
      .map(row => JSON.parse(row.body) as EventRow)
  }
  private rowsOf(history: readonly HistoryEvent[], changes: readonly WatchEvent[]): Row[] {
    const whole = rowWith(history, changes)
    if (whole.text.length <= MOST_ROW_LENGTH) return [whole]
    return [
      ...pack(history).map(part => rowWith(part, [])),
      ...pack(changes.filter(change => this.fits(change))).map(part => rowWith([], part)),
    ]
  }

  /** A small batch can change much: by an op for each of many long lists. Who resumes before that begins with a snapshot. */
  private fits(change: WatchEvent): boolean {
    const text = JSON.stringify(change)
    const isSmall = text.length * 3 <= MOST_ROW_BYTES || bytesOf(text) <= MOST_ROW_BYTES
    if (!isSmall) this.missThrough(change.sequence)
    return isSmall
  }
}

/** As UTF-8. Most text is of letters that are one byte each. */
function bytesOf(text: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 127) return new TextEncoder().encode(text).length
  }
  return text.length
}

interface Row {
  readonly text: string
  readonly sequence: number
}

function rowWith(history: readonly HistoryEvent[], changes: readonly WatchEvent[]): Row {
  const sequence = changes.reduce((most, change) => Math.max(most, change.sequence), 0)
  return { text: JSON.stringify({ history, changes } satisfies EventRow), sequence }
}

/** As many of them together as a row holds, in their order. */
function pack<Event>(events: readonly Event[]): Event[][] {
  const parts: Event[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const event of events) {
    const more = JSON.stringify(event).length
    if (length + more > MOST_ROW_LENGTH) {
      parts.push([])
      length = 0
    }
    length += more
    parts.at(-1)!.push(event)
  }
  return parts
}
