/**
 * JSON values as text that depends on the value alone, and short digests of it. Replicas compare digests to
 * find out whether they differ, and an `opId` is recognised by the digest of its operation. The digests are
 * not cryptographic: a client that may write to a lock could look for two operations with the same digest,
 * and would only deceive itself.
 *
 * All of it runs on every operation, so the code below prefers plain loops to short ones.
 */
import type { Json } from '../json.ts'

/**
 * The text of `JSON.stringify`, with the keys of every object in the order of their UTF-16 code units. As
 * there, a property that is `undefined` does not count: a value has the same text before and after it went
 * through JSON.
 */
export function canonical(value: Json): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number') return Number.isFinite(value) ? `${value}` : 'null'
  if (typeof value !== 'object' || value === null) return `${value}`
  return isList(value) ? canonicalList(value) : canonicalObject(value)
}

function canonicalList(list: readonly Json[]): string {
  let text = '['
  for (let index = 0; index < list.length; index++) {
    if (index > 0) text += ','
    const item: Json | undefined = list[index]
    text += item === undefined ? 'null' : canonical(item)
  }
  return `${text}]`
}

function canonicalObject(object: { readonly [key: string]: Json }): string {
  const keys = sort(Object.keys(object))
  let text = ''
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!
    const value: Json | undefined = object[key]
    if (value !== undefined) text += `${text === '' ? '{' : ','}${quote(key)}:${canonical(value)}`
  }
  return text === '' ? '{}' : `${text}}`
}

/**
 * The JSON text of a string. Most strings are short and need no escape: looking is cheaper than calling
 * `JSON.stringify`.
 */
function quote(text: string): string {
  if (text.length > 64) return JSON.stringify(text)
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    const isPlain = unit >= 0x20 && unit < 0xd800 && unit !== 0x22 && unit !== 0x5c
    if (!isPlain) return JSON.stringify(text)
  }
  return `"${text}"`
}

/**
 * Most objects have few keys, in order already or nearly so: then moving them by hand is cheaper than `sort`.
 */
function sort(keys: string[]): string[] {
  if (keys.length > 16) return keys.sort()
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index]!
    let place = index
    for (; place > 0 && keys[place - 1]! > key; place--) keys[place] = keys[place - 1]!
    if (place < index) keys[place] = key
  }
  return keys
}

/**
 * Equal values have equal digests, whatever the order in which their keys were written: 128 bits in
 * hexadecimal.
 */
export function digest(value: Json): string {
  return hashText(canonical(value))
}

/**
 * A hash of 128 bits in hexadecimal. It is MurmurHash3 (x86, 128 bits) over the UTF-16 code units of the
 * text, two to a word, except that the last block is filled up with zeros; the length at the end tells such
 * texts apart.
 */
export function hashText(text: string): string {
  const length = text.length
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  for (let at = 0; at < length; at += 8) {
    a = rotate(a ^ scramble(wordAt(text, at, length), 0x239b961b, 15, 0xab0e9789), 19)
    a = (Math.imul((a + b) | 0, 5) + 0x561ccd1b) | 0
    b = rotate(b ^ scramble(wordAt(text, at + 2, length), 0xab0e9789, 16, 0x38b34ae5), 17)
    b = (Math.imul((b + c) | 0, 5) + 0x0bcaa747) | 0
    c = rotate(c ^ scramble(wordAt(text, at + 4, length), 0x38b34ae5, 17, 0xa1e38b93), 15)
    c = (Math.imul((c + d) | 0, 5) + 0x96cd1c35) | 0
    d = rotate(d ^ scramble(wordAt(text, at + 6, length), 0xa1e38b93, 18, 0x239b961b), 13)
    d = (Math.imul((d + a) | 0, 5) + 0x32ac3b17) | 0
  }
  a ^= length
  b ^= length
  c ^= length
  d ^= length
  a = (a + b + c + d) | 0
  b = avalanche((b + a) | 0)
  c = avalanche((c + a) | 0)
  d = avalanche((d + a) | 0)
  a = (avalanche(a) + b + c + d) | 0
  return hexadecimal(a) + hexadecimal((b + a) | 0) + hexadecimal((c + a) | 0) + hexadecimal((d + a) | 0)
}

function wordAt(text: string, at: number, length: number): number {
  if (at + 1 < length) return text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16)
  return at < length ? text.charCodeAt(at) : 0
}

function scramble(word: number, first: number, bits: number, second: number): number {
  return Math.imul(rotate(Math.imul(word, first), bits), second)
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}

/** Makes every bit of the word depend on every other. */
function avalanche(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Eight digits from a table: `toString(16)` and `padStart` would take longer than the hash itself. */
function hexadecimal(word: number): string {
  return BYTES[word >>> 24]! + BYTES[(word >>> 16) & 255]! + BYTES[(word >>> 8) & 255]! + BYTES[word & 255]!
}

/** How deeply lists and objects may be nested in a value that `weight` accepts. */
export const MAX_DEPTH = 64

/** The longest text of a number has 25 bytes: `-0.0000010150915623007502`. */
const SCALAR_WEIGHT = 5

/**
 * How heavy a value is: about the length of its JSON text, and at most six bytes of that text for each unit.
 * The result is something above `limit` for every value that is heavier, or nested deeper than `MAX_DEPTH`.
 * The walk ends there, because one replica may run out of stack where another does not.
 */
export function weight(value: Json, limit: number, depth = 0): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return SCALAR_WEIGHT
  if (depth === MAX_DEPTH) return Number.POSITIVE_INFINITY
  let total = 2
  if (isList(value)) {
    for (let index = 0; index < value.length && total <= limit; index++) {
      total += 1 + weight(value[index]!, limit, depth + 1)
    }
  } else {
    for (const key of Object.keys(value)) {
      total += key.length + 4 + weight(value[key]!, limit, depth + 1)
      if (total > limit) break
    }
  }
  return total
}

/** `Array.isArray` does not narrow readonly arrays. */
export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
