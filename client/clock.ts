/** Time and chance, given from outside, so that a test decides both. */

export interface Clock {
  /** Milliseconds. Only differences count. */
  now(): number
  /**
   * Resolves after so many milliseconds, or as soon as the signal is aborted; never rejects. What sleeps in
   * the `background` does not keep a process alive that has nothing else to do.
   */
  sleep(
    ms: number,
    options?: { readonly signal?: AbortSignal | undefined; readonly background?: boolean },
  ): Promise<void>
}

/** Longer timers fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** By how much the wall clock was ahead of the monotonic one, at most. */
let aheadMs = Number.NEGATIVE_INFINITY

/**
 * This is the wall clock, because a monotonic one stands still while a laptop sleeps: a grant that ended long
 * ago would then seem to be alive. So it would if the wall clock is set back: from then on the monotonic one
 * counts.
 */
export const systemClock: Clock = {
  now() {
    const runningMs = performance.now()
    aheadMs = Math.max(aheadMs, Date.now() - runningMs)
    return Math.floor(runningMs + aheadMs)
  },
  sleep: (ms, { signal, background = false } = {}) =>
    new Promise(resolve => {
      if (signal?.aborted) return resolve()
      const finish = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', finish)
        resolve()
      }
      const timer = setTimeout(finish, Math.min(ms, LONGEST_TIMER_MS))
      // Only Node and Deno have processes to keep alive; elsewhere a timer is a number.
      if (background) (timer as unknown as { unref?: () => void }).unref?.()
      signal?.addEventListener('abort', finish, { once: true })
    }),
}

/** 128 random bits in base64url, as the service wants the name of a waiter. */
export function randomToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/**
 * 128 random bits. `crypto.randomUUID` would do, but a page that is not served over https does not have it.
 */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
