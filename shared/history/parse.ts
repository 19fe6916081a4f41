/**
 * Reads a history from its lines: the header first, then one event per line. Blank lines are skipped. A
 * problem comes back as a value that names its line; nothing here throws.
 */

import type { History, HistoryEvent, HistoryHeader } from './events.ts'
import { type CheckedHeader, checkEvent, checkHeader } from './format.ts'

export interface ParseProblem {
  /** Counted from 1. */
  readonly line: number
  readonly message: string
}

export type ParseResult =
  | { readonly ok: true; readonly history: History }
  | { readonly ok: false; readonly problem: ParseProblem }

/** Takes the lines one by one, for callers that read a long file. After a problem it skips the rest. */
export class HistoryReader {
  #line = 0
  #header: HistoryHeader | null = null
  #problem: ParseProblem | null = null
  #latest = Number.NEGATIVE_INFINITY
  readonly #events: HistoryEvent[] = []

  get eventsRead(): number {
    return this.#events.length
  }

  /** Returns what is wrong, once something is. */
  read(text: string): ParseProblem | null {
    this.#line++
    if (this.#problem !== null) return this.#problem
    // Some editors begin a file with a byte order mark, which is not part of its first line.
    const content = this.#line === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text
    const message = this.#readLine(content)
    if (message !== null) this.#problem = { line: this.#line, message }
    return this.#problem
  }

  finish(): ParseResult {
    if (this.#problem !== null) return { ok: false, problem: this.#problem }
    if (this.#header === null) return { ok: false, problem: { line: 1, message: 'the header is missing' } }
    return { ok: true, history: { header: this.#header, events: this.#events } }
  }

  #readLine(text: string): string | null {
    if (text.trim() === '') return null
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      return `not JSON: ${error instanceof Error ? error.message : String(error)}`
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not a JSON object'
    return this.#header === null ? this.#readHeader(value) : this.#readEvent(value, this.#header)
  }

  #readHeader(value: object): string | null {
    const checked: CheckedHeader = checkHeader(value)
    if (typeof checked === 'string') return checked
    this.#header = checked
    return null
  }

  #readEvent(value: object, header: HistoryHeader): string | null {
    const event = checkEvent(value, header)
    if (typeof event === 'string') return event
    if (event.at < this.#latest) return `time falls: \`at\` is ${event.at} after ${this.#latest}`
    this.#latest = event.at
    this.#events.push(event)
    return null
  }
}

/** `source` is the whole text, or its lines without their ends. */
export function parseHistory(source: string | Iterable<string>): ParseResult {
  const reader = new HistoryReader()
  for (const line of typeof source === 'string' ? source.split('\n') : source) {
    if (reader.read(line) !== null) break
  }
  return reader.finish()
}

/** The lines of a file with this history, without their ends. */
export function* historyLines({ header, events }: History): Generator<string> {
  yield JSON.stringify(header)
  for (const event of events) yield JSON.stringify(event)
}
