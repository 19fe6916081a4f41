/**
 * A request without an address: its `Host` is missing or invalid, or there are two of them. The code behind
 * this could not find out where the request came to.
 */
import { problem } from '../shared/api/problems.ts'
import { addressOf } from './address.ts'
import { problemAnswer } from './problem-answer.ts'

export function refuseMalformed(request: Request): Response | null {
  if (addressOf(request.url) !== null) return null
  const errors = [{ in: 'header', path: 'host', message: 'is not the name of a host' }] as const
  return problemAnswer(problem('bad_request', 'The header host is not the name of a host.', { errors }))
}
