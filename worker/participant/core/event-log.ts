/**
 * The bounded record of what this participant's steps did: the history, which the checker judges, and the
 * changes, from which watchers resume. The oldest rows are forgotten.
 */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { HistoryEvent } from '../../../shared/history/events.ts'
import type { Json } from '../../../shared/json.ts'
import type { EventRow, Rows } from '../runtime.ts'
import { bytesOf } from './bytes.ts'

/** What watchers are told; see api.md, Watch. */
export interface WatchEvent {
  readonly event: 'op' | 'holder' | 'snapshot'
  readonly sequence: number
  readonly data: Json
}

/** What one step did, or a part of it. */
interface Body {
  readonly history: readonly HistoryEvent[]
  readonly changes: readonly WatchEvent[]
}

interface StagedRow {
  readonly text: string
  readonly sequence: number
}

export interface HistoryPage {
  readonly events: readonly HistoryEvent[]
  /** Where the next page begins; `null`: there is none. */
  readonly cursor: string | null
}

/** How far a watcher has read. */
export interface ChangesPlace {
  readonly since: number
  readonly afterId: number
}

export interface ChangesPage {
  readonly changes: readonly WatchEvent[]
  /** Where the next page begins; `null`: this was everything, up to now. */
  readonly next: ChangesPlace | null
}

/** A row holds at most 2 MB, and a character takes at most three bytes in UTF-8. */
const MAX_ROW_LENGTH = 500_000
export const MAX_ROW_BYTES = 1_900_000
/** A row is read as a whole and may be long, so only a few of them are in memory at once. */
export const ROWS_READ_AT_ONCE = 2

const MISSED = '.missed'

/** Selects rows of all sequences: a row that changed nothing has the sequence 0. */
const ALL = -1

export class EventLog {
  private readonly rows: Rows
  private readonly eventsKept: number
  private readonly bytesKept: number
  private staged: StagedRow[] = []
  private rowsNow: number
  private bytesNow: number
  /** Not everything up to this sequence is among the events: it was forgotten, or came here as a snapshot. */
  private missedThrough: number
  private writtenMissedThrough: number

  constructor(rows: Rows, eventsKept: number) {
    this.rows = rows
    this.eventsKept = eventsKept
    this.bytesKept = eventsKept * API_LIMITS.bytesPerEventKept
    const size = rows.events.size()
    this.rowsNow = size.rows
    this.bytesNow = size.bytes
    this.missedThrough = Number(rows.records.get(MISSED) ?? 0)
    this.writtenMissedThrough = this.missedThrough
  }

  get isStaged(): boolean {
    return this.staged.length > 0 || this.missedThrough > this.writtenMissedThrough
  }

  /**
   * Writes one row for each step, or more if one row would not hold what it did, as when a participant
   * catches up.
   */
  record(history: readonly HistoryEvent[], changes: readonly WatchEvent[]): void {
    if (this.eventsKept > 0) this.staged.push(...this.rowsFor(history, changes))
  }

  /** What is told from here on begins anew: nobody can resume from what was told before. */
  missEverything(): void {
    for (const { sequence } of this.rows.events.newestFirst()) this.missThrough(sequence)
    for (const { sequence } of this.staged) this.missThrough(sequence)
  }

  missThrough(sequence: number): void {
    this.missedThrough = Math.max(this.missedThrough, sequence)
  }

  /** Must be called in a transaction. */
  write(): void {
    for (const { text, sequence } of this.staged) {
      this.rows.events.append(sequence, text)
      this.rowsNow++
      this.bytesNow += bytesOf(text)
    }
    this.staged = []
    // Old rows are dropped in runs, so that a turn rarely pays for it.
    if (this.rowsNow > this.eventsKept * 1.25 || this.bytesNow > this.bytesKept * 1.25) this.forgetOldRows()
    if (this.missedThrough > this.writtenMissedThrough) {
      this.rows.records.put([[MISSED, String(this.missedThrough)]])
      this.writtenMissedThrough = this.missedThrough
    }
  }

