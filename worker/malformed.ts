/**
 * A request without an address: its `Host` is missing or invalid, or there are two of them; or it is for no
 * path at all, as in `OPTIONS *`. The code behind this could not find out where the request came to.
 */
import type { FieldError } from '../shared/api/problems.ts'
import { summarize } from '../shared/api/validation.ts'
import { addressOf } from './address.ts'
import { problemAnswer } from './problem-answer.ts'

/** The runtime puts what stands for the path right behind the host. */
const WITHOUT_PATH = /^https?:\/\/[^/?#]*\*$/

export function refuseMalformed(request: Request): Response | null {
  if (WITHOUT_PATH.test(request.url))
    return refuse(request, { in: 'path', path: '', message: 'must begin with a slash' })
  if (addressOf(request.url) !== null) return null
  const error: FieldError = { in: 'header', path: 'host', message: 'is not the name of a host' }
  return refuse(request, error, 'The header host is not the name of a host.')
}

function refuse(request: Request, error: FieldError, detail = summarize([error])): Response {
  return problemAnswer(request, 'bad_request', detail, { errors: [error] })
}
