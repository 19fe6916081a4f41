/**
 * The rows of a participant in the SQLite database of its Durable Object. It decides nothing: see runtime.ts.
 * The tables come with the first row, so that an object that was only looked at leaves nothing behind.
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

type Value = string | number | null
type Row = { [column: string]: Value }

class Tables {
  private readonly database: SqlDatabase
  /** What a transaction has created is gone again if it is rolled back. */
  areThere: boolean

  constructor(database: SqlDatabase) {
    this.database = database
    // A database of before may lack the tables that came later.
    this.areThere = this.count() > 0
    if (this.areThere) this.create()
  }

  /** Without tables there are no rows. */
  read<Columns extends Row>(query: string, ...values: (string | number)[]): Columns[] {
    return this.areThere ? this.database.sql.exec<Columns>(query, ...values).toArray() : []
  }

  /** One row after the other, for what may be much. */
  *each<Columns extends Row>(query: string): Iterable<Columns> {
    if (this.areThere) yield* this.database.sql.exec<Columns>(query)
  }

  write(query: string, ...values: (string | number)[]): void {
    if (!this.areThere) this.create()
    this.database.sql.exec(query, ...values)
  }

  private create(): void {
    for (const table of TABLES) this.database.sql.exec(`CREATE TABLE IF NOT EXISTS ${table}`)
    this.areThere = true
  }

  private count(): number {
    const names = TABLES.map(table => `'${table.slice(0, table.indexOf(' '))}'`).join(', ')
    const query = `SELECT count(*) AS tables FROM sqlite_master WHERE type = 'table' AND name IN (${names})`
    return this.database.sql.exec<{ tables: number }>(query).one().tables
  }
}

export class SqlRows implements Rows {
  readonly journal: JournalRows
  readonly segments: SegmentRows
  readonly steps: StepRows
  readonly older: OlderRows
  private readonly database: SqlDatabase
  private readonly tables: Tables

  constructor(database: SqlDatabase) {
    this.database = database
    const tables = new Tables(database)
    this.tables = tables
    this.journal = journalRows(tables)
    this.segments = segmentRows(tables)
    this.steps = stepRows(tables)
    this.older = olderRows(tables)
  }

  touch(): number {
    const { now } = this.database.sql.exec<{ now: number }>("SELECT unixepoch('subsec') AS now").one()
    return now * 1_000
  }

  transaction(run: () => void): void {
    const { tables } = this
    const { areThere } = tables
    try {
      this.database.transactionSync(run)
    } catch (error) {
      tables.areThere = areThere
      throw error
    }
  }

  empty(): void {
    for (const table of ['journal', 'segments', 'steps']) this.database.sql.exec(`DELETE FROM ${table}`)
  }
}

function journalRows(tables: Tables): JournalRows {
  return {
    put: (place, number, body) =>
      tables.write('INSERT OR REPLACE INTO journal VALUES (?, ?, ?)', place, number, body),
    get: place =>
      tables.read<{ number: number; body: string }>(
        'SELECT number, body FROM journal WHERE place = ?',
        place,
      )[0],
  }
}

function segmentRows(tables: Tables): SegmentRows {
  return {
    put: (id, body) => tables.write('INSERT OR REPLACE INTO segments VALUES (?, ?)', id, body),
    get: id => tables.read<{ body: string }>('SELECT body FROM segments WHERE id = ?', id)[0]?.body,
    delete: ids => {
      for (const id of ids) tables.write('DELETE FROM segments WHERE id = ?', id)
    },
  }
}

function stepRows(tables: Tables): StepRows {
  return {
    append: ({ first, steps, sequence, body }) =>
      tables.write('INSERT INTO steps VALUES (?, ?, ?, ?)', first, steps, sequence, body),
    page: (first, afterSequence, limit) =>
      tables.read<{ first: number; steps: number; sequence: number; body: string }>(
        `SELECT first, steps, sequence, body FROM steps
        WHERE first >= coalesce((SELECT max(first) FROM steps WHERE first <= ?), 0) AND sequence > ?
        ORDER BY first LIMIT ?`,
        first,
        afterSequence,
        limit,
      ),
    oldest: () =>
      tables.read<{ first: number; steps: number; sequence: number; bytes: number }>(
        'SELECT first, steps, sequence, octet_length(body) AS bytes FROM steps ORDER BY first LIMIT 1',
      )[0],
    highestSequence: () =>
      tables.read<{ highest: number | null }>('SELECT max(sequence) AS highest FROM steps')[0]?.highest ?? 0,
    delete: first => tables.write('DELETE FROM steps WHERE first = ?', first),
  }
}

function olderRows(tables: Tables): OlderRows {
  return {
    isThere: () => tables.read('SELECT key FROM records LIMIT 1').length > 0,
    records: function* () {
      for (const { key, value } of tables.each<{ key: string; value: string }>(
        'SELECT key, value FROM records',
      ))
        yield [key, value]
    },
    events: () =>
      tables.each<{ sequence: number; body: string }>('SELECT sequence, body FROM events ORDER BY id'),
    replaceBy: (key, value) => {
      tables.write('DELETE FROM records')
      tables.write('DELETE FROM events')
      tables.write('INSERT INTO records VALUES (?, ?)', key, value)
    },
  }
}
