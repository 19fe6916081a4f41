/** SQLite for tests, the same on every Node: `node:sqlite` is not there before Node 22. */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sqlite from 'node-sqlite3-wasm'

type Value = string | number

/**
 * The library reads a text up to its first zero. A character that never means anything stands for it in the
 * database.
 */
const ZERO = '\u0000'
const STAND_IN = '\ufdd0'

export type SqliteRow = { readonly [column: string]: unknown }

export class Sqlite {
  readonly #database: sqlite.Database

  /**
   * Nobody else uses the file meanwhile: without shared memory, that is the only way to read a write-ahead
   * log.
   */
  constructor(file = ':memory:') {
    this.#database = new sqlite.Database(file)
    this.#database.exec('PRAGMA locking_mode = EXCLUSIVE')
  }

  exec(statements: string): void {
    this.#database.exec(statements)
  }

  all(query: string, ...values: readonly Value[]): SqliteRow[] {
    const given = values.map(value => (typeof value === 'string' ? value.replaceAll(ZERO, STAND_IN) : value))
    return this.#database.all(query, given).map(readBack)
  }

  close(): void {
    this.#database.close()
  }
}

function readBack(row: SqliteRow): SqliteRow {
  const columns = Object.entries(row).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.replaceAll(STAND_IN, ZERO) : value,
  ])
  return Object.fromEntries(columns)
}

/** For a database that a process has open: the rows of a copy. */
export function rowsOfCopy(file: string, query: string): SqliteRow[] {
  const folder = mkdtempSync(join(tmpdir(), 'baton-sqlite-'))
  const copy = join(folder, 'copy.sqlite')
  try {
    for (const end of ['', '-wal']) if (existsSync(file + end)) copyFileSync(file + end, copy + end)
    const database = new Sqlite(copy)
    const rows = database.all(query)
    database.close()
    return rows
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
