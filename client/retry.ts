/**
 * Repeats a call while that is safe and may help. Retries are bounded, and spread out so that clients do not
 * fall into step.
 */
import type { Clock } from './clock.ts'
import { abortedError } from './error-factory.ts'
import { BatonError, LockedError, NoQuorumError, TooManyError } from './errors.ts'

export interface RetryOptions {
  /** Requests for one call, the first included. */
  readonly attempts?: number
  /** The first pause is at most this long; each further one may be twice as long as the one before. */
  readonly firstPauseMs?: number
  readonly longestPauseMs?: number
  /** No attempt begins later than this after the first. */
  readonly totalMs?: number
}

export const DEFAULT_RETRY: Required<RetryOptions> = {
  attempts: 8,
  firstPauseMs: 100,
  longestPauseMs: 5_000,
  totalMs: 30_000,
}

/**
 * Whether a call may be repeated:
 * - `always`: doing it twice is the same as doing it once;
 * - `if-refused`: only after an answer that says that nothing was done, not after none at all;
 * - `never`.
 */
export type Repeat = 'always' | 'if-refused' | 'never'

export interface Retrying {
  readonly clock: Clock
  /** Between 0 and 1. */
  readonly random: () => number
  readonly options: Required<RetryOptions>
}

export interface RetryLimits {
  readonly repeat: Repeat
  readonly signal?: AbortSignal | undefined
  /**
   * Replaces the usual limits: no attempt begins after this time, by the clock, and there may be any number
   * of them.
   */
  readonly until?: number
  /** A process that has nothing else to do need not stay alive for it. */
  readonly background?: boolean
}

/** Each attempt gets the number of attempts before it. */
export async function withRetries<T>(
  { clock, random, options }: Retrying,
  { repeat, signal, until, background = false }: RetryLimits,
  attempt: (before: number) => Promise<T>,
): Promise<T> {
  const lastStart = until ?? clock.now() + options.totalMs
  const attempts = until === undefined ? options.attempts : Number.POSITIVE_INFINITY
  for (let before = 0; ; before++) {
    if (signal?.aborted) throw abortedError(signal)
    try {
      return await attempt(before)
    } catch (error) {
      if (!mayRepeat(error, repeat) || before + 1 >= attempts) throw error
      const pauseMs = pause(options, random, before) + (error.retryAfterMs ?? 0)
      if (clock.now() + pauseMs > lastStart) throw error
      await clock.sleep(pauseMs, { signal, background })
    }
  }
}

/** Full jitter: any length up to the bound is as likely as any other. */
export function pause(options: Required<RetryOptions>, random: () => number, before: number): number {
  return random() * Math.min(options.longestPauseMs, options.firstPauseMs * 2 ** before)
}

function mayRepeat(error: unknown, repeat: Repeat): error is BatonError {
  if (!(error instanceof BatonError) || !error.retryable) return false
  // A caller that wants to wait longer for the lock has other means.
  if (error instanceof LockedError) return false
  if (repeat === 'if-refused') return error instanceof TooManyError || error instanceof NoQuorumError
  return repeat === 'always'
}
