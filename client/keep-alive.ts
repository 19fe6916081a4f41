/** Keeps a grant alive, and knows when it no longer can. */
import type { Connection } from './connection.ts'
import { BatonError, ExpiredError } from './errors.ts'
import { pause } from './retry.ts'

export interface KeepAlive {
  readonly ttlMs: number
  /** The grant may be older than it looks: the first keep-alive does not wait. */
  readonly isOld: boolean
  /** So soon the first one must get through, if the service waits for a sign that somebody has the grant. */
  readonly confirmMs?: number | undefined
  /** After the first one the grant is left to itself. */
  readonly isOnce?: boolean
  readonly signal: AbortSignal
  /** One request. */
  readonly send: (timeoutMs: number) => Promise<unknown>
}

/** Clocks run at slightly different speeds. The client gives up before the service does, never after. */
const MARGIN = 0.05
const SHORTEST_TIMEOUT_MS = 100

/** Resolves once the grant is lost, with the reason; or with `undefined` once the signal is aborted. */
export async function keepAlive(connection: Connection, options: KeepAlive): Promise<BatonError | undefined> {
  const { clock, random, retry } = connection
  const { ttlMs, signal, send } = options
  let { confirmMs = Number.POSITIVE_INFINITY } = options
  const lifeMs = ttlMs * (1 - MARGIN)
  // About a third: two more may fail, and clients that began together do not stay together.
  const intervalMs = (): number => (ttlMs / 3) * (0.8 + 0.3 * random())
  const pauses = { ...retry, longestPauseMs: Math.min(retry.longestPauseMs, ttlMs / 6) }

  const firstLifeMs = Math.min(lifeMs, confirmMs * (1 - MARGIN))
  let end = clock.now() + firstLifeMs
  // Most critical sections are over before the service wants a sign of life.
  let pauseMs = options.isOld ? 0 : Math.min(intervalMs(), confirmMs / 4)
  let failures = 0
  for (;;) {
    await clock.sleep(Math.max(0, Math.min(pauseMs, end - clock.now())), { signal, background: true })
    if (signal.aborted) return undefined
    const sentAt = clock.now()
    if (sentAt >= end) return expiredUnheard(Math.min(ttlMs, confirmMs))
    try {
      await send(Math.max(SHORTEST_TIMEOUT_MS, Math.min(ttlMs / 3, end - sentAt)))
      // The service counts from when it was asked, which cannot be earlier than this.
      if (options.isOnce) return undefined
      confirmMs = Number.POSITIVE_INFINITY
      end = sentAt + lifeMs
      pauseMs = intervalMs()
      failures = 0
    } catch (error) {
      if (!(error instanceof BatonError) || !error.retryable) return error as BatonError
      pauseMs = (error.retryAfterMs ?? 0) + pause(pauses, random, failures++)
    }
  }
}

function expiredUnheard(ttlMs: number): ExpiredError {
  return new ExpiredError({
    code: 'expired',
    status: 0,
    detail: `no keep-alive got through in the ${ttlMs} ms that the grant lasts`,
    retryable: false,
  })
}
