/**
 * The body of an import, read as it comes: what the lock was made of first, then its results and its state,
 * item by item. So a lock may be as large as it likes to be, and the router holds little of it. What is wrong
 * with the document is thrown as an `ImportRefused`.
 */
import * as z from 'zod'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { importBody } from '../../shared/api/moving-schemas.ts'
import type { FieldError } from '../../shared/api/problems.ts'
import { readJson } from '../../shared/api/read-json.ts'
import { check } from '../../shared/api/validation.ts'
import type { Json } from '../../shared/json.ts'
import { weight } from '../../shared/resource/canonical.ts'
import type { ImportedResult } from '../../shared/resource/import.ts'
import { JsonPieces, NotAnObject, type Piece, PieceTooLong } from './json-pieces.ts'

const { cells, results, ...headFields } = importBody.shape
const headSchema = z.strictObject(headFields)
const LISTS = { cells: cells.element, results: results.element } as const
type List = keyof typeof LISTS

export type ImportHead = z.output<typeof headSchema>

interface ImportedCell {
  readonly cell: string
  readonly value: { readonly value: Json; readonly revision: number }
}

export type ImportItem =
  | { readonly list: 'cells'; readonly item: ImportedCell }
  | { readonly list: 'results'; readonly item: ImportedResult }

export class ImportRefused extends Error {
  readonly code: 'bad_request' | 'too_large'
  readonly errors: readonly FieldError[]

  constructor(code: 'bad_request' | 'too_large', errors: readonly Omit<FieldError, 'in'>[]) {
    super(code)
    this.code = code
    this.errors = errors.map(error => ({ in: 'body', ...error }))
  }
}

/** So much is read before the lock is made: what is wrong with a small document is found before that. */
const READ_AHEAD = 1024 * 1024
/** So much may stand before the head; in an export it stands first. */
const MAX_BEFORE_HEAD = 8 * 1024 * 1024
/** The longest item, in its longest spelling. */
const MAX_PIECE = 4 * 1024 * 1024
/** What is around a value in the result of a batch that has read it; and around that in an item. */
const RESULT_DEPTH = 4
const ITEM_DEPTH = RESULT_DEPTH + 2
/** Of the values that a batch has read, with what is around each of them. */
const MAX_RESULT_WEIGHT = API_LIMITS.readWeight + 64 * API_LIMITS.opsPerBatch
/** The limits of a lock are soft: it may be a little larger. */
const LISTS_WEIGHT = {
  cells: 1.25 * API_LIMITS.stateWeight,
  results: 1.25 * API_LIMITS.resultsWeight,
}

export class ImportDocument {
  private readonly texts: AsyncIterator<string>
  private readonly pieces = new JsonPieces(Object.keys(LISTS), MAX_PIECE)
  private readonly known: { [member: string]: unknown } = Object.create(null)
  private isHeadGiven = false
  /** Items that were read and not taken yet. */
  private ahead: ImportItem[] = []
  private aheadLength = 0
  private isAtEnd = false
  private readonly weights = { cells: 0, results: 0 }
  /** What has come already: no heavier than the lists may be. */
  private readonly names = { cells: new Set<string>(), results: new Set<string>() }
  private lastSequence = 0
  /** Of the whole lock, once the head is known. */
  private sequence = Number.POSITIVE_INFINITY
  /** The highest sequence of an item, which may come before the head. */
  private highest = { path: '', sequence: 0 }

  constructor(texts: AsyncIterable<string>) {
    this.texts = texts[Symbol.asyncIterator]()
  }

  /** Everything but the lists. */
  async head(): Promise<ImportHead> {
    while (!this.isAtEnd && (!this.hasHead || this.aheadLength < READ_AHEAD)) {
      await this.readOn()
      if (!this.hasHead && this.aheadLength > MAX_BEFORE_HEAD)
        throw new ImportRefused('too_large', [
          { path: '', message: 'must begin with the members that are no lists, as in the export' },
        ])
    }
    const checked = check(headSchema, this.known, 'body')
    this.isHeadGiven = true
    if (!checked.ok) throw new ImportRefused('bad_request', checked.errors)
    const { sequence, droppedThrough } = checked.value
    this.sequence = sequence
    this.checkSequence('droppedThrough', droppedThrough)
    this.checkSequence(this.highest.path, this.highest.sequence)
    return checked.value
  }

  /** The items of both lists, in their order. */
  async *items(): AsyncGenerator<ImportItem> {
    for (;;) {
      const { ahead } = this
      this.ahead = []
      this.aheadLength = 0
      yield* ahead
      if (this.isAtEnd) return
      await this.readOn()
    }
  }

  /** No more of it is read. */
  async close(): Promise<void> {
    await this.texts.return?.()
  }

  private get hasHead(): boolean {
    return Object.keys(headFields).every(name => name in this.known)
  }

