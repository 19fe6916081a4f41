/**
 * A participant's copy of the resource, with the results by operation id that make every operation happen
 * exactly once (trap D4): an `opId` that is invoked again, under any grant and in any epoch, is answered with
 * the result of the first time. The table is a function of the log alone, so every replica answers alike.
 */
import type { Json } from '../json.ts'
import { digest } from './canonical.ts'
import { applyImport, type Imported, type ImportedResult, type ImportOperation, importOf } from './import.ts'
import type { CellChange, Cells, Resource } from './resource.ts'

export interface StoredResult {
  readonly opId: string
  readonly sequence: number
  /** The digest of the operation, to notice the same `opId` with another operation. */
  readonly digest: string
  readonly result: Json
  /** The fence of the grant under which it was applied, so that it can be answered again word for word. */
  readonly fence?: number
}

/** Plain JSON. Only `invoke` and `restoreReplica` mutate it. */
export interface Replica {
  cells: Cells
  /** By `resultKey(opId)`. */
  results: { [key: string]: StoredResult }
  /** The `opId`s in `results`, oldest first. */
  order: string[]
  /** The sequence of the newest result that was dropped from the table; 0 if none was. */
  droppedThrough: number
}

export interface Invocation {
  readonly sequence: number
  readonly opId: string
  readonly operation: Json
  readonly fence?: number
}

export interface Response {
  /** The sequence under which the operation was applied: an earlier one if it was invoked before. */
  readonly sequence: number
  readonly result: Json
  readonly changes: readonly CellChange[]
  /** The result to store and the `opId` to drop, if the operation was new. */
  readonly stored: StoredResult | null
  readonly dropped: string | null
  /** Results of the lock that this one was made from. */
  readonly imported?: readonly StoredResult[]
}

export const OPERATION_FAILED: Json = { error: 'operation_failed' }
/**
 * Never stored. An outcome that is this very object, and not one that looks like it, says that the `opId` was
 * used before.
 */
export const OPERATION_CONFLICT: Json = { error: 'conflict' }

/** The prefix keeps an `opId` from colliding with a property that every object has. */
export const resultKey = (opId: string): string => `=${opId}`

export function emptyReplica(resource: Resource): Replica {
  return { cells: resource.initial(), results: {}, order: [], droppedThrough: 0 }
}

export function resultOf(replica: Replica, opId: string): StoredResult | undefined {
  return replica.results[resultKey(opId)]
}

/** The paper's `invoke` and `response` in one: applies the operation unless it was applied before. */
export function invoke(
  resource: Resource,
  replica: Replica,
  resultsKept: number,
  invocation: Invocation,
): Response {
  const { sequence, opId, operation, fence } = invocation
  const earlier = resultOf(replica, opId)
  const operationDigest = digest(operation)
  if (earlier !== undefined) {
    if (earlier.digest === operationDigest) return answered(earlier.sequence, earlier.result)
    return answered(sequence, OPERATION_CONFLICT)
  }
  const special = importOf(operation)
  if (special?.restore === 'part') return putAside(replica, sequence, special)
  const imported = special === null ? null : applyImport(replica.cells, special)
  const { result, changes } = imported ?? applySafely(resource, replica.cells, operation, sequence)
  for (const change of changes) changeCell(replica.cells, change)
  const more = imported === null ? {} : { imported: takeResults(replica, imported) }
  const stored = { opId, sequence, digest: operationDigest, result, ...(fence !== undefined && { fence }) }
  return { sequence, result, changes, stored, dropped: remember(replica, stored, resultsKept), ...more }
}

/** It may be said again, and says the same: it need not be remembered, and takes no place in the table. */
function putAside(replica: Replica, sequence: number, operation: ImportOperation): Response {
  const { result, changes } = applyImport(replica.cells, operation)
  for (const change of changes) changeCell(replica.cells, change)
  return { sequence, result, changes, stored: null, dropped: null }
}

/** They are older than all that this lock has applied itself. */
function takeResults(replica: Replica, { results, droppedThrough }: Imported): readonly ImportedResult[] {
  // Each has one place: one that has two would be forgotten twice, which cannot be done.
  const isNew = ({ opId }: ImportedResult) => resultOf(replica, opId) === undefined
  const taken = results.filter(isNew)
  for (const stored of taken) replica.results[resultKey(stored.opId)] = stored
  replica.order.unshift(...taken.map(({ opId }) => opId))
  if (droppedThrough !== null) replica.droppedThrough = droppedThrough
  return taken
}

function answered(sequence: number, result: Json): Response {
  return { sequence, result, changes: [], stored: null, dropped: null }
}

/**
 * An operation that throws fails in the same way everywhere. The text of an exception may differ, so it is
 * not kept.
 */
function applySafely(resource: Resource, cells: Cells, operation: Json, sequence: number) {
  try {
    return resource.apply(cells, operation, sequence)
  } catch {
    return { result: OPERATION_FAILED, changes: [] }
  }
}

export function changeCell(cells: Cells, change: CellChange): void {
  if (change.value === null) delete cells[change.cell]
  else cells[change.cell] = change.value
}

function remember(replica: Replica, stored: StoredResult, resultsKept: number): string | null {
  replica.results[resultKey(stored.opId)] = stored
  replica.order.push(stored.opId)
  if (replica.order.length <= resultsKept) return null
  const dropped = replica.order.shift()!
  replica.droppedThrough = replica.results[resultKey(dropped)]!.sequence
  delete replica.results[resultKey(dropped)]
  return dropped
}

// ---------------------------------------------------------------- snapshots

export interface ReplicaSnapshot {
  readonly cells: Json
  readonly results: readonly StoredResult[]
  readonly droppedThrough: number
}

export function snapshotReplica(resource: Resource, replica: Replica): ReplicaSnapshot {
  return {
    cells: resource.snapshot(replica.cells),
    results: replica.order.map(opId => resultOf(replica, opId)!),
    droppedThrough: replica.droppedThrough,
  }
}

export function restoreReplica(resource: Resource, snapshot: ReplicaSnapshot): Replica {
  const replica = emptyReplica(resource)
  replica.cells = resource.restore(snapshot.cells)
  for (const stored of snapshot.results) {
    replica.results[resultKey(stored.opId)] = stored
    replica.order.push(stored.opId)
  }
  replica.droppedThrough = snapshot.droppedThrough
  return replica
}
