/** Packs the items of an import into operations that a lock takes. */
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { Json } from '../../shared/json.ts'
import { weight } from '../../shared/resource/canonical.ts'
import type { ImportedResult, ImportPart, ImportPiece } from '../../shared/resource/import.ts'
import type { ImportItem } from './import-document.ts'

/** As few operations as possible, and each of them light enough to be copied without delay. */
const PART_WEIGHT = API_LIMITS.batchWeight / 4
/** An item that is heavier goes in pieces. */
const MAX_ITEM_WEIGHT = API_LIMITS.batchWeight / 2 + 4_096
/** How deep an item is inside of its operation. One that is nested too deeply there goes in pieces, too. */
const DEPTH_IN_OPERATION = 3
/** Of the text of such an item; a character weighs two at most when it is quoted once more. */
const PIECE_CHARACTERS = API_LIMITS.batchWeight / 4

export async function* partsOf(items: AsyncIterable<ImportItem>): AsyncGenerator<ImportPart | ImportPiece> {
  let part: { cells: (readonly [string, Json])[]; results: ImportedResult[] } = { cells: [], results: [] }
  let heavy = 0
  for await (const { list, item } of items) {
    const own = weight(item as unknown as Json, API_LIMITS.batchWeight, DEPTH_IN_OPERATION)
    if (heavy > 0 && heavy + own > PART_WEIGHT) {
      yield part
      part = { cells: [], results: [] }
      heavy = 0
    }
    const target = own > MAX_ITEM_WEIGHT ? { cells: [], results: [] } : part
    if (list === 'cells') (target.cells as unknown[]).push([item.cell, item.value])
    else (target.results as unknown[]).push(item)
    if (target === part) heavy += own
    else yield* piecesOf(target)
  }
  if (heavy > 0) yield part
}

function* piecesOf(part: ImportPart): Generator<ImportPiece> {
  const text = JSON.stringify(part)
  for (let at = 0; at < text.length; at += PIECE_CHARACTERS)
    yield {
      text: text.slice(at, at + PIECE_CHARACTERS),
      isMore: at + PIECE_CHARACTERS < text.length,
    }
}
