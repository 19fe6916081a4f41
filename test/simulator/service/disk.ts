/**
 * The storage of one object as SQLite gives it. An instance sees at once what it wrote; the writes of one
 * turn become durable together, a little later and in their order. What is not durable when the instance
 * ends is lost.
 */
import type { EventRow, EventRows, RecordRows, Rows } from '../../../worker/participant/runtime.ts'

type Write =
  | readonly ['put', key: string, value: string]
  | readonly ['delete', key: string]
  | readonly ['append', row: EventRow]
  | readonly ['forget', throughId: number]
  | readonly ['alarm', at: number | null]

/** The writes of one turn. */
export type Group = readonly Write[]

/** Called before each statement; throws if the statement is to fail or the instance is over. */
export type Statement = (kind: 'read' | 'write', name: string) => void

class Tables {
  readonly records = new Map<string, string>()
  events: EventRow[] = []
  alarmAt: number | null = null

  apply(write: Write): void {
    switch (write[0]) {
      case 'put':
        this.records.set(write[1], write[2])
        return
      case 'delete':
        this.records.delete(write[1])
        return
      case 'append':
        this.events.push(write[1])
        return
      case 'forget':
        this.events = this.events.filter(({ id }) => id > write[1])
        return
      case 'alarm':
        this.alarmAt = write[1]
    }
  }

  copy(): Tables {
    const copy = new Tables()
    for (const [key, value] of this.records) copy.records.set(key, value)
    copy.events = [...this.events]
    copy.alarmAt = this.alarmAt
    return copy
  }
}

export class Disk {
  #durable = new Tables()
  /** What the living instance sees. */
  #seen = new Tables()
  #open: Write[] = []
  isLying = false
  #before: Tables | null = null
  #flushing: Group[] = []

  get alarmAt(): number | null {
    return this.#durable.alarmAt
  }

  get isBlank(): boolean {
    return this.#durable.records.size === 0
  }

  get rows(): number {
    return this.#durable.records.size
  }

  get eventRows(): number {
    return this.#durable.events.length
  }

  /** What this turn has written so far. */
  get hasOpenWrites(): boolean {
    return this.#open.length > 0
  }

  /** For whoever looks at storage from outside of the service. */
  durableRecord(key: string): string | undefined {
    return this.#durable.records.get(key)
  }

  durableRecords(): ReadonlyMap<string, string> {
    return this.#durable.records
  }

  setAlarm(at: number | null): void {
    this.#write(['alarm', at])
  }

  /** The platform has given an alarm up. */
  dropAlarm(): void {
    this.#durable.alarmAt = null
    this.#seen.alarmAt = null
  }

  /** The turn is over: its writes are on their way, as one. `null` if there are none. */
  closeGroup(): Group | null {
    if (this.#open.length === 0) return null
    const group = this.#open
    this.#open = []
    this.#flushing.push(group)
    return group
  }

  /** The oldest group that is on its way has arrived. */
  commitOldest(): Group {
    const group = this.#flushing.shift()!
    if (this.isLying) this.#before = this.#durable.copy()
    for (const write of group) this.#durable.apply(write)
    return group
  }

  /** The last group was never written, whatever was said. Only if `isLying` was set before. */
  loseLastCommit(): void {
    if (this.#before !== null) this.#durable = this.#before
    this.#before = null
  }

  get groupsOnTheWay(): number {
    return this.#flushing.length
  }

  /** The instance is over: what is not durable never will be. */
  loseTheRest(): void {
    this.#open = []
    this.#flushing = []
    this.#seen = this.#durable.copy()
  }

  wipe(): void {
    this.#durable = new Tables()
    this.loseTheRest()
  }

  #write(write: Write): void {
    this.#seen.apply(write)
    this.#open.push(write)
  }

  #rollBackTo(length: number): void {
    // An instance that ended in its transaction has nothing left to roll back to.
    this.#open.length = Math.min(length, this.#open.length)
    this.#seen = this.#durable.copy()
    for (const write of [...this.#flushing.flat(), ...this.#open]) this.#seen.apply(write)
  }

  /** The rows as one instance sees them. */
  open(statement: Statement, now: () => number): Rows {
    return {
      records: this.#records(statement),
      events: this.#events(statement),
      touch: () => {
        statement('read', 'touch')
        return now()
      },
      transaction: run => {
        statement('read', 'begin')
        const before = this.#open.length
        try {
          run()
          statement('read', 'commit')
        } catch (error) {
          this.#rollBackTo(before)
          throw error
        }
      },
    }
  }

  #records(statement: Statement): RecordRows {
    return {
      get: key => {
        statement('read', 'get')
        return this.#seen.records.get(key)
      },
      put: records => {
        for (const [key, value] of records) {
          statement('write', 'put')
          this.#write(['put', key, value])
        }
      },
      delete: keys => {
        for (const key of keys) {
          statement('write', 'delete')
          this.#write(['delete', key])
        }
      },
      range: prefix => {
        statement('read', 'range')
        return [...this.#seen.records].filter(([key]) => key.startsWith(prefix)).sort(byKeyBytes)
      },
    }
  }

  #events(statement: Statement): EventRows {
    return {
      append: (sequence, body) => {
        statement('write', 'append')
        const id = (this.#seen.events.at(-1)?.id ?? 0) + 1
        this.#write(['append', { id, sequence, body }])
      },
      page: (afterId, afterSequence, limit) => {
        statement('read', 'page')
        return this.#seen.events
          .filter(({ id, sequence }) => id > afterId && sequence > afterSequence)
          .slice(0, limit)
      },
      newestFirst: () => {
        statement('read', 'newest')
        return this.#seen.events
          .map(({ id, sequence, body }) => ({ id, sequence, bytes: Buffer.byteLength(body) }))
          .reverse()
      },
      size: () => {
        statement('read', 'size')
        const { events } = this.#seen
        return {
          rows: events.length,
          bytes: events.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0),
        }
      },
      forgetThrough: throughId => {
        statement('write', 'forget')
        const forgotten = this.#seen.events.filter(({ id }) => id <= throughId)
        this.#write(['forget', throughId])
        return forgotten.reduce((most, { sequence }) => Math.max(most, sequence), 0)
      },
    }
  }
}

/** As SQLite compares: by the bytes, which for ASCII keys is the order of the code units. */
function byKeyBytes([left]: readonly [string, string], [right]: readonly [string, string]): number {
  return left < right ? -1 : left > right ? 1 : 0
}
