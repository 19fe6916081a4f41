/**
 * The bounded record of what this participant's steps did: the history, which the checker judges, and the
 * changes, from which watchers resume. The oldest rows are forgotten.
 */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { HistoryEvent } from '../../../shared/history/events.ts'
import type { Json } from '../../../shared/json.ts'
import type { StepRows } from '../runtime.ts'
import { bytesOf } from './bytes.ts'
import type { StepCounts } from './checkpoint.ts'
import { joinLines, linesOf, MAX_ROW_LENGTH, pack } from './lines.ts'

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

interface Step {
  readonly text: string
  /** The highest sequence among its changes; 0 if there are none. */
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
  readonly afterStep: number
}

export interface ChangesPage {
  readonly changes: readonly WatchEvent[]
  /** Where the next page begins; `null`: this was everything, up to now. */
  readonly next: ChangesPlace | null
}

export const MAX_ROW_BYTES = 1_900_000
/** A row is read as a whole and may be long, so only a few of them are in memory at once. */
export const ROWS_READ_AT_ONCE = 2

/** Selects blocks of all sequences: a block that changed nothing has the sequence 0. */
const ALL = -1

const MIN_BLOCKS = 8

export class EventLog {
  private readonly rows: StepRows
  private readonly eventsKept: number
  private readonly bytesKept: number
  private counts: StepCounts
  /** Recorded by this turn. */
  private staged: Step[] = []
  /** Written to the journal since the last checkpoint. */
  private recent: Step[] = []
  private recentLength = 0
  /** Not everything up to this sequence is among the events: it was forgotten, or came here as a snapshot. */
  private missed: number

  constructor(rows: StepRows, counts: StepCounts, missedThrough: number, eventsKept: number) {
    this.rows = rows
    this.counts = counts
    this.missed = missedThrough
    this.eventsKept = eventsKept
    this.bytesKept = eventsKept * API_LIMITS.bytesPerEventKept
  }

  get missedThrough(): number {
    return this.missed
  }

  /**
   * Writes one line for each step, or more if a row would not hold what it did, as when a participant catches
   * up. Where no steps are kept, what changed is missed: a later instance may keep some.
   */
  record(history: readonly HistoryEvent[], changes: readonly WatchEvent[]): void {
    if (this.eventsKept > 0) this.staged.push(...this.stepsFor(history, changes))
    else this.missThrough(highestOf(changes))
  }

  /** What is told from here on begins anew: nobody can resume from what was told before. */
  missEverything(): void {
    this.missThrough(this.rows.highestSequence())
    for (const { sequence } of [...this.recent, ...this.staged]) this.missThrough(sequence)
  }

  missThrough(sequence: number): void {
    this.missed = Math.max(this.missed, sequence)
  }

  /** There was nothing, as far as anybody can tell from now on. */
  empty(): void {
    this.counts = { next: this.counts.next + this.recent.length, kept: 0, bytes: 0 }
    this.staged = []
    this.recent = []
    this.recentLength = 0
    this.missed = 0
  }

  // ---------------------------------------------------------------- writing

  get isStaged(): boolean {
    return this.staged.length > 0
  }

  /** The lines for the journal. They count as written from now on. */
  take(): string[] {
    const lines = this.staged.map(({ text }) => text)
    for (const step of this.staged) this.addRecent(step)
    this.staged = []
    return lines
  }

  private addRecent(step: Step): void {
    this.recent.push(step)
    this.recentLength += step.text.length
  }

  /**
   * Where few steps are kept, few of them wait for a checkpoint: so many blocks make up what is kept. Where
   * none are kept, those of an earlier instance go at once: nothing would say that others are missing after
   * them.
   */
  get isFull(): boolean {
    if (this.eventsKept === 0 && this.counts.kept > 0) return true
    if (this.recent.length === 0) return false
    return (
      this.recent.length * MIN_BLOCKS >= this.eventsKept || this.recentLength * MIN_BLOCKS >= this.bytesKept
    )
  }

  /** A line that an earlier instance has written since the last checkpoint. */
  restore(text: string): void {
    const { changes } = JSON.parse(text) as Body
    this.addRecent({ text, sequence: highestOf(changes) })
  }

  /**
   * Must be called in a transaction. Writes the steps since the last checkpoint in blocks, and forgets old
   * blocks.
   */
  writeBlocks(): StepCounts {
    let { next, kept, bytes } = this.counts
    for (const lines of pack(this.recent.map(({ text }) => text))) {
      const steps = this.recent.splice(0, lines.length)
      const sequence = steps.reduce((most, step) => Math.max(most, step.sequence), 0)
      const body = joinLines(lines)
      this.rows.append({ first: next, steps: steps.length, sequence, body })
      next += steps.length
      kept += steps.length
      bytes += bytesOf(body)
    }
    this.recentLength = 0
    this.counts = this.forgetOldBlocks({ next, kept, bytes })
    return this.counts
  }

