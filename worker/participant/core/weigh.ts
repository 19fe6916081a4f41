/** How heavy a value is that the service itself has made, even if it is nested too deeply for `weight`. */
import type { Json } from '../../../shared/json.ts'
import { weight } from '../../../shared/resource/canonical.ts'

/** A value that is nested too deeply for `weight` is as heavy as its text is long. */
export function weigh(value: Json): number {
  const found = weight(value, Number.POSITIVE_INFINITY)
  return Number.isFinite(found) ? found : JSON.stringify(value).length
}
