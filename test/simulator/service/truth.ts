/**
 * What really happened to a lock: the one order of its operations, what each of them answers, and the state
 * at each place.
 */
import type { HistoryEvent } from '../../../shared/history/events.ts'
import type { SerialEntry, SerialOrder } from '../../../shared/history/serial-order.ts'
import type { Json } from '../../../shared/json.ts'
import { cellOfKey, keyOfCell, keyValue, readKey } from '../../../shared/resource/key-value.ts'
import type { Cells } from '../../../shared/resource/resource.ts'

export class Truth {
  readonly order: SerialOrder
  readonly #results: readonly Json[]
  /** The ids in the lock's log, as a client read them at the end; `null` if nobody could. */
  readonly final: readonly string[] | null
  readonly #byOpId = new Map<string, SerialEntry[]>()
  readonly #appliedAt = new Map<string, number>()
  readonly #issuedAt = new Map<string, number>()

  constructor(
    events: readonly HistoryEvent[],
    order: SerialOrder,
    results: readonly Json[],
    final: readonly string[] | null,
  ) {
    this.order = order
    this.#results = results
    this.final = final
    for (const entry of order.entries) {
      const known = this.#byOpId.get(entry.opId)
      if (known === undefined) this.#byOpId.set(entry.opId, [entry])
      else known.push(entry)
    }
    const times = { invoke: this.#appliedAt, issue: this.#issuedAt }
    for (const event of events) {
      if (event.type !== 'invoke' && event.type !== 'issue') continue
      const first = times[event.type].get(event.opId) ?? event.at
      times[event.type].set(event.opId, Math.min(event.at, first))
    }
  }

  /** When it was first issued: that is on disk before its client is told anything. */
  issuedAt(opId: string): number {
    return this.#issuedAt.get(opId) ?? Number.POSITIVE_INFINITY
  }

  /** When the first replica had applied this operation; `null` if none is known to have. */
  appliedAt(opId: string): number | null {
    return this.#appliedAt.get(opId) ?? null
  }

  /** Where this operation stands in the order; more than once if it was issued again. */
  entriesOf(opId: string): readonly SerialEntry[] {
    return this.#byOpId.get(opId) ?? []
  }

  resultOf(entry: SerialEntry): Json {
    return this.#results[entry.position]!
  }

  /** Whether this entry is the first of its operation: only that one changes anything. */
  isFirst(entry: SerialEntry): boolean {
    return this.entriesOf(entry.opId)[0] === entry
  }

  /** What a key holds after everything up to this sequence. */
  valueAt(key: string, sequence: number): { readonly value: Json; readonly revision: number } {
    const cells = this.#cellsAt(sequence)
    return cells[cellOfKey(key)] === undefined ? { value: null, revision: 0 } : readKey(cells, key)
  }

  keysAt(sequence: number): string[] {
    return Object.keys(this.#cellsAt(sequence)).map(keyOfCell)
  }

  #cellsAt(sequence: number): Cells {
    const cells: Cells = { ...keyValue.initial() }
    for (const entry of this.order.entries) {
      if (entry.sequence > sequence) break
      if (!this.isFirst(entry)) continue
      const { changes } = keyValue.apply(cells, entry.operation, entry.sequence)
      for (const { cell, value } of changes) {
        if (value === null) delete cells[cell]
        else cells[cell] = value
      }
    }
    return cells
  }
}
