/**
 * The first row of the segments says where everything is: which layout this storage has, how far the journal
 * has been folded in, and which rows hold the rest.
 */
import type { Rows } from '../runtime.ts'
import { isBeforeBirths, withBirth } from './before-births.ts'
import type { SegmentList } from './segments.ts'
import { UnknownLayout } from './unknown-layout.ts'

/** The first layout had a row for each record. */
const LAYOUT = 2
/**
 * The same, of a participant whose lock has other members than at its birth, or that came after it: versions
 * that know nothing of that must not go on with it.
 */
const LAYOUT_OF_CHANGED = 3
const ROW = 0

/** The counts of the history: how many steps there were, how many of them are kept, and their bytes. */
export interface StepCounts {
  readonly next: number
  readonly kept: number
  readonly bytes: number
}

export interface Checkpoint extends SegmentList {
  /** The last row of the journal that is in the segments. */
  readonly through: number
  readonly steps: StepCounts
  /** The members of the lock have changed, or this participant came later. */
  readonly hasChanged: boolean
}

export const FIRST_CHECKPOINT: Checkpoint = {
  through: 0,
  segments: [],
  nextRow: ROW + 1,
  steps: { next: 1, kept: 0, bytes: 0 },
  hasChanged: false,
}

/** `null`: nothing was written yet, or only by a version that knew just the first layout. */
export function readCheckpoint(rows: Rows): Checkpoint | null {
  const text = rows.segments.get(ROW)
  if (text === undefined) return null
  const { layout, ...checkpoint } = JSON.parse(text) as Checkpoint & { readonly layout: number }
  if (layout !== LAYOUT && layout !== LAYOUT_OF_CHANGED) {
    throw new UnknownLayout(
      `This storage has layout ${layout}, and this version of Baton knows layouts up to ${LAYOUT_OF_CHANGED}: ` +
        'a newer version has written it. Nothing was changed.',
    )
  }
  return { ...checkpoint, hasChanged: layout === LAYOUT_OF_CHANGED }
}

/** Must be called in a transaction. */
export function writeCheckpoint(rows: Rows, { hasChanged, ...checkpoint }: Checkpoint): void {
  const layout = hasChanged ? LAYOUT_OF_CHANGED : LAYOUT
  rows.segments.put(ROW, JSON.stringify({ layout, ...checkpoint }))
}

/** The record that an older version would read first. It must not take this storage for an empty one. */
const READ_FIRST = '.identity'

/**
 * Must be called in a transaction. From now on, versions that know only the first layout refuse this storage.
 */
export function leaveMark(rows: Rows): void {
  rows.older.replaceBy(READ_FIRST, `this storage has layout ${LAYOUT}`)
}

/** What was written by a version that knew only the first layout, as this version understands it. */
export function readOlder(rows: Rows): ReadonlyMap<string, string> {
  const records = new Map(rows.older.records())
  return isBeforeBirths(records) ? withBirth(records) : records
}