  private async readOn(): Promise<void> {
    const next = await this.texts.next()
    try {
      if (next.done) this.finish()
      else for (const piece of this.pieces.push(next.value)) this.take(piece)
    } catch (error) {
      if (error instanceof ImportRefused) throw error
      if (error instanceof PieceTooLong)
        throw new ImportRefused('too_large', [{ path: '', message: 'has a member that is too long' }])
      const message = error instanceof NotAnObject ? 'must be an object' : 'is not JSON'
      throw new ImportRefused('bad_request', [{ path: '', message }])
    }
  }

  private finish(): void {
    this.pieces.finish()
    this.isAtEnd = true
    const missing = Object.keys(LISTS).filter(name => !this.pieces.hasMember(name))
    if (missing.length > 0)
      throw new ImportRefused(
        'bad_request',
        missing.map(path => ({ path, message: 'is missing' })),
      )
  }

  private take({ member, text, index }: Piece): void {
    const path = index === null ? member : `${member}.${index}`
    const read = readJson(text)
    if (!read.ok) throw new ImportRefused('bad_request', [{ path, message: read.mistake.message }])
    if (index !== null) this.takeItem(member as List, index, read.value, text.length)
    else if (member in LISTS) throw new ImportRefused('bad_request', [{ path, message: 'must be a list' }])
    else if (this.isHeadGiven)
      throw new ImportRefused('bad_request', [{ path, message: 'is not a known field' }])
    else this.known[member] = read.value
  }

  /** Of two with one name, the later one would take the place of the other. */
  private checkOnce(list: List, path: string, name: string): void {
    if (this.names[list].has(name))
      throw new ImportRefused('bad_request', [{ path, message: 'must come once' }])
    this.names[list].add(name)
  }

  /** What is remembered is forgotten in this order, and sent in it: the oldest first. */
  private checkOrder(path: string, { sequence }: ImportedResult): void {
    if (sequence < this.lastSequence)
      throw new ImportRefused('bad_request', [{ path, message: 'must come after all older ones' }])
    this.lastSequence = sequence
  }

  /** The new lock goes on after that of the export: what is above it would be given a second time. */
  private checkSequence(path: string, sequence: number): void {
    if (sequence > this.sequence)
      throw new ImportRefused('bad_request', [{ path, message: 'is above the sequence of the export' }])
    if (sequence > this.highest.sequence) this.highest = { path, sequence }
  }

  private checkPlace(path: string, { list, item }: ImportItem): void {
    if (list === 'cells') {
      this.checkOnce(list, path, item.cell)
      this.checkSequence(`${path}.value.revision`, item.value.revision)
    } else {
      this.checkOnce(list, path, item.opId)
      this.checkOrder(path, item)
      this.checkSequence(`${path}.sequence`, item.sequence)
    }
  }

  private takeItem(list: List, index: number, value: unknown, length: number): void {
    const path = `${list}.${index}`
    const checked = check(LISTS[list], value, 'body')
    if (!checked.ok)
      throw new ImportRefused(
        'bad_request',
        checked.errors.map(error => ({
          path: error.path === '' ? path : `${path}.${error.path}`,
          message: error.message,
        })),
      )
    const isTooHeavy =
      list === 'cells'
        ? isHeavierThan((checked.value as ImportedCell).value.value, API_LIMITS.valueWeight)
        : isHeavierThan((checked.value as ImportedResult).result, MAX_RESULT_WEIGHT, -RESULT_DEPTH)
    if (isTooHeavy) throw new ImportRefused('too_large', [{ path, message: 'is larger than a lock has it' }])
    this.weights[list] += weight(value as Json, LISTS_WEIGHT[list], -ITEM_DEPTH)
    const isTooMany = list === 'results' && index >= API_LIMITS.resultsKept
    if (isTooMany || this.weights[list] > LISTS_WEIGHT[list])
      throw new ImportRefused('too_large', [{ path: list, message: 'has more than a lock may have' }])
    const one = { list, item: checked.value } as ImportItem
    this.checkPlace(path, one)
    this.ahead.push(one)
    this.aheadLength += length
  }
}

/** `depth`: a negative one allows for so many more levels. */
const isHeavierThan = (value: Json, limit: number, depth = 0): boolean => weight(value, limit, depth) > limit

/** Throws what is wrong with the body. `mostBytes`: one that is longer is refused. */
export async function* textsOf(
  body: ReadableStream<Uint8Array> | null,
  mostBytes: number,
): AsyncGenerator<string> {
  // Text that is not UTF-8 would be changed silently.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  const reader = body?.getReader()
  const decode = (bytes?: Uint8Array) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      throw new ImportRefused('bad_request', [{ path: '', message: 'is not UTF-8' }])
    }
  }
  let length = 0
  try {
    for (;;) {
      const chunk = await reader?.read().catch(() => {
        throw new ImportRefused('bad_request', [{ path: '', message: 'broke off before its end' }])
      })
      if (chunk === undefined || chunk.done) break
      length += chunk.value.byteLength
      if (length > mostBytes)
        throw new ImportRefused('too_large', [{ path: '', message: `must have at most ${mostBytes} bytes` }])
      yield decode(chunk.value)
    }
    yield decode()
  } finally {
    await reader?.cancel().catch(() => undefined)
  }
}
