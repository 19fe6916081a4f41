/**
 * The durable side of one participant. What a turn writes is staged in memory and committed at its end, in
 * one transaction: a record that several steps of the turn have changed is written once, and a turn that
 * changes nothing writes nothing.
 *
 * The protocol's records and the participant's own are stored together; the keys of its own begin with a dot.
 */
import type { Json } from '../../../shared/json.ts'
import type { DurableRecord } from '../../../shared/protocols/protocol.ts'
import type { Rows } from '../runtime.ts'
import { EventLog } from './event-log.ts'

const OWN = '.'

export class Storage {
  readonly events: EventLog
  private readonly rows: Rows
  /** `null`: deleted. */
  private readonly staged = new Map<string, Json | null>()

  constructor(rows: Rows, eventsKept: number) {
    this.rows = rows
    this.events = new EventLog(rows, eventsKept)
  }

  get(key: string): Json | undefined {
    const staged = this.staged.get(key)
    if (staged !== undefined) return staged ?? undefined
    const text = this.rows.records.get(key)
    return text === undefined ? undefined : (JSON.parse(text) as Json)
  }

  put(key: string, value: Json): void {
    this.staged.set(key, value)
  }

  delete(key: string): void {
    this.staged.set(key, null)
  }

  save(records: readonly DurableRecord[]): void {
    for (const { key, value } of records) this.staged.set(key, value)
  }

  /** The committed keys that begin with this. */
  keysFrom(prefix: string): string[] {
    return Array.from(this.rows.records.range(prefix), ([key]) => key)
  }

  /** The records of the protocol, with what this turn has changed. */
  *protocolRecords(): Iterable<readonly [string, Json]> {
    for (const [key, text] of this.rows.records.range('')) {
      if (!key.startsWith(OWN) && !this.staged.has(key)) yield [key, JSON.parse(text) as Json]
    }
    for (const [key, value] of this.staged) if (!key.startsWith(OWN) && value !== null) yield [key, value]
  }

  /** Deletes all records of the protocol, including those that this turn has written. */
  clearProtocol(): void {
    for (const key of [...this.keysFrom(''), ...this.staged.keys()])
      if (!key.startsWith(OWN)) this.staged.set(key, null)
  }

  /** All or nothing. If it throws, what is in memory must not be used any more. */
  commit(): void {
    if (this.staged.size === 0 && !this.events.isStaged) return
    this.rows.transaction(() => {
      const written: [string, string][] = []
      const deleted: string[] = []
      for (const [key, value] of this.staged) {
        if (value === null) deleted.push(key)
        else written.push([key, JSON.stringify(value)])
      }
      if (written.length > 0) this.rows.records.put(written)
      if (deleted.length > 0) this.rows.records.delete(deleted)
      this.events.write()
    })
    this.staged.clear()
  }
}
