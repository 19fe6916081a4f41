/**
 * The rows of a participant in the SQLite database of its Durable Object. It decides nothing: see runtime.ts.
 * An object that was only looked at leaves nothing behind.
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

/** Each comes with its first row: a database has as few tables as its object needs. */
const TABLES = {
  journal: '(place INTEGER PRIMARY KEY, number INTEGER NOT NULL, body TEXT NOT NULL)',
  segments: '(id INTEGER PRIMARY KEY, body TEXT NOT NULL)',
  steps: '(first INTEGER PRIMARY KEY, steps INTEGER NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL)',
  // The first layout.
  records: '(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
  events: '(id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, body TEXT NOT NULL)',
}

type TableName = keyof typeof TABLES
const NAMES = Object.keys(TABLES) as TableName[]

type Value = string | number | null
type Row = { [column: string]: Value }

class Tables {
  private readonly database: SqlDatabase
  private there: ReadonlySet<TableName>

  constructor(database: SqlDatabase) {
    this.database = database
    this.there = new Set(this.found())
  }

  /** A table that is not there has no rows. */
  read<Columns extends Row>(table: TableName, query: string, ...values: (string | number)[]): Columns[] {
    return this.there.has(table) ? this.database.sql.exec<Columns>(query, ...values).toArray() : []
  }

  /** One row after the other, for what may be much. */
  *each<Columns extends Row>(table: TableName, query: string): Iterable<Columns> {
    if (this.there.has(table)) yield* this.database.sql.exec<Columns>(query)
  }

  write(table: TableName, query: string, ...values: (string | number)[]): void {
    if (!this.there.has(table)) this.create(table)
    this.database.sql.exec(query, ...values)
  }

  empty(table: TableName): void {
    if (this.there.has(table)) this.database.sql.exec(`DELETE FROM ${table}`)
  }

  /** What a transaction has created is gone again if it is rolled back. */
  transaction(run: () => void): void {
    const { there } = this
    try {
      this.database.transactionSync(run)
    } catch (error) {
      this.there = there
      throw error
    }
  }

  private create(table: TableName): void {
    this.database.sql.exec(`CREATE TABLE ${table} ${TABLES[table]}`)
    this.there = new Set(this.there).add(table)
  }

  private found(): TableName[] {
    const names = NAMES.map(name => `'${name}'`).join(', ')
    const query = `SELECT name FROM sqlite_master WHERE type = 'table' AND name IN (${names})`
    return this.database.sql
      .exec<{ name: TableName }>(query)
      .toArray()
      .map(({ name }) => name)
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
    this.tables.transaction(run)
  }

  empty(): void {
    for (const table of ['journal', 'segments', 'steps'] as const) this.tables.empty(table)
  }
}

function journalRows(tables: Tables): JournalRows {
  return {
    put: (place, number, body) =>
      tables.write('journal', 'INSERT OR REPLACE INTO journal VALUES (?, ?, ?)', place, number, body),
    get: place =>
      tables.read<{ number: number; body: string }>(
        'journal',
        'SELECT number, body FROM journal WHERE place = ?',
        place,
      )[0],
  }
}

function segmentRows(tables: Tables): SegmentRows {
  return {
    put: (id, body) => tables.write('segments', 'INSERT OR REPLACE INTO segments VALUES (?, ?)', id, body),
    get: id =>
      tables.read<{ body: string }>('segments', 'SELECT body FROM segments WHERE id = ?', id)[0]?.body,
    delete: ids => {
      for (const id of ids) tables.write('segments', 'DELETE FROM segments WHERE id = ?', id)
    },
  }
}

function stepRows(tables: Tables): StepRows {
  return {
    append: ({ first, steps, sequence, body }) =>
      tables.write('steps', 'INSERT INTO steps VALUES (?, ?, ?, ?)', first, steps, sequence, body),
    page: (first, afterSequence, limit) =>
      tables.read<{ first: number; steps: number; sequence: number; body: string }>(
        'steps',
        `SELECT first, steps, sequence, body FROM steps
        WHERE first >= coalesce((SELECT max(first) FROM steps WHERE first <= ?), 0) AND sequence > ?
        ORDER BY first LIMIT ?`,
        first,
        afterSequence,
        limit,
      ),
    oldest: () =>
      tables.read<{ first: number; steps: number; sequence: number; bytes: number }>(
        'steps',
        'SELECT first, steps, sequence, octet_length(body) AS bytes FROM steps ORDER BY first LIMIT 1',
      )[0],
    highestSequence: () =>
      tables.read<{ highest: number | null }>('steps', 'SELECT max(sequence) AS highest FROM steps')[0]
        ?.highest ?? 0,
    delete: first => tables.write('steps', 'DELETE FROM steps WHERE first = ?', first),
  }
}

function olderRows(tables: Tables): OlderRows {
  return {
    isThere: () => tables.read('records', 'SELECT key FROM records LIMIT 1').length > 0,
    records: function* () {
      for (const { key, value } of tables.each<{ key: string; value: string }>(
        'records',
        'SELECT key, value FROM records',
      ))
        yield [key, value]
    },
    events: () =>
      tables.each<{ sequence: number; body: string }>(
        'events',
        'SELECT sequence, body FROM events ORDER BY id',
      ),
    replaceBy: (key, value) => {
      tables.empty('records')
      tables.empty('events')
      tables.write('records', 'INSERT INTO records VALUES (?, ?)', key, value)
    },
  }
}
