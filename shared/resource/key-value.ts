/**
 * The built-in resource: a map of keys to JSON values with revisions. An operation is a batch of ops that
 * takes effect as a whole or not at all; each op sees what those before it in the batch did. A key's revision
 * is the sequence number of the operation that last changed it, and 0 while the key does not exist.
 *
 * A batch fails with its first op that fails. Then everything that its result says is true of the state as it
 * stays: the op that failed has an `error`, every other op has `{applied: false}`, and no result mentions a
 * value that never came to be.
 *
 * Every replica must give the same answer to the same operation, forever. So nothing here throws, whatever
 * the operation is made of. What could not be saved on any replica (a value or a result too large for one
 * row) is refused here, because only here the outcome is known: a list grows by small appends, and a small
 * batch can read much.
 */
import type { Json } from '../json.ts'
import { digest, isList, weight } from './canonical.ts'
import type { Applied, CellChange, Cells, Resource } from './resource.ts'

export type PutOp = { readonly put: string; readonly value: Json; readonly ifRevision?: number }
export type DeleteOp = { readonly delete: string; readonly ifRevision?: number }
export type GetOp = { readonly get: string }
export type IncrementOp = { readonly increment: string; readonly by?: number }
export type AppendOp = { readonly append: string; readonly value: Json }
/** `ifRevision: 0` means that the key must not exist. */
export type KeyValueOp = PutOp | DeleteOp | GetOp | IncrementOp | AppendOp
export type KeyValueOperation = readonly KeyValueOp[]

export type PutResult = { readonly revision: number }
export type DeleteResult = { readonly deleted: boolean }
/** `null` and 0 when the key does not exist. */
export type GetResult = { readonly value: Json; readonly revision: number }
export type IncrementResult = { readonly value: number; readonly revision: number }
export type AppendResult = { readonly length: number; readonly revision: number }
export type OpResult = PutResult | DeleteResult | GetResult | IncrementResult | AppendResult

export type OpError =
  /** `revision` is the one that the key has, and keeps. */
  | { readonly error: 'revision_mismatch'; readonly revision: number }
  | { readonly error: 'not_a_number' }
  | { readonly error: 'not_a_list' }
  /** The sum is beyond the safe integers, where adding 1 no longer counts. */
  | { readonly error: 'out_of_range' }
  /**
   * The key, the value, the list that an append makes, or everything that the batch has read, is over its
   * limit.
   */
  | { readonly error: 'too_large' }
  | { readonly error: 'malformed'; readonly detail: string }
/** For an op that did not fail itself, but is in the same batch as one that did. */
export type NotApplied = { readonly applied: false }

/**
 * One result for each op, in order. Only an operation that is not a batch, or too long a batch, has a single
 * one.
 */
export type KeyValueResult =
  | { readonly applied: true; readonly results: readonly OpResult[] }
  | { readonly applied: false; readonly results: readonly (OpError | NotApplied)[] }

/** With at most six bytes for a unit of weight, a value, a result and a key each fit into a row of 2 MB. */
export const KEY_VALUE_LIMITS = {
  opsPerBatch: 1_000,
  /** In UTF-16 code units. */
  keyLength: 512,
  valueWeight: 128 * 1024,
  /** The limit for all values together that the `get` ops of one batch return. */
  readWeight: 256 * 1024,
} as const

type Cell = { readonly value: Json; readonly revision: number }
type Fields = { readonly [field: string]: Json }

/** A batch under way: the state before it, and what it has written so far (`null`: deleted). */
interface Batch {
  readonly cells: Readonly<Cells>
  readonly sequence: number
  readonly written: Map<string, Cell | null>
  readWeight: number
}

const NOT_APPLIED: NotApplied = Object.freeze({ applied: false })
const TOO_LARGE: OpError = Object.freeze({ error: 'too_large' })
const ABSENT: Cell = Object.freeze({ value: null, revision: 0 })
const LONE_SURROGATE = /\p{Surrogate}/u

