/**
 * What the caller gives, as JSON. `JSON.stringify` makes `null` of a number that is not finite: that would be
 * another value.
 */
import { BadRequestError } from './errors.ts'

export function writeJson(value: unknown): string {
  const paths = new Map<unknown, string>()
  try {
    return JSON.stringify(value, function (this: unknown, name, inner: unknown) {
      const outer = paths.get(this) ?? ''
      const path = outer === '' ? name : `${outer}.${name}`
      if (typeof inner === 'number' && !Number.isFinite(inner)) throw refused(path, `${inner} is not JSON`)
      if (typeof inner === 'object' && inner !== null) paths.set(inner, path)
      return inner
    })
  } catch (error) {
    if (error instanceof BadRequestError) throw error
    // Such as a list that contains itself, or a bigint.
    throw refused('', error instanceof Error ? error.message : String(error))
  }
}

function refused(path: string, message: string): BadRequestError {
  const more = { errors: [{ in: 'body', path, message }] }
  const detail = path === '' ? message : `${path}: ${message}`
  return new BadRequestError({
    ...{ code: 'bad_request', status: 400, detail, retryable: false, outcome: 'not-applied', more },
  })
}
