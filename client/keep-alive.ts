/** Keeps a grant alive, and knows when it no longer can. */
import { type Connection, LONGEST_WAIT_MS } from './connection.ts'
import { BatonError, ExpiredError } from './errors.ts'
import { pause } from './retry.ts'

export interface KeepAlive {
  readonly ttlMs: number
  /** The grant may be older than it looks: the first keep-alive does not wait. */
  readonly isOld: boolean
  /** How soon the first one must get through, if the service waits for a sign that somebody has the grant. */
  readonly confirmMs?: number | undefined
  /** `once`: after the first one the grant is left to itself. Default: `always`. */
  readonly sends?: 'always' | 'once' | 'never'
  /** One request is under way all the time, and the service answers it as soon as the grant is over. */
  readonly hearsLoss?: boolean
  readonly signal: AbortSignal
  /** One request, which the service answers after `waitMs`, or as soon as the grant is over. */
  readonly send: (timeoutMs: number, waitMs: number) => Promise<unknown>
}

/** Clocks run at slightly different speeds. The client gives up before the service does, never after. */
const MARGIN = 0.05
const SHORTEST_TIMEOUT_MS = 100

/** Resolves once the grant is lost, with the reason; or with `undefined` once the signal is aborted. */
export async function keepAlive(connection: Connection, options: KeepAlive): Promise<BatonError | undefined> {
  const { clock, random, retry } = connection
  const { ttlMs, isOld, sends = 'always', hearsLoss = false, signal, send } = options
  const lifeMs = ttlMs * (1 - MARGIN)
  // About a third of the time to live, so that two more may fail. It varies, so that clients that began
  // together drift apart.
  const intervalMs = (): number => (ttlMs / 3) * (0.8 + 0.3 * random())
  const waitMs = (): number => (hearsLoss ? Math.floor(Math.min(intervalMs(), LONGEST_WAIT_MS)) : 0)
  const pauses = { ...retry, longestPauseMs: Math.min(retry.longestPauseMs, ttlMs / 6) }

  if (sends === 'never') return ranOut(clock.now() + lifeMs)
  const { confirmMs = Number.POSITIVE_INFINITY } = options
  let end = clock.now() + Math.min(lifeMs, confirmMs * (1 - MARGIN))
  // Most critical sections are over before the service wants a sign of life.
  let pauseMs = isOld || hearsLoss ? 0 : Math.min(intervalMs(), confirmMs / 4)
  let failures = 0
  for (;;) {
    await clock.sleep(Math.max(0, Math.min(pauseMs, end - clock.now())), { signal, background: true })
    if (signal.aborted) return undefined
    const sentAt = clock.now()
    if (sentAt >= end) return expiredUnheard(ttlMs)
    // After a failure, all that counts is that one gets through.
    const patienceMs = failures === 0 ? waitMs() : 0
    try {
      const leftMs = end - sentAt
      const timeoutMs = Math.min(ttlMs / 3, leftMs - patienceMs)
      if (timeoutMs > SHORTEST_TIMEOUT_MS) await send(timeoutMs, patienceMs)
      else await send(Math.min(SHORTEST_TIMEOUT_MS, leftMs), 0)
      // The service counts from when it was asked, which cannot be earlier than this.
      end = sentAt + lifeMs
      if (sends === 'once') return ranOut(end)
      pauseMs = hearsLoss ? 0 : intervalMs()
      failures = 0
    } catch (error) {
      if (!(error instanceof BatonError) || !error.retryable) return error as BatonError
      pauseMs = (error.retryAfterMs ?? 0) + pause(pauses, random, failures++)
    }
  }

  async function ranOut(end: number): Promise<BatonError | undefined> {
    while (!signal.aborted && clock.now() < end)
      await clock.sleep(end - clock.now(), { signal, background: true })
    return signal.aborted ? undefined : expired(`the ${ttlMs} ms that the grant lasts are over`)
  }
}

const expiredUnheard = (ttlMs: number): ExpiredError =>
  expired(`no keep-alive got through in the ${ttlMs} ms that the grant lasts`)

const expired = (detail: string): ExpiredError =>
  new ExpiredError({ code: 'expired', status: 0, detail, retryable: false })
