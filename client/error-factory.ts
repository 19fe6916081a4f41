/** How errors are made: one table says which class a problem of the service becomes. */
import type { Outcome, ProblemCode } from '../shared/api/problems.ts'
import type { SessionError } from '../shared/api/session.ts'
import type { Json } from '../shared/json.ts'
import {
  AbortedError,
  BadRequestError,
  BatonError,
  type BatonErrorFields,
  ConflictError,
  EjectedError,
  ExpiredError,
  ForbiddenError,
  LockedError,
  NetworkError,
  NoQuorumError,
  NotFoundError,
  NotSupportedError,
  ReleasedError,
  ServerError,
  TimeoutError,
  TooLargeError,
  TooManyError,
  UnauthenticatedError,
} from './errors.ts'

const CLASS_BY_CODE: { readonly [Code in ProblemCode]: typeof BatonError } = {
  bad_request: BadRequestError,
  unauthenticated: UnauthenticatedError,
  forbidden: ForbiddenError,
  no_such_lock: NotFoundError,
  no_such_ticket: NotFoundError,
  no_such_key: NotFoundError,
  no_such_route: NotFoundError,
  method_not_allowed: BadRequestError,
  unsupported_media_type: BadRequestError,
  too_large: TooLargeError,
  locked: LockedError,
  conflict: ConflictError,
  ejected: EjectedError,
  released: ReleasedError,
  expired: ExpiredError,
  too_many: TooManyError,
  not_supported: NotSupportedError,
  no_quorum: NoQuorumError,
  misconfigured: ServerError,
  internal: ServerError,
}

/**
 * The error for an answer that is not a success, whether or not it is the problem that the service would have
 * sent.
 */
export function errorFromAnswer(status: number, headers: Headers, body: Json | undefined): BatonError {
  const requestId = headers.get('x-request-id') ?? undefined
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'))
  if (!isProblem(body)) return foreignError(status, { requestId, retryAfterMs })
  const { type: _, status: __, title, code, detail, retryable, outcome, ...more } = body
  const Class = CLASS_BY_CODE[code as ProblemCode] ?? (status >= 500 ? ServerError : BatonError)
  return new Class({
    code,
    status,
    detail: detail ?? title ?? code,
    retryable: retryable === true,
    outcome: outcome as Outcome | undefined,
    retryAfterMs,
    requestId,
    more,
  })
}

/** The error for what a session was refused. */
export function errorFromSession(event: SessionError): BatonError {
  const { type: _, code, detail, outcome, retryable, retryAfterSeconds, opId, lost: __, ...more } = event
  // A service that is newer than this client may have other codes.
  const Class: typeof BatonError = CLASS_BY_CODE[code] ?? BatonError
  return new Class({
    code,
    status: 0,
    detail,
    retryable: retryable === true,
    outcome,
    retryAfterMs: retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000,
    ...(opId !== undefined && { opId }),
    more: more as { readonly [member: string]: Json },
  })
}

/**
 * Not from the service, but from a proxy in front of it, or from something else altogether. Whatever its
 * status, nobody knows whether the request was handed on before.
 */
function foreignError(
  status: number,
  known: Pick<BatonErrorFields, 'requestId' | 'retryAfterMs'>,
): BatonError {
  const detail = `an answer with status ${status} that is not from a Baton service`
  const fields = { ...known, status, detail, outcome: 'unknown' } as const
  if (status === 429) return new TooManyError({ code: 'too_many', retryable: true, ...fields })
  if (status >= 500) return new ServerError({ code: 'unavailable', retryable: true, ...fields })
  return new BatonError({ code: 'unexpected', retryable: false, ...fields })
}

export function networkError(cause: unknown): NetworkError {
  // A Durable Object that is overloaded says so on the error; trying again makes it worse.
  const isOverloaded = (cause as { overloaded?: unknown } | null)?.overloaded === true
  const detail = cause instanceof Error ? cause.message : String(cause)
  return new NetworkError({ code: 'network', status: 0, detail, retryable: !isOverloaded, cause })
}

export function abortedError(signal: AbortSignal): AbortedError {
  return new AbortedError({
    code: 'aborted',
    status: 0,
    detail: 'the signal was aborted',
    retryable: false,
    cause: signal.reason,
  })
}

export function tooLong(most: number): TooLargeError {
  const detail = `the message has more than ${most} characters`
  return new TooLargeError({ code: 'too_large', status: 0, detail, retryable: false, outcome: 'not-applied' })
}

export function timeoutError(detail: string): TimeoutError {
  return new TimeoutError({ code: 'timeout', status: 0, detail, retryable: true })
}

interface Problem {
  readonly code: string
  readonly title?: string
  readonly detail?: string
  readonly [member: string]: Json | undefined
}

function isProblem(body: Json | undefined): body is { readonly [member: string]: Json } & Problem {
  return typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string'
}

/** Seconds. The other form, a date, is by the clock of the service and of no use here. */
function parseRetryAfter(text: string | null): number | undefined {
  const seconds = text === null ? Number.NaN : Number(text)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined
}
