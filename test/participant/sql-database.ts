/** What `SqlRows` needs of a Durable Object's storage, on SQLite in Node. */
import type { SqlDatabase } from '../../worker/participant/sql-rows.ts'
import type { Sqlite } from '../sqlite.ts'

export function sqlDatabaseOf(database: Sqlite): SqlDatabase {
  const exec = (query: string, ...values: (string | number)[]) => {
    const rows = database.all(query, ...values)
    return { one: () => rows[0], toArray: () => rows, [Symbol.iterator]: () => rows[Symbol.iterator]() }
  }
  const transactionSync = (run: () => void) => {
    database.exec('BEGIN')
    try {
      run()
      database.exec('COMMIT')
    } catch (error) {
      database.exec('ROLLBACK')
      throw error
    }
  }
  return { sql: { exec }, transactionSync } as unknown as SqlDatabase
}
