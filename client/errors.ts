/**
 * Everything that this client throws, except what a caller's own callback throws. `code` tells the classes
 * apart where `instanceof` does not reach.
 */
import type { FieldError, Outcome } from '../shared/api/problems.ts'
import type { Json } from '../shared/json.ts'
import type { Holder, WaitingUsers } from './types.ts'

export type { FieldError, Outcome }

export interface BatonErrorFields {
  readonly code: string
  /** The HTTP status; 0 if no answer came. */
  readonly status: number
  readonly detail: string
  readonly retryable: boolean
  readonly outcome?: Outcome | undefined
  readonly retryAfterMs?: number | undefined
  /**
   * The operation at stake. Sending it again under this id applies nothing twice and tells what became of it.
   */
  readonly opId?: string | undefined
  /** What the service calls this request in its logs. */
  readonly requestId?: string | undefined
  /** Further members of the problem. */
  readonly more?: { readonly [member: string]: Json }
  readonly cause?: unknown
}

/**
 * @example
 * try {
 *   await lock.transact([{ increment: 'sold' }])
 * } catch (error) {
 *   if (error instanceof BatonError && error.outcome === 'unknown') await askAgainLater(error.opId)
 *   else throw error
 * }
 */
export class BatonError extends Error implements BatonErrorFields {
  override readonly name: string = 'BatonError'
  readonly code: string
  readonly status: number
  readonly detail: string
  /**
   * The same call may succeed later. It is safe to repeat if `outcome` is not `unknown`, or with the same
   * `opId`.
   */
  readonly retryable: boolean
  /**
   * What this call did to its operation. `not-applied`: it never will be; `unknown`: it may be, now or later.
   */
  readonly outcome: Outcome | undefined
  readonly retryAfterMs: number | undefined
  readonly opId: string | undefined
  readonly requestId: string | undefined
  readonly more: { readonly [member: string]: Json }

  constructor(fields: BatonErrorFields) {
    super(
      `${fields.code}: ${fields.detail}`,
      fields.cause === undefined ? undefined : { cause: fields.cause },
    )
    this.code = fields.code
    this.status = fields.status
    this.detail = fields.detail
    this.retryable = fields.retryable
    this.outcome = fields.outcome
    this.retryAfterMs = fields.retryAfterMs
    this.opId = fields.opId
    this.requestId = fields.requestId
    this.more = fields.more ?? {}
  }

  /** The same error, with more that is known. */
  with(known: Partial<BatonErrorFields>): BatonError {
    const Class = this.constructor as new (fields: BatonErrorFields) => BatonError
    const { code, status, detail, retryable, outcome, retryAfterMs, opId, requestId, more, cause } = this
    return new Class({
      ...{ code, status, detail, retryable, outcome, retryAfterMs, opId, requestId, more, cause },
      ...known,
    })
  }
}

/** Somebody else holds the lock, and the time to wait is over. */
export class LockedError extends BatonError {
  override readonly name: string = 'LockedError'
  get holder(): Holder | undefined {
    return this.more.holder as Holder | undefined
  }
  /** Who else waits, if that is known. */
  get waiting(): WaitingUsers | undefined {
    return this.more.waiting as WaitingUsers | undefined
  }
}

/** The grant is over: {@link EjectedError}, {@link ExpiredError} or {@link ReleasedError}. */
export class GrantOverError extends BatonError {
  override readonly name: string = 'GrantOverError'
}
/** The participants, or an operator, took the lock from its holder. */
export class EjectedError extends GrantOverError {
  override readonly name: string = 'EjectedError'
}
/** No keep-alive came in time. */
export class ExpiredError extends GrantOverError {
  override readonly name: string = 'ExpiredError'
}
export class ReleasedError extends GrantOverError {
  override readonly name: string = 'ReleasedError'
}

/** A majority of the lock's participants is not reachable. */
export class NoQuorumError extends BatonError {
  override readonly name: string = 'NoQuorumError'
}
/** The lock is configured otherwise, or the `opId` was used for other ops. */
export class ConflictError extends BatonError {
  override readonly name: string = 'ConflictError'
}
export class BadRequestError extends BatonError {
  override readonly name: string = 'BadRequestError'
  /** What is wrong, and where. */
  get errors(): readonly FieldError[] {
    return (this.more.errors ?? []) as unknown as readonly FieldError[]
  }
}
export class UnauthenticatedError extends BatonError {
  override readonly name: string = 'UnauthenticatedError'
}
export class ForbiddenError extends BatonError {
  override readonly name: string = 'ForbiddenError'
}
export class NotFoundError extends BatonError {
  override readonly name: string = 'NotFoundError'
}
export class TooLargeError extends BatonError {
  override readonly name: string = 'TooLargeError'
}
/** A queue, a rate or a quota is full; `retryAfterMs` says when to come back. */
export class TooManyError extends BatonError {
  override readonly name: string = 'TooManyError'
}
/** The lock's protocol cannot do this. */
export class NotSupportedError extends BatonError {
  override readonly name: string = 'NotSupportedError'
}
/** A value is not what the schema of its key says: one that was read, or one that was not sent. */
export class SchemaError extends BatonError {
  override readonly name: string = 'SchemaError'
  /** As the library of the schema describes them. */
  readonly issues: readonly { readonly message: string }[]

  constructor(fields: BatonErrorFields, issues: readonly { readonly message: string }[] = []) {
    super(fields)
    this.issues = issues
  }
}
/** The service failed, or something in front of it did. */
export class ServerError extends BatonError {
  override readonly name: string = 'ServerError'
}
/** No answer came, or not a whole one: the request may have been carried out all the same. */
export class NetworkError extends BatonError {
  override readonly name: string = 'NetworkError'
}
/** No answer came in time: the request may have been carried out all the same. */
export class TimeoutError extends NetworkError {
  override readonly name: string = 'TimeoutError'
}
/** The caller's signal was aborted; `cause` is its reason. Its name is the platform's for this. */
export class AbortedError extends BatonError {
  override readonly name: string = 'AbortError'
}
