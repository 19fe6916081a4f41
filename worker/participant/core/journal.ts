/**
 * What the turns since the last checkpoint have written, one row for each turn. The rows are a small ring
 * whose pages stay the same: overwriting a row costs less than adding one, and nothing is ever deleted.
 */
import type { JournalRows } from '../runtime.ts'
import { joinLines, linesOf, MAX_ROW_LENGTH, pack } from './lines.ts'

/** After this many rows, or this much text, a checkpoint is due. */
export const MAX_ROWS = 64
const MAX_LENGTH = MAX_ROW_LENGTH
/** A turn that would take more rows than this is not written here: it is a checkpoint of its own. */
const MAX_ROWS_OF_TURN = 8
const PLACES = MAX_ROWS + MAX_ROWS_OF_TURN

export class Journal {
  private readonly rows: JournalRows
  /** The last row that the checkpoint has taken in. */
  private through: number
  /** The last row that was written. */
  private number: number
  private length = 0
  private readonly maxRows: number

  constructor(rows: JournalRows, through: number, maxRows = MAX_ROWS) {
    this.rows = rows
    this.maxRows = Math.min(maxRows, MAX_ROWS)
    this.through = through
    this.number = through
  }

  /** The lines of all turns since the checkpoint. Called once, before anything is appended. */
  *read(): Iterable<string> {
    for (;;) {
      const row = this.rows.get((this.number + 1) % PLACES)
      if (row?.number !== this.number + 1) return
      this.number++
      this.length += row.body.length
      yield* linesOf(row.body)
    }
  }

  /**
   * Must be called in a transaction. Returns `false` if it is too much for the journal; then nothing was
   * written.
   */
  append(lines: readonly string[]): boolean {
    const parts = [...pack(lines)]
    if (parts.length > MAX_ROWS_OF_TURN) return false
    for (const part of parts) this.put(joinLines(part))
    return true
  }

  private put(body: string): void {
    this.number++
    if (this.number - this.through > PLACES) throw new Error('the journal has no place left')
    this.rows.put(this.number % PLACES, this.number, body)
    this.length += body.length
  }

  /**
   * Needs no transaction. Returns `false` if a checkpoint is due with it, as it is with more than a row
   * holds; then nothing was written.
   */
  appendOne(lines: readonly string[]): boolean {
    let length = lines.length - 1
    for (const line of lines) length += line.length
    const isDue = this.number + 1 - this.through >= this.maxRows || this.length + length >= MAX_LENGTH
    if (isDue) return false
    this.put(joinLines(lines))
    return true
  }

  get isFull(): boolean {
    return this.number - this.through >= this.maxRows || this.length >= MAX_LENGTH
  }

  /** All of it is in the checkpoint that is being written, so the next lines may overwrite it. */
  takeIn(): number {
    this.through = this.number
    this.length = 0
    return this.through
  }
}
