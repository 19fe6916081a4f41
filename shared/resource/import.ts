/**
 * How a lock gets the state of another one: as operations of its log, which no client can say, because a
 * client's operation is a list. The parts are put aside first, each as one cell that nobody reads. The last
 * operation puts all of them in place at once: so a lock has everything that was exported, or nothing of it.
 */
import type { Json } from '../json.ts'
import type { CellChange, Cells } from './resource.ts'

/** The same shape as a stored result of replica.ts. */
export interface ImportedResult {
  readonly opId: string
  readonly sequence: number
  readonly digest: string
  readonly result: Json
  readonly fence?: number
}

export interface ImportPart {
  readonly cells: readonly (readonly [cell: string, value: Json])[]
  /** In the order in which they were applied. */
  readonly results: readonly ImportedResult[]
}

/**
 * An item that is heavier than an operation may be goes in pieces of its text: that of a part with this item
 * alone.
 */
export interface ImportPiece {
  readonly text: string
  /** The next part has more of it. */
  readonly isMore: boolean
}

export type ImportOperation =
  | { readonly restore: 'part'; readonly number: number; readonly part: ImportPart | ImportPiece }
  /** All parts, from 0 on, are there. */
  | { readonly restore: 'finish'; readonly parts: number; readonly droppedThrough: number }

export const partOperation = (number: number, part: ImportPart | ImportPiece): Json =>
  ({ restore: 'part', number, part }) as unknown as Json

export const finishOperation = (parts: number, droppedThrough: number): Json => ({
  restore: 'finish',
  parts,
  droppedThrough,
})

export function importOf(operation: Json): ImportOperation | null {
  if (typeof operation !== 'object' || operation === null || Array.isArray(operation)) return null
  return 'restore' in operation ? (operation as unknown as ImportOperation) : null
}

/** Whether it replaces the whole state at once. */
export const isFinish = (operation: Json): boolean => importOf(operation)?.restore === 'finish'

/** No key of the built-in resource is kept in such a cell. */
const ASIDE = '~import/'

export const isAside = (cell: string): boolean => cell.startsWith(ASIDE)

export interface Imported {
  readonly result: Json
  readonly changes: readonly CellChange[]
  readonly results: readonly ImportedResult[]
  /** `null`: it stays as it is. */
  readonly droppedThrough: number | null
}

export const PART_PUT_ASIDE: Json = { applied: true, results: [] }
export const PARTS_MISSING: Json = { error: 'parts_missing' }

export function applyImport(cells: Readonly<Cells>, operation: ImportOperation): Imported {
  if (operation.restore === 'part') {
    const change = { cell: ASIDE + operation.number, value: operation.part as unknown as Json }
    return { result: PART_PUT_ASIDE, changes: [change], results: [], droppedThrough: null }
  }
  const changes: CellChange[] = []
  const results: ImportedResult[] = []
  const aside: (ImportPart | ImportPiece)[] = []
  for (let number = 0; number < operation.parts; number++) {
    const part = cells[ASIDE + number] as unknown as ImportPart | ImportPiece | undefined
    if (part === undefined) return { result: PARTS_MISSING, changes: [], results: [], droppedThrough: null }
    changes.push({ cell: ASIDE + number, value: null })
    aside.push(part)
  }
  for (const part of joined(aside)) {
    for (const [cell, value] of part.cells) changes.push({ cell, value })
    results.push(...part.results)
  }
  return { result: PART_PUT_ASIDE, changes, results, droppedThrough: operation.droppedThrough }
}

/** The pieces of an item that came in several are put together. */
export function* joined(parts: Iterable<ImportPart | ImportPiece>): Generator<ImportPart> {
  let text = ''
  for (const part of parts) {
    if (!('text' in part)) yield part
    else if (part.isMore) text += part.text
    else {
      yield JSON.parse(text + part.text) as ImportPart
      text = ''
    }
  }
}
