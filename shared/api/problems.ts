/**
 * The one table of what can go wrong, as the public contract has it. All code that refuses something names a
 * code of this table; status, title and whether it makes sense to try again follow from it. The answer is a
 * problem (RFC 9457).
 */
import type { Json } from '../json.ts'

export interface ProblemKind {
  readonly status: number
  readonly title: string
  /** The same request, unchanged, may succeed later. */
  readonly retryable: boolean
}

export const PROBLEMS = {
  bad_request: { status: 400, title: 'The request is malformed', retryable: false },
  unauthenticated: { status: 401, title: 'A valid key is needed', retryable: false },
  forbidden: { status: 403, title: 'The key does not allow this', retryable: false },
  no_such_ticket: { status: 404, title: 'There is no such ticket', retryable: false },
  no_such_key: { status: 404, title: 'There is no such key', retryable: false },
  no_such_route: { status: 404, title: 'There is nothing at this path', retryable: false },
  method_not_allowed: { status: 405, title: 'This path has other methods', retryable: false },
  too_large: { status: 413, title: 'Something is over its limit', retryable: false },
  unsupported_media_type: { status: 415, title: 'The body must be JSON', retryable: false },
  locked: { status: 409, title: 'The lock was not granted in time', retryable: true },
  conflict: { status: 409, title: 'This contradicts what is there already', retryable: false },
  ejected: { status: 410, title: 'The holder was forced out', retryable: false },
  released: { status: 410, title: 'The grant was released', retryable: false },
  expired: { status: 410, title: 'The grant ran out of time', retryable: false },
  too_many: { status: 429, title: 'Too much at once', retryable: true },
  not_supported: { status: 501, title: 'The lock cannot do this', retryable: false },
  no_quorum: { status: 503, title: 'A majority is not reachable', retryable: true },
  /** A variable of the deployment is wrong: nothing is served until it is mended. */
  misconfigured: { status: 503, title: 'The service is not set up correctly', retryable: false },
  /** Always a defect. */
  internal: { status: 500, title: 'Something is broken', retryable: false },
} as const satisfies { readonly [code: string]: ProblemKind }

export type ProblemCode = keyof typeof PROBLEMS

export const PROBLEM_CODES = Object.keys(PROBLEMS) as readonly ProblemCode[]

export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

/**
 * What became of the operation in question. `not-applied`: this request has not applied it and never will.
 */
export type Outcome = 'applied' | 'not-applied' | 'unknown'

/** One thing that is wrong with a request. */
export interface FieldError {
  readonly in: 'body' | 'query' | 'path' | 'header'
  /** Names and indices from the outside to the inside, joined by dots: `ops.0.put`. Empty for the whole. */
  readonly path: string
  readonly message: string
}

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ProblemCode
  readonly retryable: boolean
  readonly outcome?: Outcome
  readonly errors?: readonly FieldError[]
}

export interface ProblemOptions {
  readonly outcome?: Outcome | undefined
  readonly errors?: readonly FieldError[] | undefined
  /** Further members, such as `holder`. They cannot replace those of the table. */
  readonly more?: { readonly [member: string]: Json } | undefined
}

/**
 * @example
 * problem('locked', 'The lock was not granted within 10000 ms.', { more: { holder } })
 */
export function problem(code: ProblemCode, detail: string, options: ProblemOptions = {}): Problem {
  const { outcome, errors, more } = options
  const { status, title, retryable } = PROBLEMS[code]
  const own: Problem = {
    type: problemType(code),
    title,
    status,
    detail,
    code,
    retryable,
    ...(outcome !== undefined && { outcome }),
    ...(errors !== undefined && { errors }),
  }
  // Twice: once so that they come first, for whoever reads it, and once so that nothing replaces them.
  return { ...own, ...more, ...own }
}

/**
 * A name, not an address: it stays the same wherever the service is mounted. The page at `/docs` explains
 * each.
 */
export function problemType(code: ProblemCode): string {
  return `urn:baton:problem:${code}`
}
