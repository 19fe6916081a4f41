/** What a recipe throws by itself, in the shapes of the client's own errors. */
import {
  BatonError,
  ExpiredError,
  LockedError,
  TimeoutError,
  TooLargeError,
  TooManyError,
} from '../client/index.ts'

/** The time to wait is over. */
export const notInTime = (detail: string): LockedError =>
  new LockedError({ code: 'locked', status: 409, detail, retryable: true })

/** The time to wait is over, and what was to be taken back then may still be there. */
export const notTold = (detail: string): TimeoutError =>
  new TimeoutError({ code: 'timeout', status: 0, detail, retryable: true, outcome: 'unknown' })

/** Others have given this one up, because it showed no sign of life for too long. */
export const givenUp = (detail: string): ExpiredError =>
  new ExpiredError({ code: 'expired', status: 410, detail, retryable: false })

/** Something has as many as it may have. */
export const full = (detail: string): TooManyError =>
  new TooManyError({ code: 'too_many', status: 429, detail, retryable: true, outcome: 'not-applied' })

/** Whether it may be done again: it was refused, or it was no operation. */
export const isNothingDone = ({ outcome }: BatonError): boolean =>
  outcome === undefined || outcome === 'not-applied'

interface Failed {
  /** Which op of the batch failed. */
  readonly index: number
  readonly code: string
}

/** The op that kept a batch from being applied. */
export function failedOp(results: readonly object[]): Failed {
  const index = results.findIndex(result => 'error' in result)
  const { error = 'refused' } = (results[index] ?? {}) as { readonly error?: string }
  return { index, code: error }
}

/** A batch that was not applied, as an error. */
export function notApplied(results: readonly object[]): BatonError {
  const { index, code } = failedOp(results)
  const Class = code === 'too_large' ? TooLargeError : BatonError
  const detail = `nothing was applied, because op ${index + 1} failed: ${code}`
  return new Class({ code, status: 200, detail, retryable: false, outcome: 'not-applied' })
}
