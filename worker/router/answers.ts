/** Makes responses from the answers of participants, and from what the router itself refuses. */
import {
  type FieldError,
  PROBLEM_MEDIA_TYPE,
  PROBLEMS,
  type ProblemCode,
  type ProblemOptions,
  problem,
} from '../../shared/api/problems.ts'
import { summarize } from '../../shared/api/validation.ts'
import { type LogEntry, logEntry } from '../../shared/log.ts'
import type { RouterContext } from './context.ts'
import type { Routed } from './routing.ts'

export interface ProblemResponseOptions extends ProblemOptions {
  readonly retryAfterSeconds?: number | undefined
  readonly headers?: { readonly [name: string]: string }
}

// ---------------------------------------------------------------- every answer

/** What every answer has, unless it says otherwise. Nothing that a lock says is true for long. */
const USUAL = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  // The other names below this domain are none of our business.
  'strict-transport-security': 'max-age=15552000',
  'x-content-type-options': 'nosniff',
}

/** Made once: to copy them costs less than to make them from an object. */
const USUAL_HEADERS = new Headers(USUAL)
const JSON_HEADERS = new Headers({ ...USUAL, 'content-type': 'application/json' })

/** All answers of the router are made here. A `content-type` is needed for what is not JSON. */
export function respond(
  c: RouterContext,
  status: number,
  body: string | ReadableStream<Uint8Array> | null,
  more: { readonly [name: string]: string } = {},
): Response {
  const headers = new Headers(body === null ? USUAL_HEADERS : JSON_HEADERS)
  for (const name in more) headers.set(name, more[name]!)
  headers.set('x-request-id', c.get('requestId'))
  headers.set('server-timing', `total;dur=${elapsedMs(c)}`)
  return new Response(body, { status, headers })
}

/** To a tenth of a millisecond; most platforms tell no more. */
function elapsedMs(c: RouterContext): number {
  return Math.round((performance.now() - c.get('began')) * 10) / 10
}

// ---------------------------------------------------------------- kinds of answers

export function problemResponse(
  c: RouterContext,
  code: ProblemCode,
  detail: string,
  options: ProblemResponseOptions = {},
): Response {
  c.set('problemCode', code)
  const { status } = PROBLEMS[code]
  const headers: Record<string, string> = { 'content-type': PROBLEM_MEDIA_TYPE, ...options.headers }
  const comesBack = status === 429 || status === 503
  if (comesBack) headers['retry-after'] = String(Math.max(1, Math.ceil(options.retryAfterSeconds ?? 1)))
  const more = { ...options.more, requestId: c.get('requestId') }
  const body = JSON.stringify(problem(code, detail, { ...options, more }))
  return respond(c, status, body, headers)
}

export function malformed(c: RouterContext, errors: readonly FieldError[]): Response {
  return problemResponse(c, 'bad_request', summarize(errors), { errors })
}

export function oversized(c: RouterContext, errors: readonly FieldError[]): Response {
  return problemResponse(c, 'too_large', summarize(errors), { errors })
}

/** For an `at` that the lock does not have. */
export function noSuchParticipant(c: RouterContext, place: 'body' | 'query', participant: number): Response {
  return malformed(c, [
    { in: place, path: 'at', message: `is ${participant}, and this lock has no such participant` },
  ])
}

export function json(c: RouterContext, status: number, body: unknown, headers = {}): Response {
  return respond(c, status, JSON.stringify(body), headers)
}

export function nothing(c: RouterContext): Response {
  return respond(c, 204, null)
}

/** What a participant said, as it said it. */
export function pass(
  c: RouterContext,
  answer: Exclude<Routed, { readonly type: 'gone' }>,
  headers: { readonly [name: string]: string } = {},
): Response {
  if (answer.type === 'opened') throw new Error('a stream where an answer was expected')
  if (answer.type === 'problem') {
    const { code, detail, outcome, more, retryAfterSeconds } = answer
    return problemResponse(c, code, detail, { outcome, more, retryAfterSeconds })
  }
  if (answer.status === 204) return nothing(c)
  return answer.type === 'passed'
    ? respond(c, answer.status, answer.text, headers)
    : json(c, answer.status, answer.body, headers)
}

/** A defect. What happened goes to the log, and nothing of it to the client. */
export function defect(
  c: RouterContext,
  error: unknown,
  log: (entry: LogEntry) => void,
  outcome?: 'unknown',
): Response {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  log(logEntry('defect', { detail: message, requestId: c.get('requestId'), stack }))
  const detail = 'This is a defect of the service. Its log has more under the request id.'
  return problemResponse(c, 'internal', detail, { outcome })
}
