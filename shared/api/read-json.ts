/**
 * JSON as it comes from outside, read once and at every door in the same way. `JSON.parse` makes `Infinity`
 * of 1e400 and keeps the sign of -0, and neither survives being written again: one participant would have
 * another value than the others.
 */
import type { FieldError } from './problems.ts'

type Mistake = Omit<FieldError, 'in'>
export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  /** `value`: as far as it can be read, to find out what it was about. */
  | { readonly ok: false; readonly mistake: Mistake; readonly value?: unknown }

export const NOT_FINITE = 'is a number that no double can hold'

/** Without one of these in the text, every number in it is what it looks like. */
const SUSPICIOUS = /[0-9][eE]|-0|[0-9]{300}/

export function readJson(text: string): ReadJson {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { ok: false, mistake: { path: '', message: 'is not JSON' } }
  }
  if (!SUSPICIOUS.test(text)) return { ok: true, value }
  // In a list, so that the value itself can be replaced like any other.
  const root = [value]
  const path = checkNumbers(root)
  if (path !== null) return { ok: false, mistake: { path, message: NOT_FINITE }, value }
  return { ok: true, value: root[0] }
}

interface Node {
  readonly value: { [name: string]: unknown }
  readonly name: string
  readonly parent: Node | null
}

/**
 * The path of the first number that is not finite. Makes 0 of -0. Not recursive: what is nested too deep is
 * refused later.
 */
function checkNumbers(root: unknown[]): string | null {
  const rest: Node[] = [{ value: root as unknown as Node['value'], name: '', parent: null }]
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    for (const [name, value] of Object.entries(node.value)) {
      if (typeof value === 'number') {
        if (!Number.isFinite(value)) return pathOf(node, name)
        if (value === 0) node.value[name] = 0
      } else if (typeof value === 'object' && value !== null) {
        rest.push({ value: value as Node['value'], name, parent: node })
      }
    }
  }
  return null
}

/** Without the list around the whole. */
function pathOf(node: Node, name: string): string {
  const names = [name]
  for (let at: Node | null = node; at.parent !== null; at = at.parent) names.unshift(at.name)
  return names.slice(1).join('.')
}
