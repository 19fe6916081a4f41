/**
 * A rate limiter: a bucket of tokens that fills at a steady rate, for all regions together. Whoever takes
 * tokens may go on; whoever finds too few is told when to come back.
 *
 * Its time is that of the participant that grants the lock. If the token of the lock moves to a participant
 * whose clock is ahead, the bucket fills earlier by as much, up to the brim; after that, it fills no more
 * until the others have caught up. Clocks of clients do not count.
 */
import type { Lock } from '../client/index.ts'
import { duration, text, wholeNumber } from './options.ts'
import { withTime } from './service-time.ts'

export interface RateLimiterOptions {
  /** So many tokens in `intervalMs`: 1 to 1,000,000. */
  readonly rate: number
  readonly intervalMs: number
  /** How many tokens there are at most, for those who come at once. Default: `rate`. */
  readonly burst?: number
  /** The key of the bucket. Default: `bucket`. One lock may have several. */
  readonly key?: string
}

export interface TakeOptions {
  /** How many tokens, 1 to `burst`. Default: 1. */
  readonly tokens?: number
  /** How long to wait for the lock, not for tokens. Default: 10 s. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

export interface Taken {
  readonly allowed: boolean
  /** Whole tokens that are left. */
  readonly remaining: number
  /** When there will be enough, if nobody else takes them; 0 if it was allowed. */
  readonly retryAfterMs: number
}

/** A token costs `intervalMs` of credit, and each millisecond adds `rate`: so all of it is whole numbers. */
type Bucket = { readonly credit: number; readonly at: number }

/**
 * @example
 * const limiter = new RateLimiter(baton.lock('mails'), { rate: 100, intervalMs: 60_000 })
 * const { allowed, retryAfterMs } = await limiter.take()
 */
export class RateLimiter {
  readonly #lock: Lock
  readonly #key: string
  readonly #rate: number
  readonly #price: number
  readonly #burst: number

  constructor(lock: Lock, { rate, intervalMs, burst = rate, key = 'bucket' }: RateLimiterOptions) {
    this.#lock = lock
    this.#key = text('key', key, 512)
    this.#rate = wholeNumber('rate', rate, 1, 1_000_000)
    this.#price = wholeNumber('intervalMs', intervalMs, 1, 30 * 24 * 3_600_000)
    this.#burst = wholeNumber('burst', burst, 1, 1_000_000)
  }

  /**
   * If no answer comes, it rejects, and the tokens may be gone: the limit is never exceeded. What to do then,
   * stop or go on, is the caller's choice.
   */
  take({ tokens = 1, waitMs, signal }: TakeOptions = {}): Promise<Taken> {
    const cost = wholeNumber('tokens', tokens, 1, this.#burst) * this.#price
    if (waitMs !== undefined) duration('waitMs', waitMs)
    return withTime(this.#lock, { waitMs, signal }, async (held, now) => {
      const { value } = await held.get<Bucket>(this.#key)
      const { credit, at } = this.#fill(value as Bucket | null, now)
      if (credit < cost) {
        const retryAfterMs = Math.ceil((cost - credit) / this.#rate) + (at - now)
        return { allowed: false, remaining: this.#tokens(credit), retryAfterMs }
      }
      const left = credit - cost
      await held.apply([{ put: this.#key, value: { credit: left, at } }])
      return { allowed: true, remaining: this.#tokens(left), retryAfterMs: 0 }
    })
  }

  /** Time that goes back is time that stands still. */
  #fill(bucket: Bucket | null, now: number): Bucket {
    const brim = this.#burst * this.#price
    if (bucket === null) return { credit: brim, at: now }
    const at = Math.max(bucket.at, now)
    return { credit: Math.min(brim, bucket.credit + (at - bucket.at) * this.#rate), at }
  }

  #tokens(credit: number): number {
    return Math.floor(credit / this.#price)
  }
}
