/** The durable side of one participant: the protocol's records and the bounded record of events, in the object's SQLite. */
import type { HistoryEvent } from '../../shared/history/events.ts'
import type { Json } from '../../shared/json.ts'
import type { DurableRecord } from '../../shared/protocols/protocol.ts'

/** What one step did, for the history and for watchers. */
export interface EventRow {
  readonly id: number
  readonly history: readonly HistoryEvent[]
  readonly changes: readonly WatchEvent[]
}

/** What watchers are told; see api.md, Watch. */
export interface WatchEvent {
  readonly event: 'op' | 'holder' | 'snapshot'
  readonly sequence: number
  readonly data: Json
}

export class Storage {
  private readonly sql: SqlStorage
  private readonly eventsKept: number
  private events: number

  constructor(sql: SqlStorage, eventsKept: number) {
    this.sql = sql
    this.eventsKept = eventsKept
    sql.exec('CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID')
    sql.exec(
      'CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, body TEXT NOT NULL)',
    )
    this.events = Number(sql.exec('SELECT count(*) AS n FROM events').one().n)
  }

  /** A superseded instance of the object finds out by touching its storage; every handler begins with this. */
  touch(): void {
    this.sql.exec('SELECT 1')
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

  /** The keys that begin with this. */
  keysFrom(prefix: string): string[] {
    const query = 'SELECT key FROM records WHERE substr(key, 1, ?) = ?'
    return this.sql
      .exec<{ key: string }>(query, prefix.length, prefix)
      .toArray()
      .map(row => row.key)
  }

  *records(): Iterable<readonly [string, Json]> {
    for (const row of this.sql.exec<{ key: string; value: string }>('SELECT key, value FROM records')) {
      yield [row.key, JSON.parse(row.value) as Json]
    }
  }

  /** All in one transaction: the statements of one synchronous block are. */
  save(records: readonly DurableRecord[]): void {
    for (const { key, value } of records) {
      if (value === null) this.delete(key)
      else this.put(key, value)
    }
  }

  record(history: readonly HistoryEvent[], changes: readonly WatchEvent[]): void {
    if (this.eventsKept === 0) return
    const sequence = Math.max(0, ...changes.map(change => change.sequence))
    this.sql.exec(
      'INSERT INTO events (sequence, body) VALUES (?, ?)',
      sequence,
      JSON.stringify({ history, changes }),
    )
    this.events++
    // Old rows go in runs, so that a step rarely pays for it.
    if (this.events > this.eventsKept * 1.25) this.forgetOldEvents()
  }

  private forgetOldEvents(): void {
    const oldest = 'id <= (SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?)'
    const { through } = this.sql
      .exec<{ through: number | null }>(
        `SELECT max(sequence) AS through FROM events WHERE ${oldest}`,
        this.eventsKept,
      )
      .one()
    this.missThrough(through ?? 0)
    this.sql.exec(`DELETE FROM events WHERE ${oldest}`, this.eventsKept)
    this.events = this.eventsKept
  }

  /** Not everything up to this sequence is among the events: it was forgotten, or came here as a snapshot. */
  missThrough(sequence: number): void {
    if (sequence > this.missedThrough) this.put('.missed', sequence)
  }

  private get missedThrough(): number {
    return (this.get('.missed') as number | undefined) ?? 0
  }

  history(): HistoryEvent[] {
    return this.rows('SELECT id, body FROM events ORDER BY id').flatMap(row => row.history)
  }

  /** The watch events after `since`, or `null` if some of them are missing. */
  changesAfter(since: number): WatchEvent[] | null {
    if (since < this.missedThrough) return null
    return this.rows('SELECT id, body FROM events WHERE sequence > ? ORDER BY id', since)
      .flatMap(row => row.changes)
      .filter(change => change.sequence > since)
  }

  private rows(query: string, ...values: number[]): EventRow[] {
    return this.sql
      .exec<{ id: number; body: string }>(query, ...values)
      .toArray()
      .map(row => ({ id: row.id, ...(JSON.parse(row.body) as Omit<EventRow, 'id'>) }))
  }
}
