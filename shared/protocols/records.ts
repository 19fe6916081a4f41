/**
 * Durable state and its records. A record's key is the name of a part of the state, or a family and a name
 * like `log/17`: one record for each member of a part that grows, so that a step writes only what it changes.
 */
import type { Json } from '../json.ts'

/** Puts one record back, which has this name in its family. */
export type Restore = (value: Json, name: string) => void

/** By family, or by the name of a part that is one record. */
export type Restorers = { readonly [family: string]: Restore }

/** Parts that are one record each. */
export function parts<Durable extends object>(
  durable: Durable,
  ...names: (keyof Durable & string)[]
): Restorers {
  const restore =
    (name: string): Restore =>
    value =>
      Object.assign(durable, { [name]: value })
  return Object.fromEntries(names.map(name => [name, restore(name)]))
}

/**
 * Puts all records back, in whatever order they come. A record that this version does not know is left where
 * it is. Returns whether there were any.
 */
export function restoreAll(
  records: Iterable<readonly [key: string, value: Json]>,
  restorers: Restorers,
): boolean {
  let hasAny = false
  for (const [key, value] of records) {
    hasAny = true
    const slash = key.indexOf('/')
    const family = slash === -1 ? key : key.slice(0, slash)
    if (Object.hasOwn(restorers, family)) restorers[family]!(value, key.slice(slash + 1))
  }
  return hasAny
}
