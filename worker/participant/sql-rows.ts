/** The rows of a participant in the SQLite of its Durable Object. It decides nothing: see runtime.ts. */
import type { EventRow, EventRows, RecordRows, Rows } from './runtime.ts'

/** The part of `DurableObjectStorage` that is needed here. */
export interface SqlDatabase {
  readonly sql: {
    exec<Row extends Record<string, string | number | null>>(
      query: string,
      ...values: (string | number)[]
    ): Iterable<Row> & { one(): Row; toArray(): Row[] }
  }
  transactionSync(run: () => void): void
}

/** A statement binds at most a hundred values. */
const MAX_VALUES = 100

export class SqlRows implements Rows {
  private readonly database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.database = database
    const { sql } = database
    sql.exec('CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID')
    sql.exec(
      'CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, body TEXT NOT NULL)',
    )
  }

  touch(): number {
    const { now } = this.database.sql.exec<{ now: number }>("SELECT unixepoch('subsec') AS now").one()
    return now * 1_000
  }

  transaction(run: () => void): void {
    this.database.transactionSync(run)
  }

  readonly records: RecordRows = {
    get: key => {
      const found = this.database.sql.exec<{ value: string }>('SELECT value FROM records WHERE key = ?', key)
      return found.toArray()[0]?.value
    },
    put: records => {
      // One statement writes many rows: each statement has a cost of its own.
      for (const part of inParts(records, MAX_VALUES / 2)) {
        const rows = part.map(() => '(?, ?)').join(', ')
        this.database.sql.exec(`INSERT OR REPLACE INTO records VALUES ${rows}`, ...part.flat())
      }
    },
    delete: keys => {
      for (const part of inParts(keys, MAX_VALUES)) {
        const places = part.map(() => '?').join(', ')
        this.database.sql.exec(`DELETE FROM records WHERE key IN (${places})`, ...part)
      }
    },
    range: prefix => this.range(prefix),
  }

  private *range(prefix: string): Iterable<readonly [string, string]> {
    type Row = { key: string; value: string }
    const { sql } = this.database
    // A range of the primary key: no row outside of it is read.
    const rows =
      prefix === ''
        ? sql.exec<Row>('SELECT key, value FROM records ORDER BY key')
        : sql.exec<Row>(
            'SELECT key, value FROM records WHERE key >= ? AND key < ? ORDER BY key',
            prefix,
            behind(prefix),
          )
    for (const { key, value } of rows) yield [key, value]
  }

  readonly events: EventRows = {
    append: (sequence, body) => {
      this.database.sql.exec('INSERT INTO events (sequence, body) VALUES (?, ?)', sequence, body)
    },
    page: (afterId, afterSequence, limit) =>
      this.database.sql
        .exec<{ id: number; sequence: number; body: string }>(
          'SELECT id, sequence, body FROM events WHERE id > ? AND sequence > ? ORDER BY id LIMIT ?',
          afterId,
          afterSequence,
          limit,
        )
        .toArray() as EventRow[],
    newestFirst: () =>
      this.database.sql.exec<{ id: number; sequence: number; bytes: number }>(
        'SELECT id, sequence, octet_length(body) AS bytes FROM events ORDER BY id DESC',
      ),
    size: () =>
      this.database.sql
        .exec<{ rows: number; bytes: number }>(
          'SELECT count(*) AS rows, total(octet_length(body)) AS bytes FROM events',
        )
        .one(),
    forgetThrough: id => {
      const { through } = this.database.sql
        .exec<{ through: number | null }>('SELECT max(sequence) AS through FROM events WHERE id <= ?', id)
        .one()
      this.database.sql.exec('DELETE FROM events WHERE id <= ?', id)
      return through ?? 0
    },
  }
}

/** The first text behind all that begin with this. Prefixes end with an ASCII character. */
function behind(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}

function inParts<Item>(items: readonly Item[], most: number): Item[][] {
  const parts: Item[][] = []
  for (let at = 0; at < items.length; at += most) parts.push(items.slice(at, at + most))
  return parts
}
