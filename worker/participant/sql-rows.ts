/**
 * The rows of a participant in the SQLite database of its Durable Object. It decides nothing: see runtime.ts.
 */
import type { JournalRows, OlderRows, Rows, SegmentRows, StepRows } from './runtime.ts'

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

const TABLES = [
  'journal (place INTEGER PRIMARY KEY, number INTEGER NOT NULL, body TEXT NOT NULL)',
  'segments (id INTEGER PRIMARY KEY, body TEXT NOT NULL)',
  'steps (first INTEGER PRIMARY KEY, steps INTEGER NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL)',
  // The first layout.
  'records (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
  'events (id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, body TEXT NOT NULL)',
]

type Exec = SqlDatabase['sql']['exec']

export class SqlRows implements Rows {
  readonly journal: JournalRows
  readonly segments: SegmentRows
  readonly steps: StepRows
  readonly older: OlderRows
  private readonly database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.database = database
    const exec: Exec = (query, ...values) => database.sql.exec(query, ...values)
    for (const table of TABLES) exec(`CREATE TABLE IF NOT EXISTS ${table}`)
    this.journal = journalRows(exec)
    this.segments = segmentRows(exec)
    this.steps = stepRows(exec)
    this.older = olderRows(exec)
  }

  touch(): number {
    const { now } = this.database.sql.exec<{ now: number }>("SELECT unixepoch('subsec') AS now").one()
    return now * 1_000
  }

  transaction(run: () => void): void {
    this.database.transactionSync(run)
  }

  empty(): void {
    for (const table of ['journal', 'segments', 'steps']) this.database.sql.exec(`DELETE FROM ${table}`)
  }
}

function journalRows(exec: Exec): JournalRows {
  return {
    put: (place, number, body) => {
      exec('INSERT OR REPLACE INTO journal VALUES (?, ?, ?)', place, number, body)
    },
    get: place =>
      exec<{ number: number; body: string }>(
        'SELECT number, body FROM journal WHERE place = ?',
        place,
      ).toArray()[0],
  }
}

function segmentRows(exec: Exec): SegmentRows {
  return {
    put: (id, body) => {
      exec('INSERT OR REPLACE INTO segments VALUES (?, ?)', id, body)
    },
    get: id => exec<{ body: string }>('SELECT body FROM segments WHERE id = ?', id).toArray()[0]?.body,
    delete: ids => {
      for (const id of ids) exec('DELETE FROM segments WHERE id = ?', id)
    },
  }
}

function stepRows(exec: Exec): StepRows {
  return {
    append: ({ first, steps, sequence, body }) => {
      exec('INSERT INTO steps VALUES (?, ?, ?, ?)', first, steps, sequence, body)
    },
    page: (first, afterSequence, limit) =>
      exec<{ first: number; steps: number; sequence: number; body: string }>(
        `SELECT first, steps, sequence, body FROM steps
        WHERE first >= coalesce((SELECT max(first) FROM steps WHERE first <= ?), 0) AND sequence > ?
        ORDER BY first LIMIT ?`,
        first,
        afterSequence,
        limit,
      ).toArray(),
    oldest: () =>
      exec<{ first: number; steps: number; sequence: number; bytes: number }>(
        'SELECT first, steps, sequence, octet_length(body) AS bytes FROM steps ORDER BY first LIMIT 1',
      ).toArray()[0],
    highestSequence: () =>
      exec<{ highest: number | null }>('SELECT max(sequence) AS highest FROM steps').one().highest ?? 0,
    delete: first => {
      exec('DELETE FROM steps WHERE first = ?', first)
    },
  }
}

function olderRows(exec: Exec): OlderRows {
  return {
    isThere: () => exec('SELECT key FROM records LIMIT 1').toArray().length > 0,
    records: function* () {
      for (const { key, value } of exec<{ key: string; value: string }>('SELECT key, value FROM records'))
        yield [key, value]
    },
    events: () => exec<{ sequence: number; body: string }>('SELECT sequence, body FROM events ORDER BY id'),
    replaceBy: (key, value) => {
      exec('DELETE FROM records')
      exec('DELETE FROM events')
      exec('INSERT INTO records VALUES (?, ?)', key, value)
    },
  }
}
