/**
 * The replica of the guarded state as records: each cell and each result is one of its own, so that an
 * operation writes only what it changes. An operation's cells and its result are written in one transaction
 * with the number of what is applied (trap D4).
 */
import type { Json } from '../../json.ts'
import {
  emptyReplica,
  type Replica,
  type ReplicaSnapshot,
  type Response,
  restoreReplica,
  resultKey,
  type StoredResult,
} from '../../resource/replica.ts'
import type { Cells, Resource } from '../../resource/resource.ts'
import type { Context } from '../protocol.ts'
import type { Restorers } from '../records.ts'
import { type Saving, save } from '../step.ts'

const CELL = 'cell/'
const RESULT = 'result/'

// ---------------------------------------------------------------- writing

/** What the state begins with. */
export function saveCells(step: Saving, cells: Cells): void {
  for (const [cell, value] of Object.entries(cells)) save(step, `${CELL}${cell}`, { value })
}

/** An operation was applied. `write` is `saveLater` where this follows from a log that a majority holds. */
export function saveResponse(step: Saving, opId: string, response: Response, write = save): void {
  const { changes, stored, dropped, imported = [] } = response
  for (const { cell, value } of changes) write(step, `${CELL}${cell}`, value === null ? null : { value })
  if (stored !== null) write(step, `${RESULT}${opId}`, stored)
  for (const one of imported) write(step, `${RESULT}${one.opId}`, one)
  if (dropped !== null) write(step, `${RESULT}${dropped}`, null)
}

interface ReplacingStep extends Saving {
  readonly context: Context
  readonly state: { readonly durable: { replica: Replica } }
}

/** A snapshot takes the place of everything that was here. */
export function replaceReplica(step: ReplacingStep, snapshot: ReplicaSnapshot): void {
  const { durable } = step.state
  const before = durable.replica
  durable.replica = restoreReplica(step.context.resource, snapshot)
  const { cells, results } = durable.replica
  for (const cell of Object.keys(before.cells)) if (!(cell in cells)) save(step, `${CELL}${cell}`, null)
  saveCells(step, cells)
  for (const opId of before.order) save(step, `${RESULT}${opId}`, null)
  for (const stored of Object.values(results)) save(step, `${RESULT}${stored.opId}`, stored)
}

/** Nothing of it is needed here any more. Whatever was done up to `droppedThrough` is forgotten. */
export function dropReplica(step: ReplacingStep, droppedThrough: number): void {
  const { durable } = step.state
  const { replica } = durable
  for (const cell of Object.keys(replica.cells)) save(step, `${CELL}${cell}`, null)
  for (const opId of replica.order) save(step, `${RESULT}${opId}`, null)
  durable.replica = { ...replica, cells: {}, results: {}, order: [], droppedThrough }
}

// ---------------------------------------------------------------- reading

/** A replica that is being put together from its records, which come in no particular order. */
export interface Recovery {
  /** As it is in the beginning; `endRecovery` puts what was stored in its place. */
  readonly replica: Replica
  readonly cells: Cells
  readonly results: StoredResult[]
}

export const beginRecovery = (resource: Resource): Recovery => ({
  replica: emptyReplica(resource),
  cells: {},
  results: [],
})

export const replicaRestorers = ({ cells, results }: Recovery): Restorers => ({
  cell(value, name) {
    cells[name] = (value as { value: Json }).value
  },
  result: value => results.push(value as unknown as StoredResult),
})

/** Where anything is stored, the cells are what is stored of them. */
export function endRecovery(recovery: Recovery, hasRecords: boolean, droppedThrough: number): void {
  const { replica, cells, results } = recovery
  if (hasRecords) replica.cells = cells
  results.sort((a, b) => a.sequence - b.sequence)
  for (const stored of results) {
    replica.results[resultKey(stored.opId)] = stored
    replica.order.push(stored.opId)
  }
  replica.droppedThrough = droppedThrough
}
