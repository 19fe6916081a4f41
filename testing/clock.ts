/** A clock for clients that runs like the real one, and that a test can move forward. */
import type { Clock } from '../client/clock.ts'

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

export class MovedClock implements Clock {
  #offsetMs = 0
  readonly #sleepers = new Set<Sleeper>()

  get offsetMs(): number {
    return this.#offsetMs
  }

  now(): number {
    return Date.now() + this.#offsetMs
  }

  sleep(
    ms: number,
    { signal, background = false }: { signal?: AbortSignal | undefined; background?: boolean } = {},
  ): Promise<void> {
    return new Promise(resolve => {
      if (signal?.aborted) return resolve()
      const wake = () => {
        clearTimeout(timer)
        this.#sleepers.delete(sleeper)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      const sleeper = { until: this.now() + ms, wake }
      const timer = setTimeout(wake, Math.min(ms, LONGEST_TIMER_MS))
      if (background) timer.unref()
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', wake, { once: true })
    })
  }

  move(ms: number): void {
    this.#offsetMs += ms
    const now = this.now()
    for (const sleeper of [...this.#sleepers]) if (sleeper.until <= now) sleeper.wake()
  }
}

/** Longer timers fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
