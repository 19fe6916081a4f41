/**
 * What a value is after it went over a wire or to a disk. The original is frozen, too: code that changes
 * something in place that was saved or sent is found at once, because modules are strict and writing to a
 * frozen object throws.
 */
export function frozenCopy(value: unknown): unknown {
  freeze(value)
  return freeze(JSON.parse(JSON.stringify(value)))
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const part of Object.values(value)) freeze(part)
  return value
}
