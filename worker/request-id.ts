/** What a request is called in its answer and in the log. */

const MAX_LENGTH = 255
const USABLE = /^[\w=-]+$/

/** The caller's own, if it has one that can stand in a log. */
export function requestIdOf(headers: Headers): string {
  const given = headers.get('x-request-id')
  const isUsable = given !== null && given.length <= MAX_LENGTH && USABLE.test(given)
  return isUsable ? given : crypto.randomUUID()
}