  private forgetOldBlocks({ next, kept, bytes }: StepCounts): StepCounts {
    for (let oldest = this.rows.oldest(); oldest !== undefined; oldest = this.rows.oldest()) {
      const isNeeded = kept - oldest.steps < this.eventsKept && bytes <= this.bytesKept
      const isNewest = oldest.first + oldest.steps === next
      if (isNeeded || (isNewest && this.eventsKept > 0)) break
      this.rows.delete(oldest.first)
      this.missThrough(oldest.sequence)
      kept -= oldest.steps
      bytes -= oldest.bytes
    }
    return { next, kept, bytes }
  }

  // ---------------------------------------------------------------- reading

  /**
   * At most `limit` events, and fewer if they are long. A page that is not the last has at least one event.
   */
  historyPage(limit: number, cursor: string | null): HistoryPage {
    const [firstStep, firstIndex] = placeOf(cursor)
    const events: HistoryEvent[] = []
    let length = 0
    for (const { number, text } of this.read(firstStep, ALL)) {
      const { history } = JSON.parse(text) as Body
      for (let index = number === firstStep ? firstIndex : 0; index < history.length; index++) {
        const isFull = events.length >= limit || (events.length > 0 && length > MAX_ROW_LENGTH)
        if (isFull) return { events, cursor: `${number}.${index}` }
        events.push(history[index]!)
        length += JSON.stringify(history[index]).length
      }
    }
    return { events, cursor: null }
  }

  /** Whether all changes after this sequence are here. */
  reaches(sequence: number): boolean {
    return this.eventsKept > 0 && sequence >= this.missed
  }

  /** The next changes, of one step or more and about `length` long; `null` if some of them are missing. */
  changesPage({ since, afterStep }: ChangesPlace, length: number): ChangesPage | null {
    if (!this.reaches(since)) return null
    const changes: WatchEvent[] = []
    const next = { since, afterStep }
    let read = 0
    for (const { number, text } of this.read(afterStep + 1, since)) {
      if (read >= length) return { changes, next }
      const found = (JSON.parse(text) as Body).changes.filter(change => change.sequence > since)
      changes.push(...found)
      read += text.length
      next.since = Math.max(next.since, highestOf(found))
      next.afterStep = number
    }
    return { changes, next: null }
  }

  /** The steps from this one on, of blocks with higher sequences than this. */
  private *read(firstStep: number, afterSequence: number): Iterable<{ number: number; text: string }> {
    for (let next = firstStep; ; ) {
      const page = this.rows.page(next, afterSequence, ROWS_READ_AT_ONCE)
      for (const block of page) {
        for (const [index, text] of linesOf(block.body).entries()) {
          const number = block.first + index
          if (number >= next) yield { number, text }
        }
        next = block.first + block.steps
      }
      if (page.length < ROWS_READ_AT_ONCE) break
    }
    for (const [index, { text }] of this.recent.entries()) {
      const number = this.counts.next + index
      if (number >= firstStep) yield { number, text }
    }
  }

  private stepsFor(history: readonly HistoryEvent[], changes: readonly WatchEvent[]): Step[] {
    const whole = stepWith(history, changes)
    if (whole.text.length <= MAX_ROW_LENGTH) return [whole]
    return [
      ...packEvents(history).map(part => stepWith(part, [])),
      ...packEvents(changes.filter(change => this.fits(change))).map(part => stepWith([], part)),
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

/** The step and the place in it where a page begins. */
function placeOf(cursor: string | null): readonly [step: number, index: number] {
  const [, step, index] = /^(\d{1,15})\.(\d{1,9})$/.exec(cursor ?? '') ?? []
  return step === undefined ? [1, 0] : [Number(step), Number(index)]
}

function stepWith(history: readonly HistoryEvent[], changes: readonly WatchEvent[]): Step {
  return { text: JSON.stringify({ history, changes } satisfies Body), sequence: highestOf(changes) }
}

const highestOf = (changes: readonly WatchEvent[]): number =>
  changes.reduce((most, { sequence }) => Math.max(most, sequence), 0)

/** As many of them together as a row holds, in order. */
function packEvents<Event>(events: readonly Event[]): Event[][] {
  const parts = [...pack(events.map(event => JSON.stringify(event)))]
  return parts.map(part => part.map(text => JSON.parse(text) as Event))
}
