/**
 * The replicated shared resource of the paper (section 2): a deterministic state machine of which every
 * participant holds a copy. `invoke` is `apply`, `response` is its result.
 *
 * A resource's state is a set of named **cells**, so that a change is persisted cell by cell and never as a
 * whole. `apply` changes nothing itself: it says which cells get which value. So an operation that throws
 * half-way has changed nothing, on any replica.
 */
import type { Json } from '../json.ts'

/** Cells by name. Values are immutable: a change replaces the value of a cell. */
export type Cells = { [cell: string]: Json }

/** `null` empties the cell. */
export interface CellChange {
  readonly cell: string
  readonly value: Json | null
}

export interface Applied {
  readonly result: Json
  readonly changes: readonly CellChange[]
}

export interface Resource {
  readonly name: string
  initial(): Cells
  /**
   * Pure and deterministic: no clock, no randomness, nothing but its arguments. `sequence` is the operation's
   * place in the log.
   */
  apply(cells: Readonly<Cells>, operation: Json, sequence: number): Applied
  snapshot(cells: Readonly<Cells>): Json
  /**
   * Takes cells that came one by one from another replica. Anything else is a defect, and taking it over
   * would spread it.
   */
  restore(snapshot: Json): Cells
  /** Equal states have equal hashes, whatever the order in which their cells were written. */
  hash(cells: Readonly<Cells>): string
}
