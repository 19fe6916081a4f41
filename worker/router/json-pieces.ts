/**
 * Splits a JSON document that is too long to be read as a whole: an object, some of whose members are lists.
 * Of these each item is a piece, of the others the value. The pieces are found by their brackets and quotes
 * alone; whoever reads a piece (`readJson`) finds out whether it is JSON.
 */

export interface Piece {
  readonly member: string
  readonly text: string
  /** Its place in a list; `null`: it is the whole value of the member. */
  readonly index: number | null
}

/** The document is none, at this place or in this way. */
export class NotJson extends Error {}

/** It is JSON, as far as it was looked at, but no object. */
export class NotAnObject extends Error {}

/** A piece is too long. */
export class PieceTooLong extends Error {}

type Place =
  | 'start'
  | 'first-name'
  | 'name'
  | 'colon'
  | 'value'
  | 'after-value'
  | 'first-item'
  | 'item'
  | 'after-item'
  | 'end'

const SPACE = /[ \t\n\r]*/y
/** Where something changes: inside of a text, and outside. */
const IN_TEXT = /["\\]/g
const OUTSIDE = /["{}[\],: \t\n\r]/g

/** What a value begins with that is no object. */
const OTHER_VALUE = /[["0-9tfn-]/

export class JsonPieces {
  private readonly lists: ReadonlySet<string>
  private readonly mostCharacters: number
  private place: Place = 'start'
  /** What is to be looked at. */
  private rest = ''
  /** What was looked at of a name or a value whose end is not there yet; `null`: of none. */
  private begun: string | null = null
  private depth = 0
  private isInText = false
  private member = ''
  private index = 0
  private readonly seen = new Set<string>()

  constructor(lists: readonly string[], mostCharacters: number) {
    this.lists = new Set(lists)
    this.mostCharacters = mostCharacters
  }

  /** The pieces that are complete with this much more of the document. */
  *push(text: string): Generator<Piece> {
    this.rest += text
    for (;;) {
      const piece = this.step()
      if (piece === 'more') break
      if (piece !== null) yield piece
    }
    if ((this.begun?.length ?? 0) > this.mostCharacters) throw new PieceTooLong()
  }

  hasMember(name: string): boolean {
    return this.seen.has(name)
  }

  /** There is no more. */
  finish(): void {
    if (this.place !== 'end') throw new NotJson()
  }

  private step(): Piece | 'more' | null {
    if (this.begun === null) this.skipSpace()
    if (this.rest === '') return 'more'
    if (this.place === 'first-name' && this.rest[0] === '"') this.place = 'name'
    if (this.place === 'first-item' && this.rest[0] !== ']') this.place = 'item'
    if (this.place === 'name') return this.readName()
    const isList = this.begun === null && this.rest[0] === '[' && this.lists.has(this.member)
    if (this.place === 'item' || (this.place === 'value' && !isList)) return this.readValue()
    this.place = this.place === 'value' ? this.beginList() : this.after(this.rest[0]!)
    this.rest = this.rest.slice(1)
    return null
  }

  private skipSpace(): void {
    SPACE.lastIndex = 0
    SPACE.test(this.rest)
    this.rest = this.rest.slice(SPACE.lastIndex)
  }

  private beginList(): Place {
    this.index = 0
    return 'first-item'
  }

  /** Where a sign of punctuation leads. */
  private after(sign: string): Place {
    const next = NEXT[`${this.place} ${sign}`]
    if (next !== undefined) return next
    throw this.place === 'start' && OTHER_VALUE.test(sign) ? new NotAnObject() : new NotJson()
  }

  private readName(): null | 'more' {
    const text = this.takeValue()
    if (text === null) return 'more'
    this.member = nameIn(text)
    if (this.seen.has(this.member)) throw new NotJson()
    this.seen.add(this.member)
    this.place = 'colon'
    return null
  }

  private readValue(): Piece | 'more' {
    const text = this.takeValue()
    if (text === null) return 'more'
    if (text === '') throw new NotJson()
    const isItem = this.place === 'item'
    this.place = isItem ? 'after-item' : 'after-value'
    return { member: this.member, text, index: isItem ? this.index++ : null }
  }

  /** The name or value that begins here; `null` if its end is not there yet. */
  private takeValue(): string | null {
    for (let at = 0; ; ) {
      const pattern = this.isInText ? IN_TEXT : OUTSIDE
      pattern.lastIndex = at
      const found = pattern.exec(this.rest)
      // The character after a backslash may not be there yet, either.
      if (found === null || (found[0] === '\\' && found.index + 1 === this.rest.length))
        return this.keep(found?.index ?? this.rest.length)
      const sign = found[0]
      at = found.index + (sign === '\\' ? 2 : 1)
      if (sign === '"') this.isInText = !this.isInText
      else if (sign === '{' || sign === '[') this.depth++
      else if (sign !== '\\' && this.depth === 0) return this.cut(at - 1)
      else if (sign === '}' || sign === ']') this.depth--
      const isEnd = sign === '"' || sign === '}' || sign === ']'
      if (isEnd && !this.isInText && this.depth === 0) return this.cut(at)
    }
  }

  /** The texts are not put together before the end: that would take long for many small ones. */
  private keep(end: number): null {
    this.begun = (this.begun ?? '') + this.rest.slice(0, end)
    this.rest = this.rest.slice(end)
    return null
  }

  private cut(end: number): string {
    const text = (this.begun ?? '') + this.rest.slice(0, end)
    this.rest = this.rest.slice(end)
    this.begun = null
    return text
  }
}

const NEXT: { readonly [placeAndSign: string]: Place } = {
  'start {': 'first-name',
  'first-name }': 'end',
  'colon :': 'value',
  'after-value ,': 'name',
  'after-value }': 'end',
  'first-item ]': 'after-value',
  'after-item ,': 'item',
  'after-item ]': 'after-value',
}

function nameIn(text: string): string {
  try {
    const name: unknown = JSON.parse(text)
    if (typeof name === 'string') return name
  } catch {
    // It is none.
  }
  throw new NotJson()
}
