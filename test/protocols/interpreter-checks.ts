/** What an interpreter of effects may rely on, asserted while it interprets them. */
import type { Json } from '../../shared/json.ts'
import type { Effect } from '../../shared/protocols/protocol.ts'

/** What every interpreter asserts: everything said rests on what is written, so the one save comes first. */
export function assertSaveFirst(effects: readonly Effect<unknown>[]): void {
  const late = effects.findIndex((effect, place) => effect.type === 'save' && place > 0)
  if (late !== -1) throw new Error('a step saves after its first effect')
}

/**
 * A record is kept by reference and must never change afterwards; freezing it makes any change in place
 * throw.
 */
export function frozen(value: Json): Json {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}
