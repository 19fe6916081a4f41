/** How heavy a value is that the service itself has made: what is nested too deep for `weight` too. */
import type { Json } from '../../../shared/json.ts'
import { weight } from '../../../shared/resource/canonical.ts'

/** What is nested too deep for `weight` is as heavy as its text is long. */
export function weigh(value: Json): number {
  const found = weight(value, Number.POSITIVE_INFINITY)
  return Number.isFinite(found) ? found : JSON.stringify(value).length
}
