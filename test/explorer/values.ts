/**
 * Copying, freezing and writing down plain values, as fast as a search needs it.
 *
 * What was saved or sent is immutable by contract. The explorer freezes it, so that breaking the contract
 * throws, and a copy shares everything frozen with its original. So a copy holds only what a step can change,
 * and the copier knows nothing about the state's fields: a field that is added to the core is copied,
 * compared and written down like all others.
 */
import { hashText } from '../../shared/resource/canonical.ts'

export function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  if (Array.isArray(value)) for (const item of value) freeze(item)
  else for (const key in value) freeze(value[key])
  return value
}

/** A copy that shares with its original only what is frozen. */
export function copy<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (Array.isArray(value)) {
    const items = value.slice()
    for (let index = 0; index < items.length; index++) {
      const item = items[index]
      if (typeof item === 'object' && item !== null) items[index] = copy(item)
    }
    return items as T
  }
  const fields = { ...value }
  for (const key in fields) {
    const field = fields[key]
    if (typeof field === 'object' && field !== null) fields[key] = copy(field)
  }
  return fields
}

/**
 * The text of a value, the same for equal values and for no others. Unlike JSON it tells `undefined` in a
 * list (no answer) from `null` (an empty answer), which makes all the difference for the promises of Paxos.
 */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`
  if (typeof value !== 'object' || value === null) return `${value}`
  let text = ''
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) text += `${textOf(value[index])},`
    return `[${text}]`
  }
  const fields = value as { readonly [key: string]: unknown }
  const keys = Object.keys(fields)
  if (!areSorted(keys)) keys.sort()
  for (let index = 0; index < keys.length; index++) {
    const field = fields[keys[index]!]
    if (field !== undefined) text += `${keys[index]}:${textOf(field)},`
  }
  return `{${text}}`
}

function areSorted(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index++) if (keys[index - 1]! > keys[index]!) return false
  return true
}

/** Gives equal values the same number, from 0 on. Equality is that of 128-bit hashes of their texts. */
export class Numbering {
  private readonly numbers = new Map<string, number>()

  get size(): number {
    return this.numbers.size
  }

  /** The number, and whether the value is new. */
  number(text: string): { readonly id: number; readonly isNew: boolean } {
    const key = hashText(text)
    const known = this.numbers.get(key)
    if (known !== undefined) return { id: known, isNew: false }
    const id = this.numbers.size
    this.numbers.set(key, id)
    return { id, isNew: true }
  }
}