  private forgetOldRows(): void {
    let rows = 0
    let bytes = 0
    for (const row of this.rows.events.newestFirst()) {
      if (rows + 1 > this.eventsKept || bytes + row.bytes > this.bytesKept) {
        this.missThrough(this.rows.events.forgetThrough(row.id))
        break
      }
      rows++
      bytes += row.bytes
    }
    this.rowsNow = rows
    this.bytesNow = bytes
  }

  /**
   * At most `limit` events, and fewer if they are long. A page that is not the last has at least one event.
   */
  historyPage(limit: number, cursor: string | null): HistoryPage {
    const [firstId, firstIndex] = placeOf(cursor)
    const events: HistoryEvent[] = []
    let length = 0
    for (const row of this.read(ALL, firstId - 1)) {
      const { history } = bodyOf(row)
      for (let index = row.id === firstId ? firstIndex : 0; index < history.length; index++) {
        const isFull = events.length >= limit || (events.length > 0 && length > MAX_ROW_LENGTH)
        if (isFull) return { events, cursor: `${row.id}.${index}` }
        events.push(history[index]!)
        length += JSON.stringify(history[index]).length
      }
    }
    return { events, cursor: null }
  }

  /** Whether all changes after this sequence are here. */
  reaches(sequence: number): boolean {
    return this.eventsKept > 0 && sequence >= this.missedThrough
  }

  /** The next changes, of one row or more and about `length` long; `null` if some of them are missing. */
  changesPage({ since, afterId }: ChangesPlace, length: number): ChangesPage | null {
    if (!this.reaches(since)) return null
    const changes: WatchEvent[] = []
    const next = { since, afterId }
    let read = 0
    for (const row of this.read(since, afterId)) {
      if (read >= length) return { changes, next }
      changes.push(...bodyOf(row).changes.filter(change => change.sequence > since))
      read += row.body.length
      next.since = Math.max(next.since, row.sequence)
      next.afterId = row.id
    }
    return { changes, next: null }
  }

  private *read(afterSequence: number, afterId = 0): Iterable<EventRow> {
    for (let last = afterId; ; ) {
      const page = this.rows.events.page(last, afterSequence, ROWS_READ_AT_ONCE)
      yield* page
      if (page.length < ROWS_READ_AT_ONCE) return
      last = page.at(-1)!.id
    }
  }

  private rowsFor(history: readonly HistoryEvent[], changes: readonly WatchEvent[]): StagedRow[] {
    const whole = rowWith(history, changes)
    if (whole.text.length <= MAX_ROW_LENGTH) return [whole]
    return [
      ...pack(history).map(part => rowWith(part, [])),
      ...pack(changes.filter(change => this.fits(change))).map(part => rowWith([], part)),
    ]
  }

  /**
   * A small batch can change much, for instance with an op for each of many long lists. A watcher that
   * resumes before that begins with a snapshot.
   */
  private fits(change: WatchEvent): boolean {
    const text = JSON.stringify(change)
    const isSmall = text.length * 3 <= MAX_ROW_BYTES || bytesOf(text) <= MAX_ROW_BYTES
    if (!isSmall) this.missThrough(change.sequence)
    return isSmall
  }
}

const bodyOf = (row: EventRow): Body => JSON.parse(row.body) as Body

/** The row and the place in it where a page begins. */
function placeOf(cursor: string | null): readonly [id: number, index: number] {
  const [, id, index] = /^(\d{1,15})\.(\d{1,9})$/.exec(cursor ?? '') ?? []
  return id === undefined ? [1, 0] : [Number(id), Number(index)]
}

function rowWith(history: readonly HistoryEvent[], changes: readonly WatchEvent[]): StagedRow {
  const sequence = changes.reduce((most, change) => Math.max(most, change.sequence), 0)
  return { text: JSON.stringify({ history, changes } satisfies Body), sequence }
}

/** As many of them together as a row holds, in order. */
function pack<Event>(events: readonly Event[]): Event[][] {
  const parts: Event[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const event of events) {
    const more = JSON.stringify(event).length
    if (length + more > MAX_ROW_LENGTH) {
      parts.push([])
      length = 0
    }
    length += more
    parts.at(-1)!.push(event)
  }
  return parts
}
