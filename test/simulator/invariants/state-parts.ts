/**
 * What the simulator may know about the state of every protocol: its three parts, and that they are plain
 * values.
 */
import type { Protocol } from '../../../shared/protocols/protocol.ts'
import type { Participant } from '../participant.ts'
import { violate } from '../violation.ts'
import { isEqual } from './equal.ts'

export interface StateInParts {
  /** What is stored. */
  readonly durable: object
  /** What follows from it. */
  readonly derived?: object
  /** What a crash takes. */
  readonly soft: object
}

/**
 * I20: the recovered state is a function of storage. What the process believes to be durable is what it would
 * come back with.
 */
export function checkRecovered<State extends StateInParts, Message>(
  { recover }: Protocol<State, Message>,
  { id, context, state, storage }: Participant<State, Message>,
): void {
  const recovered = recover(context, storage)
  for (const part of ['durable', 'derived'] as const) {
    const here = state[part] as { readonly [name: string]: unknown } | undefined
    const back = recovered[part] as { readonly [name: string]: unknown } | undefined
    if (here === undefined || back === undefined || isEqual(here, back)) continue
    const names = new Set([...Object.keys(here), ...Object.keys(back)])
    const name = [...names].find(field => !isEqual(here[field], back[field]))!
    const texts = [back[name], here[name]].map(value => JSON.stringify(value))
    violate('I20', `p${id} would come back with another '${part}.${name}': ${texts[0]}, not ${texts[1]}`)
  }
}

export interface Part {
  readonly path: string
  readonly size: number
}

/**
 * The longest list or table in a plain value, and where it is. The guarded state does not count: users decide
 * what is in it.
 */
export function longestPart(value: unknown, cells: unknown = null, path = 'state'): Part {
  if (typeof value !== 'object' || value === null || value === cells) return { path, size: 0 }
  const parts = Object.entries(value)
  let longest = { path, size: parts.length }
  for (const [name, part] of parts) {
    const inside = longestPart(part, cells, `${path}.${name}`)
    if (inside.size > longest.size) longest = inside
  }
  return longest
}
