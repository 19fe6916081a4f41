/**
 * A resource of one's own, written as a reducer: a function from the state, which is a map of keys, and one
 * op to its result. Everything else is like the built-in resource: a batch takes effect as a whole or not at
 * all, keys have revisions, and `GET …/state` and `watch` show them.
 *
 * Every participant runs the reducer on its own copy and must come to the same result, forever: no clock, no
 * randomness, no memory besides the state. Existing locks live on under a changed reducer, so it may learn
 * new ops but must not change what old ones do.
 *
 * @example
 * const counter = defineResource<{ readonly add: number }>({
 *   name: 'counter',
 *   apply(state, { add }) {
 *     const total = ((state.get('total') ?? 0) as number) + add
 *     if (total > 100) throw new OpRefused({ error: 'full' })
 *     state.set('total', total)
 *     return { total }
 *   },
 * })
 */
import type { Json } from '../json.ts'
import { isList, weight } from './canonical.ts'
import { cellOfKey, KEY_VALUE_LIMITS, keyValue, type NotApplied } from './key-value.ts'
import { OPERATION_FAILED } from './replica.ts'
import type { Applied, CellChange, Cells, Resource } from './resource.ts'

export type { Json } from '../json.ts'
export type { NotApplied } from './key-value.ts'
export type { Resource } from './resource.ts'

export interface Reducer<Op> {
  /** Its name in the configuration of a lock and in recorded histories. */
  readonly name: string
  /**
   * If it throws, nothing of the batch is applied. Only an `OpRefused` says why; the text of any other
   * exception may differ between participants.
   */
  apply(state: ReducerState, op: Op): Json
}

/**
 * A reducer is given copies, and what it sets is copied: nothing but `set` and `delete` changes the state.
 */
export interface ReducerState {
  get(key: string): Json | undefined
  set(key: string, value: Json): void
  delete(key: string): void
}

/** Becomes the op's result; the others of its batch have `{applied: false}`. */
export class OpRefused extends Error {
  readonly refusal: { readonly error: string; readonly [member: string]: Json }

  constructor(refusal: { readonly error: string; readonly [member: string]: Json }) {
    super(refusal.error)
    this.refusal = refusal
  }
}

/** The result of an op whose reducer threw anything else. */
export type OpFailed = { readonly error: 'operation_failed' }

export function defineResource<Op = Json>(reducer: Reducer<Op>): Resource {
  return {
    ...keyValue,
    name: reducer.name,
    apply: (cells, operation, sequence) => applyBatch(reducer, cells, operation, sequence),
  }
}

function applyBatch<Op>(
  reducer: Reducer<Op>,
  cells: Readonly<Cells>,
  operation: Json,
  sequence: number,
): Applied {
  const ops = isList(operation) ? operation : [operation]
  const state = new Batch(cells, sequence)
  const results: Json[] = []
  let resultsWeight = 0
  for (const [index, op] of ops.entries()) {
    try {
      const result = reducer.apply(state, copyOf(op) as Op)
      // The results of a batch are saved in one row.
      resultsWeight += weight(result, KEY_VALUE_LIMITS.readWeight)
      if (resultsWeight > KEY_VALUE_LIMITS.readWeight) throw tooLarge()
      results.push(copyOf(result))
    } catch (error) {
      return {
        result: { applied: false, results: ops.map(() => NOT_APPLIED).with(index, reason(error)) },
        changes: [],
      }
    }
  }
  return { result: { applied: true, results }, changes: state.changes() }
}

/** A batch under way: the state before it, and what it has written so far (`null`: deleted). */
class Batch implements ReducerState {
  readonly #cells: Readonly<Cells>
  readonly #sequence: number
  readonly #written = new Map<string, Json>()

  constructor(cells: Readonly<Cells>, sequence: number) {
    this.#cells = cells
    this.#sequence = sequence
  }

  get(key: string): Json | undefined {
    const cell = cellOfKey(key)
    const known = this.#written.has(cell) ? this.#written.get(cell) : this.#cells[cell]
    return (known ?? null) === null ? undefined : copyOf((known as Cell).value)
  }

  set(key: string, value: Json): void {
    if (!isKey(key)) throw new OpRefused({ error: 'malformed', detail: 'not a key' })
    if (weight(value, KEY_VALUE_LIMITS.valueWeight) > KEY_VALUE_LIMITS.valueWeight) throw tooLarge()
    this.#written.set(cellOfKey(key), { value: copyOf(value), revision: this.#sequence })
  }

  delete(key: string): void {
    this.#written.set(cellOfKey(key), null)
  }

  /** A key that the batch both made and deleted never existed for anybody else. */
  changes(): CellChange[] {
    return [...this.#written]
      .filter(([cell, value]) => value !== null || this.#cells[cell] !== undefined)
      .map(([cell, value]) => ({ cell, value }))
  }
}

type Cell = { readonly value: Json; readonly revision: number }

const NOT_APPLIED: Json = Object.freeze({ applied: false } satisfies NotApplied)

function reason(error: unknown): Json {
  if (!(error instanceof OpRefused)) return OPERATION_FAILED
  const { refusal } = error
  const isTooHeavy = weight(refusal, KEY_VALUE_LIMITS.valueWeight) > KEY_VALUE_LIMITS.valueWeight
  return copyOf(isTooHeavy ? tooLarge().refusal : refusal)
}

/**
 * The value as storage would give it back: what is in memory must not differ from it. Throws for anything
 * that is not JSON.
 */
function copyOf(value: Json): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}

/** Like a key of the built-in resource: short, and text that UTF-8 keeps as it is. */
function isKey(key: string): boolean {
  return key.length <= KEY_VALUE_LIMITS.keyLength && !/\p{Surrogate}/u.test(key)
}

function tooLarge(): OpRefused {
  return new OpRefused({ error: 'too_large' })
}
