/**
 * What a replica does with the key-value resource, and nothing more: one operation after the other, from
 * sequence 1.
 */
import { expect } from 'vitest'
import type { Json } from '../../shared/json.ts'
import {
  type GetResult,
  type KeyValueOp,
  type KeyValueResult,
  keyValue,
  readKey,
} from '../../shared/resource/key-value.ts'
import type { Applied, Cells } from '../../shared/resource/resource.ts'

export class Store {
  cells: Cells = keyValue.initial()
  sequence = 0

  run(operation: Json): KeyValueResult {
    this.sequence++
    const { result, changes } = keyValue.apply(this.cells, operation, this.sequence)
    change(this.cells, changes)
    return result as KeyValueResult
  }

  read(key: string): GetResult {
    return readKey(this.cells, key)
  }
}

export function change(cells: Cells, changes: Applied['changes']): void {
  for (const { cell, value } of changes) {
    if (value === null) delete cells[cell]
    else cells[cell] = value
  }
}

/** A store in which these operations have been applied. */
export function storeWith(...operations: KeyValueOp[][]): Store {
  const store = new Store()
  for (const operation of operations) expect(store.run(operation)).toMatchObject({ applied: true })
  return store
}

export const NOT_APPLIED = { applied: false }

export function applied(...results: Json[]): Json {
  return { applied: true, results }
}

export function refused(...results: Json[]): Json {
  return { applied: false, results }
}
