/**
 * Equality of JSON values, and short texts of them for messages. The input may be hostile, so neither can
 * exhaust the stack.
 */
import type { Json } from '../json.ts'

/** Deep equality. The order of an object's keys does not matter. */
export function equalJson(left: Json, right: Json): boolean {
  if (left === right) return true
  if (!isCompound(left) || !isCompound(right)) return false
  const pairs: [Compound, Compound][] = [[left, right]]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [one, other] = pair
    if (Array.isArray(one) !== Array.isArray(other)) return false
    const keys = Object.keys(one)
    if (keys.length !== Object.keys(other).length) return false
    for (const key of keys) {
      if (!Object.hasOwn(other, key)) return false
      const inOne = one[key]!
      const inOther = other[key]!
      if (inOne === inOther) continue
      if (!isCompound(inOne) || !isCompound(inOther)) return false
      pairs.push([inOne, inOther])
    }
  }
  return true
}

/** Lists count as objects whose keys are their indices. */
type Compound = { readonly [key: string]: Json }

function isCompound(value: Json): value is Compound {
  return typeof value === 'object' && value !== null
}

const SHOWN_CHARACTERS = 120

/** The value as JSON, cut off where it gets long. */
export function show(value: unknown, characters = SHOWN_CHARACTERS): string {
  let text: string
  try {
    text = JSON.stringify(value) ?? 'nothing'
  } catch {
    // The value is nested too deeply for JSON.stringify.
    return 'a deeply nested value'
  }
  return text.length <= characters ? text : `${text.slice(0, characters)}…`
}
