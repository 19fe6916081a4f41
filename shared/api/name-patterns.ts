/** Names of locks as the entry of a key has them: a name, or the beginning of names with a `*` at the end. */

const beginningOf = (pattern: string): string => (isBeginning(pattern) ? pattern.slice(0, -1) : pattern)

const isBeginning = (pattern: string): boolean => pattern.endsWith('*')

export const matches = (pattern: string, name: string): boolean =>
  isBeginning(pattern) ? name.startsWith(beginningOf(pattern)) : name === pattern

/**
 * Which names that begin with `prefix` fit one of the patterns: as patterns that have no name in common, in
 * the order of their names.
 */
export function patternsBelow(patterns: readonly string[], prefix: string): readonly string[] {
  const below = patterns.flatMap(pattern => {
    if (matches(`${prefix}*`, beginningOf(pattern))) return [pattern]
    return isBeginning(pattern) && matches(pattern, prefix) ? [`${prefix}*`] : []
  })
  const isCovered = (pattern: string) =>
    below.some(other => other !== pattern && isBeginning(other) && matches(other, beginningOf(pattern)))
  return [...new Set(below)].filter(pattern => !isCovered(pattern)).sort()
}

/** What all names that fit one of the patterns begin with. */
export function commonBeginning(patterns: readonly string[]): string {
  const [first = '', ...others] = patterns.map(beginningOf)
  let length = first.length
  while (!others.every(other => other.startsWith(first.slice(0, length)))) length--
  return first.slice(0, length)
}

/** The place of the first of these sorted names that comes after `after` and may fit the pattern. */
export function firstPlace(names: readonly string[], pattern: string, after: string): number {
  const beginning = beginningOf(pattern)
  let [low, high] = [0, names.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const name = names[middle]!
    if (name <= after || name < beginning) low = middle + 1
    else high = middle
  }
  return low
}
