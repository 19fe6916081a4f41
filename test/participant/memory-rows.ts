/**
 * Storage in memory, as SQLite gives it: rows by key, transactions that are all or nothing. It outlives the
 * instances that use it, can be made read-only, and can be made to throw at one statement.
 */
import type { EventRow, EventRows, RecordRows, Rows } from '../../worker/participant/runtime.ts'

export const READ_ONLY = 'attempt to write a readonly database'

interface Tables {
  readonly records: ReadonlyMap<string, string>
  readonly events: readonly EventRow[]
}

const encoder = new TextEncoder()
const bytesOf = (text: string): number => encoder.encode(text).length

export class MemoryRows implements Rows {
  isReadOnly = false
  /** Statements that write, since the beginning. */
  writes = 0
  /** Called before each statement that writes; may throw. */
  beforeWrite: () => void = () => {}
  /** The machine's clock. */
  now: () => number = () => Date.now()
  private tables: Tables = { records: new Map(), events: [] }

  touch(): number {
    return this.now()
  }

  transaction(run: () => void): void {
    const before = this.tables
    try {
      run()
    } catch (error) {
      this.tables = before
      throw error
    }
  }

  private write(change: Partial<Tables>): void {
    if (this.isReadOnly) throw new Error(READ_ONLY)
    this.beforeWrite()
    this.writes++
    this.tables = { ...this.tables, ...change }
  }

  readonly records: RecordRows = {
    get: key => this.tables.records.get(key),
    put: records => this.write({ records: new Map([...this.tables.records, ...records]) }),
    delete: keys => {
      const records = new Map(this.tables.records)
      for (const key of keys) records.delete(key)
      this.write({ records })
    },
    range: prefix => [...this.tables.records].filter(([key]) => key.startsWith(prefix)).sort(byKey),
  }

  readonly events: EventRows = {
    append: (sequence, body) => {
      const id = (this.tables.events.at(-1)?.id ?? 0) + 1
      this.write({ events: [...this.tables.events, { id, sequence, body }] })
    },
    page: (afterId, afterSequence, limit) =>
      this.tables.events
        .filter(row => row.id > afterId && row.sequence > afterSequence)
        .slice(0, limit)
        .map(row => ({ ...row })),
    newestFirst: () =>
      this.tables.events
        .toReversed()
        .map(({ id, sequence, body }) => ({ id, sequence, bytes: bytesOf(body) })),
    size: () => ({
      rows: this.tables.events.length,
      bytes: this.tables.events.reduce((sum, { body }) => sum + bytesOf(body), 0),
    }),
    forgetThrough: last => {
      const forgotten = this.tables.events.filter(({ id }) => id <= last)
      this.write({ events: this.tables.events.filter(({ id }) => id > last) })
      return forgotten.reduce((most, { sequence }) => Math.max(most, sequence), 0)
    },
  }
}

/** As SQLite compares text: by its bytes, which is by code points and not by UTF-16 units. */
function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return Buffer.compare(encoder.encode(a), encoder.encode(b))
}