/**
 * Cells are named `=` and the key, so that no key, not even `__proto__`, is a name that objects have by
 * themselves.
 */
export function cellOfKey(key: string): string {
  return `=${key}`
}

export function keyOfCell(cell: string): string {
  return cell.slice(1)
}

/** What `get` answers for this key. */
export function readKey(cells: Readonly<Cells>, key: string): GetResult {
  return (cells[cellOfKey(key)] as Cell | undefined) ?? ABSENT
}

export const keyValue: Resource = {
  name: 'key-value',
  initial: () => ({}),
  apply,
  snapshot: cells => ({ ...cells }),
  restore,
  hash: cells => digest(cells),
}

function apply(cells: Readonly<Cells>, operation: Json, sequence: number): Applied {
  if (!(sequence >= 1)) throw new Error(`sequence ${sequence}: revision 0 means that a key does not exist`)
  if (!isList(operation)) return { result: failed([malformed('not a list of ops')]), changes: [] }
  if (operation.length > KEY_VALUE_LIMITS.opsPerBatch) return { result: failed([TOO_LARGE]), changes: [] }

  const batch: Batch = { cells, sequence, written: new Map(), readWeight: 0 }
  const results: OpResult[] = []
  for (let index = 0; index < operation.length; index++) {
    const result = run(batch, operation[index]!)
    if ('error' in result) {
      const others: (OpError | NotApplied)[] = operation.map(() => NOT_APPLIED)
      return { result: failed(others.with(index, result)), changes: [] }
    }
    results.push(result)
  }
  return { result: { applied: true, results } satisfies KeyValueResult, changes: changesOf(batch) }
}

function failed(results: readonly (OpError | NotApplied)[]): KeyValueResult {
  return { applied: false, results }
}

/** A key that the batch both made and deleted never existed for anybody else. */
function changesOf(batch: Batch): CellChange[] {
  const changes: CellChange[] = []
  for (const [cell, value] of batch.written) {
    if (value !== null || (batch.cells[cell] ?? null) !== null) changes.push({ cell, value })
  }
  return changes
}

// ---------------------------------------------------------------- ops

function run(batch: Batch, op: Json): OpResult | OpError {
  if (typeof op !== 'object' || op === null || isList(op)) return malformed('an op is an object')
  const fields = op as Fields
  if (fields.put !== undefined)
    return refusal(fields, fields.put, 'value', 'ifRevision') ?? put(batch, op as PutOp)
  if (fields.get !== undefined) return refusal(fields, fields.get) ?? get(batch, op as GetOp)
  if (fields.append !== undefined) {
    return refusal(fields, fields.append, 'value') ?? append(batch, op as AppendOp)
  }
  if (fields.increment !== undefined) {
    return refusal(fields, fields.increment, undefined, 'by') ?? increment(batch, op as IncrementOp)
  }
  if (fields.delete !== undefined) {
    return refusal(fields, fields.delete, undefined, 'ifRevision') ?? remove(batch, op as DeleteOp)
  }
  return malformed('an op is put, delete, get, increment or append')
}

function put(batch: Batch, { put: key, value, ifRevision }: PutOp): PutResult | OpError {
  if (weight(value, KEY_VALUE_LIMITS.valueWeight) > KEY_VALUE_LIMITS.valueWeight) return TOO_LARGE
  return mismatch(batch, key, ifRevision) ?? { revision: write(batch, key, value) }
}

function remove(batch: Batch, { delete: key, ifRevision }: DeleteOp): DeleteResult | OpError {
  const failure = mismatch(batch, key, ifRevision)
  if (failure !== undefined) return failure
  const deleted = read(batch, key) !== ABSENT
  batch.written.set(cellOfKey(key), null)
  return { deleted }
}

function get(batch: Batch, { get: key }: GetOp): GetResult | OpError {
  const { value, revision } = read(batch, key)
  batch.readWeight += weight(value, KEY_VALUE_LIMITS.valueWeight)
  return batch.readWeight > KEY_VALUE_LIMITS.readWeight ? TOO_LARGE : { value, revision }
}

