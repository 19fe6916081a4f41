/**
 * Storage in memory, with transactions that are all or nothing. It outlives the instances that use it, can be
 * made read-only, and can be made to throw at one statement.
 */
import type { Rows } from '../../worker/participant/runtime.ts'
import { rowsOver, Tables } from './tables.ts'

export const READ_ONLY = 'attempt to write a readonly database'

export class MemoryRows implements Rows {
  isReadOnly = false
  /** Statements that write, since the beginning. */
  writes = 0
  /** Called before each statement that writes; may throw. */
  beforeWrite: () => void = () => {}
  /** Called before each statement that reads. */
  beforeRead: (statement: string) => void = () => {}
  /** The machine's clock. */
  now: () => number = () => Date.now()
  tables = new Tables()

  private readonly over = rowsOver({
    now: () => this.now(),
    tables: () => this.tables,
    reading: statement => this.beforeRead(statement),
    write: write => {
      if (this.isReadOnly) throw new Error(READ_ONLY)
      this.beforeWrite()
      this.writes++
      this.tables.apply(write)
    },
  })

  readonly journal = this.over.journal
  readonly segments = this.over.segments
  readonly steps = this.over.steps
  readonly older = this.over.older
  readonly empty = this.over.empty

  touch(): number {
    return this.now()
  }

  transaction(run: () => void): void {
    const before = this.tables.copy()
    try {
      run()
    } catch (error) {
      this.tables = before
      throw error
    }
  }
}
