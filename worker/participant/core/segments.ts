/**
 * The records as of the last checkpoint, in a few long rows. Each checkpoint adds a segment with what has
 * changed since the one before; a later segment overrides an earlier one. A segment that is not much larger
 * than what came after it is merged with that, so there are few of them: their sizes grow like powers of two,
 * and a record is rewritten only that often.
 */

import type { SegmentRows } from '../runtime.ts'
import { joinLines, lineLength, lineOf, pack, recordsIn, type Text } from './lines.ts'

/** The rows that hold a segment, and the length of its text. */
export interface Segment {
  readonly rows: readonly number[]
  readonly length: number
}

export interface SegmentList {
  /** Oldest first. */
  readonly segments: readonly Segment[]
  /** The next row that nothing has been written to. */
  readonly nextRow: number
}

/** An earlier segment is merged if it is shorter than this many times what comes after it. */
const MERGED_BELOW = 2

/** Every record as it is now, without those that were deleted. */
export function* readSegments(
  rows: SegmentRows,
  { segments }: SegmentList,
): Iterable<readonly [string, string]> {
  for (const [key, text] of newestOnly(rows, new Map(), segments)) if (text !== null) yield [key, text]
}

/** Must be called in a transaction. */
export function addSegment(
  rows: SegmentRows,
  { segments, nextRow }: SegmentList,
  changed: ReadonlyMap<string, Text>,
): SegmentList {
  const kept = [...segments]
  const merged: Segment[] = []
  let length = lengthOf(changed)
  for (
    let last = kept.at(-1);
    last !== undefined && last.length < MERGED_BELOW * length;
    last = kept.at(-1)
  ) {
    kept.pop()
    merged.unshift(last)
    length += last.length
  }
  const segment = write(rows, nextRow, linesOf(rows, changed, merged, kept.length === 0))
  for (const old of merged) rows.delete(old.rows)
  if (segment.rows.length > 0) kept.push(segment)
  return { segments: kept, nextRow: nextRow + segment.rows.length }
}

/**
 * In the measure of the segments themselves: a line is longer than its key and text, and many times as long
 * if the key consists of letters that JSON escapes. Measured otherwise, such segments would never be merged.
 */
function lengthOf(changed: ReadonlyMap<string, Text>): number {
  let length = 0
  for (const [key, text] of changed) length += lineLength(key, text)
  return length
}

/** A deletion must be remembered only as long as there is an older segment. */
function* linesOf(
  rows: SegmentRows,
  changed: ReadonlyMap<string, Text>,
  merged: readonly Segment[],
  isOldest: boolean,
): Iterable<string> {
  for (const [key, text] of newestOnly(rows, changed, merged))
    if (text !== null || !isOldest) yield lineOf(key, text)
}

/** The newest text of each record that is in any of them. */
function* newestOnly(
  rows: SegmentRows,
  changed: ReadonlyMap<string, Text>,
  segments: readonly Segment[],
): Iterable<readonly [string, Text]> {
  yield* changed
  const seen = new Set(changed.keys())
  for (const segment of segments.toReversed()) {
    for (const row of segment.rows) {
      for (const [key, text] of recordsIn(rows.get(row) ?? missing(row))) {
        if (seen.has(key)) continue
        seen.add(key)
        yield [key, text]
      }
    }
  }
}

function write(rows: SegmentRows, firstRow: number, lines: Iterable<string>): Segment {
  const written: number[] = []
  let length = 0
  for (const part of pack(lines)) {
    const body = joinLines(part)
    const row = firstRow + written.length
    rows.put(row, body)
    written.push(row)
    length += body.length
  }
  return { rows: written, length }
}

function missing(row: number): never {
  throw new Error(`row ${row} of the last checkpoint is not there`)
}
