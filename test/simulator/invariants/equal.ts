/** Equality of plain values, for the many comparisons of a run. Nothing that a run makes is nested deeply. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false
    for (let index = 0; index < one.length; index++) if (!isEqual(one[index], other[index])) return false
    return true
  }
  if (Array.isArray(other)) return false
  let keys = 0
  for (const key in one) {
    if (!(key in other) || !isEqual(one[key as keyof typeof one], other[key as keyof typeof other]))
      return false
    keys++
  }
  for (const _ in other) keys--
  return keys === 0
}
