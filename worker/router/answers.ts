/** Makes responses from the answers of participants, and from what the router itself refuses. */
import type { ContentfulStatusCode } from 'hono/utils/http-status'
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

/** No answer about a lock stays true for long, so nobody may store it. */
export const NOT_STORED = { 'cache-control': 'no-store' }

export function problemResponse(
  c: RouterContext,
  code: ProblemCode,
  detail: string,
  options: ProblemResponseOptions = {},
): Response {
  c.set('problemCode', code)
  const { status } = PROBLEMS[code]
  const headers: Record<string, string> = {
    ...NOT_STORED,
    'content-type': PROBLEM_MEDIA_TYPE,
    ...options.headers,
  }
  const comesBack = status === 429 || status === 503
  if (comesBack) headers['retry-after'] = String(Math.max(1, Math.ceil(options.retryAfterSeconds ?? 1)))
  const more = { ...options.more, requestId: c.get('requestId') }
  const body = JSON.stringify(problem(code, detail, { ...options, more }))
  return c.body(body, status as ContentfulStatusCode, headers)
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

export function json(c: RouterContext, status: ContentfulStatusCode, body: unknown, headers = {}): Response {
  return c.json(body as never, status, { ...NOT_STORED, ...headers })
}

export function nothing(c: RouterContext): Response {
  return c.body(null, 204, NOT_STORED)
}

/** What a participant said, as it said it. */
export function pass(c: RouterContext, answer: Exclude<Routed, { readonly type: 'gone' }>): Response {
  if (answer.type === 'opened') throw new Error('a stream where an answer was expected')
  if (answer.type === 'problem') {
    const { code, detail, outcome, more, retryAfterSeconds } = answer
    return problemResponse(c, code, detail, { outcome, more, retryAfterSeconds })
  }
  return answer.status === 204 ? nothing(c) : json(c, answer.status, answer.body)
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
