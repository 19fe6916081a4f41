/**
 * The serial execution on a single copy that 1CS compares with. It deliberately does not use the replicas'
 * own code: a mistake there would otherwise be repeated here and never be seen.
 */
import type { Json } from '../json.ts'
import { applyImport, importOf } from '../resource/import.ts'
import { OPERATION_CONFLICT, OPERATION_FAILED } from '../resource/replica.ts'
import type { Applied, Cells, Resource } from '../resource/resource.ts'
import { equalJson } from './compare.ts'
import type { SerialOrder } from './serial-order.ts'

export interface Replay {
  /** The result of each entry of C, by position. */
  readonly results: readonly Json[]
  /** The state hash after that many entries of C, where one was asked for. */
  readonly hashes: ReadonlyMap<number, string>
  /** Entries that were answered from the remembered results. */
  readonly repeated: number
}

interface Remembered {
  readonly operation: Json
  readonly result: Json
}

/**
 * Applies C from the initial state. An `opId` that comes again is answered with the result of its first time
 * as long as that is among the last `resultsKept`; with another operation under the same `opId` the answer is
 * a conflict. Hashing looks at the whole state, so it is done only after as many entries as `hashAfter`
 * names.
 */
export function replay(
  order: SerialOrder,
  resource: Resource,
  resultsKept: number,
  hashAfter: ReadonlySet<number>,
): Replay {
  const cells: Cells = { ...resource.initial() }
  const results: Json[] = []
  const hashes = new Map<number, string>()
  const memory = new Memory(resultsKept)
  let repeated = 0
  if (hashAfter.has(0)) hashes.set(0, resource.hash(cells))
  for (const { opId, operation, sequence } of order.entries) {
    const earlier = memory.get(opId)
    if (earlier !== undefined) {
      results.push(equalJson(earlier.operation, operation) ? earlier.result : OPERATION_CONFLICT)
      repeated++
    } else {
      const special = importOf(operation)
      const { result, changes } =
        special === null ? apply(resource, cells, operation, sequence) : applyImport(cells, special)
      for (const { cell, value } of changes) {
        if (value === null) delete cells[cell]
        else cells[cell] = value
      }
      results.push(result)
      memory.remember(opId, { operation, result })
    }
    if (hashAfter.has(results.length)) hashes.set(results.length, resource.hash(cells))
  }
  return { results, hashes, repeated }
}

/** An operation that throws changes nothing, and has the same result on every replica. */
function apply(resource: Resource, cells: Readonly<Cells>, operation: Json, sequence: number): Applied {
  try {
    return resource.apply(cells, operation, sequence)
  } catch {
    return { result: OPERATION_FAILED, changes: [] }
  }
}

/** The last results, by `opId`. */
class Memory {
  readonly #kept: number
  readonly #results = new Map<string, Remembered>()
  /**
   * Every `opId` that was ever remembered, oldest first. Asking the map for its oldest key would take longer
   * the more it forgot.
   */
  readonly #opIds: string[] = []
  #forgotten = 0

  constructor(kept: number) {
    this.#kept = kept
  }

  get(opId: string): Remembered | undefined {
    return this.#results.get(opId)
  }

  /** The `opId` is new: what is remembered is never applied again. */
  remember(opId: string, result: Remembered): void {
    this.#results.set(opId, result)
    this.#opIds.push(opId)
    if (this.#results.size <= this.#kept) return
    this.#results.delete(this.#opIds[this.#forgotten]!)
    this.#forgotten++
  }
}
