/**
 * A clock that jumps to the next moment at which something wants to be woken, as soon as nothing else is left
 * to do. Hours of waiting take milliseconds, and always in the same order.
 */
import type { Clock } from '../../client/index.ts'

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/**
 * Work that goes on without the clock (promises, streams) is done after this many turns of the event loop.
 */
const IDLE_TURNS = 5

export class VirtualClock implements Clock {
  #now = Date.UTC(2030, 0, 1)
  #sleepers: Sleeper[] = []
  #isRunning = false

  now(): number {
    return this.#now
  }

  sleep(ms: number, { signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    if (signal?.aborted) return Promise.resolve()
    return new Promise(resolve => {
      const wake = () => {
        this.#sleepers = this.#sleepers.filter(other => other !== sleeper)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      const sleeper = { at: this.#now + Math.max(0, ms), wake }
      this.#sleepers.push(sleeper)
      signal?.addEventListener('abort', wake, { once: true })
      this.#run()
    })
  }

  /** From now on nobody wakes up any more. */
  stop(): void {
    this.#isRunning = true
    this.#sleepers = []
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    while (this.#sleepers.length > 0) {
      for (let turn = 0; turn < IDLE_TURNS; turn++) await new Promise(resolve => setImmediate(resolve))
      const next = this.#sleepers.reduce<Sleeper | undefined>(earlier, undefined)
      if (next === undefined) break
      this.#now = Math.max(this.#now, next.at)
      next.wake()
    }
    this.#isRunning = false
  }
}

function earlier(left: Sleeper | undefined, right: Sleeper): Sleeper {
  return left === undefined || right.at < left.at ? right : left
}
