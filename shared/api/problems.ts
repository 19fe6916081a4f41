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
  /** What whoever gets it can do about it: for the human page. */
  readonly advice: string
}

export const PROBLEMS = {
  bad_request: {
    status: 400,
    title: 'The request is malformed',
    retryable: false,
    advice: 'Read `errors`: it names each field, and says what is wrong with it.',
  },
  unauthenticated: {
    status: 401,
    title: 'A valid key is needed',
    retryable: false,
    advice: 'Send a key as `Authorization: Bearer <key>`.',
  },
  forbidden: {
    status: 403,
    title: 'The key does not allow this',
    retryable: false,
    advice: 'Use a key whose entry has this verb and this lock.',
  },
  no_such_lock: {
    status: 404,
    title: 'There is no such lock',
    retryable: false,
    advice:
      'Nobody has used or configured it, or it was deleted. An acquire, a transact, a session or a PUT creates it.',
  },
  no_such_ticket: {
    status: 404,
    title: 'There is no such ticket',
    retryable: false,
    advice: 'Acquire again: the ticket was withdrawn, or nobody asked for it in time.',
  },
  no_such_key: {
    status: 404,
    title: 'There is no such key',
    retryable: false,
    advice: 'The key was never put, or it was deleted.',
  },
  no_such_route: {
    status: 404,
    title: 'There is nothing at this path',
    retryable: false,
    advice: 'Look at the path: this page lists what there is.',
  },
  method_not_allowed: {
    status: 405,
    title: 'This path has other methods',
    retryable: false,
    advice: 'Use a method that the header `Allow` lists.',
  },
  too_large: {
    status: 413,
    title: 'Something is over its limit',
    retryable: false,
    advice: 'Send less: `errors` or `detail` says what is over which limit.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body must be JSON',
    retryable: false,
    advice: 'Send JSON, with `Content-Type: application/json`.',
  },
  locked: {
    status: 409,
    title: 'Somebody else holds the lock',
    retryable: true,
    advice:
      'Wait longer, or try again later; `holder` says until when the lock is held, if that is known. A DELETE with ' +
      '`?force=true` ejects the holder.',
  },
  conflict: {
    status: 409,
    title: 'This contradicts what is there already',
    retryable: false,
    advice: 'Do not repeat it: `detail` says what differs from what is there.',
  },
  ejected: {
    status: 410,
    title: 'The holder was forced out',
    retryable: false,
    advice: 'Acquire again. Read `outcome` before you repeat an operation.',
  },
  released: {
    status: 410,
    title: 'The grant was released',
    retryable: false,
    advice: 'Acquire again.',
  },
  expired: {
    status: 410,
    title: 'The grant ran out of time',
    retryable: false,
    advice: 'Acquire again, with a longer `ttlMs` or with keepalives in time.',
  },
  too_many: {
    status: 429,
    title: 'Too much at once',
    retryable: true,
    advice: 'Wait for the seconds of `Retry-After`, then try again.',
  },
  not_supported: {
    status: 501,
    title: 'The lock cannot do this',
    retryable: false,
    advice: 'Configure a lock with a protocol that can do this.',
  },
  no_quorum: {
    status: 503,
    title: 'A majority is not reachable',
    retryable: true,
    advice: 'Try again after `Retry-After`; an operation with the same `opId`.',
  },
  /** A variable of the deployment is wrong: nothing is served until it is mended. */
  misconfigured: {
    status: 503,
    title: 'The service is not set up correctly',
    retryable: false,
    advice: 'Tell whoever runs the service: `detail` names the variable.',
  },
  /** Always a defect. */
  internal: {
    status: 500,
    title: 'Something is broken',
    retryable: false,
    advice: 'Report it, with the `requestId`.',
  },
} as const satisfies { readonly [code: string]: ProblemKind }

/** Whether there never was one, or it was deleted. */
export const NO_SUCH_LOCK =
  'There is no such lock (any more). Its first acquire, transact or session creates it.'

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