/** A key that does not exist counts from 0. */
function increment(batch: Batch, { increment: key, by = 1 }: IncrementOp): IncrementResult | OpError {
  const cell = read(batch, key)
  const before = cell === ABSENT ? 0 : cell.value
  if (typeof before !== 'number') return { error: 'not_a_number' }
  // Adding 0 turns -0, which JSON does not keep, into 0.
  const value = before + by + 0
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return { error: 'out_of_range' }
  return { value, revision: write(batch, key, value) }
}

function append(batch: Batch, { append: key, value }: AppendOp): AppendResult | OpError {
  const cell = read(batch, key)
  const before = cell === ABSENT ? [] : cell.value
  if (!isList(before)) return { error: 'not_a_list' }
  const list = [...before, value]
  if (weight(list, KEY_VALUE_LIMITS.valueWeight) > KEY_VALUE_LIMITS.valueWeight) return TOO_LARGE
  return { length: list.length, revision: write(batch, key, list) }
}

function read(batch: Batch, key: string): Cell {
  const cell = cellOfKey(key)
  const written = batch.written.get(cell)
  if (written !== undefined) return written ?? ABSENT
  return (batch.cells[cell] as Cell | undefined) ?? ABSENT
}

/**
 * Writing is a change even if the value is the same as before: the key has a new revision, which is returned.
 */
function write(batch: Batch, key: string, value: Json): number {
  batch.written.set(cellOfKey(key), { value, revision: batch.sequence })
  return batch.sequence
}

function mismatch(batch: Batch, key: string, ifRevision: number | undefined): OpError | undefined {
  if (ifRevision === undefined || ifRevision === read(batch, key).revision) return undefined
  return { error: 'revision_mismatch', revision: readKey(batch.cells, key).revision }
}

// ---------------------------------------------------------------- shape

/**
 * Returns why the op cannot be run as it is, if so. Besides its key it needs the field `required`, may have
 * the number `optional`, and nothing else: a misspelt condition must not be taken for none.
 */
function refusal(
  op: Fields,
  key: Json,
  required?: 'value',
  optional?: 'ifRevision' | 'by',
): OpError | undefined {
  if (typeof key !== 'string') return malformed('a key is a string')
  if (key.length > KEY_VALUE_LIMITS.keyLength) return TOO_LARGE
  // Storage keeps text as UTF-8, where all lone surrogates become the same character: two keys would become
  // one.
  if (LONE_SURROGATE.test(key)) return malformed('a key is well-formed Unicode')
  let known = 1
  if (required !== undefined) {
    if (op[required] === undefined) return malformed(`${required} is missing`)
    known++
  }
  const number = optional === undefined ? undefined : op[optional]
  if (number !== undefined) {
    known++
    if (optional === 'by' && !Number.isFinite(number)) return malformed('by is a number')
    if (optional === 'ifRevision' && !isRevision(number)) return malformed('ifRevision is a revision or 0')
  }
  let present = 0
  for (const field in op) if (op[field] !== undefined) present++
  return present === known ? undefined : malformed('unknown field')
}

function isRevision(value: Json): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function malformed(detail: string): OpError {
  return { error: 'malformed', detail }
}

// ---------------------------------------------------------------- snapshots

/**
 * A snapshot comes from a replica like this one. Anything else is a defect, and taking it over would spread
 * it.
 */
function restore(snapshot: Json): Cells {
  if (typeof snapshot !== 'object' || snapshot === null || isList(snapshot)) throw new Error('not a snapshot')
  const cells: Cells = {}
  for (const [name, cell] of Object.entries(snapshot as Fields)) {
    const revision = (cell as Partial<Cell> | null)?.revision
    const value = (cell as Partial<Cell> | null)?.value
    if (!name.startsWith('=') || value === undefined || revision === undefined || !isRevision(revision)) {
      throw new Error(`not a cell of a snapshot: ${name}`)
    }
    cells[name] = cell
  }
  return cells
}
