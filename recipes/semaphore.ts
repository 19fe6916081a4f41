/**
 * A counting semaphore: at most so many hold a permit at a time. Each permit is a lock of its own, named
 * `<name>:1`, `<name>:2` and so on. So a permit comes back by itself when its holder dies, the holder is told
 * when it has lost it, and no clock is compared: all of that is what a lock does.
 *
 * Everybody must ask for the same number of permits. It can be raised at any time; if it is lowered, those
 * who hold the higher ones keep them until they release them.
 */
import { type Baton, type Clock, type Held, type Lock, LockedError, systemClock } from '../client/index.ts'
import { duration, ownerName, text, timeToLive, wholeNumber } from './options.ts'
import { notInTime } from './refusals.ts'

export interface SemaphoreOptions {
  /** How many may hold one at a time: 1 to 32. */
  readonly permits: number
  /** How long a permit stays taken if its holder dies: 1 s to 10 min. Default: 30 s. */
  readonly ttlMs?: number
  /** What this process calls itself. */
  readonly owner?: string
  readonly clock?: Clock
}

export interface AcquirePermitOptions {
  /** How long to wait. Default: 10 s. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

/** Another permit is asked for as well if the first is not granted in this time. */
const STEP_MS = 100

/**
 * @example
 * const semaphore = new Semaphore(baton, 'exports', { permits: 3 })
 * await semaphore.run(async permit => exportAll({ signal: permit.signal }))
 */
export class Semaphore {
  readonly #locks: readonly Lock[]
  readonly #ttlMs: number
  readonly #owner: string | undefined
  readonly #clock: Clock

  constructor(baton: Baton, name: string, options: SemaphoreOptions) {
    const { permits, ttlMs = 30_000, owner, clock = systemClock } = options
    text('name', name, 61)
    const numbers = Array.from({ length: wholeNumber('permits', permits, 1, 32) }, (_, index) => index + 1)
    this.#locks = numbers.map(number => baton.lock(`${name}:${number}`))
    this.#ttlMs = timeToLive('ttlMs', ttlMs)
    this.#owner = owner === undefined ? undefined : ownerName('owner', owner)
    this.#clock = clock
  }

  /** Acquires a permit, runs the callback and releases the permit. */
  async run<T>(callback: (permit: Permit) => Promise<T> | T, options: AcquirePermitOptions = {}): Promise<T> {
    const permit = await this.acquire(options)
    try {
      return await callback(permit)
    } finally {
      await permit[Symbol.asyncDispose]()
    }
  }

  /** Rejects with a `LockedError` if no permit becomes free in time. */
  async acquire({ waitMs = 10_000, signal }: AcquirePermitOptions = {}): Promise<Permit> {
    duration('waitMs', waitMs)
    const count = this.#locks.length
    // Everybody begins with another one; otherwise the first would always be taken.
    const first = Math.floor(Math.random() * count)
    const stepMs = Math.min(STEP_MS, waitMs / (2 * count))
    const stop = new AbortController()
    const onAbort = (): void => stop.abort(signal!.reason)
    if (signal?.aborted) onAbort()
    signal?.addEventListener('abort', onAbort)
    let winner: Permit | undefined
    const ask = async (step: number): Promise<void> => {
      const slot = (first + step) % count
      await this.#clock.sleep(step * stepMs, { signal: stop.signal })
      const held = await this.#locks[slot]!.acquire({
        waitMs: waitMs - step * stepMs,
        ttlMs: this.#ttlMs,
        signal: stop.signal,
        ...(this.#owner !== undefined && { owner: this.#owner }),
      })
      // Two may be granted at the same moment; the one that is not needed goes back.
      if (winner !== undefined) return held[Symbol.asyncDispose]()
      winner = new Permit(held, slot + 1)
      stop.abort()
    }
    const answers = await Promise.allSettled(this.#locks.map((_, step) => ask(step)))
    signal?.removeEventListener('abort', onAbort)
    if (winner !== undefined) return winner
    const reasons = answers.flatMap(answer =>
      answer.status === 'rejected' ? [answer.reason as unknown] : [],
    )
    // That one lock cannot be reached matters only if no other gave a permit.
    const worst = reasons.find(reason => !(reason instanceof LockedError))
    throw worst ?? notInTime(`none of the ${count} permits was free within ${waitMs} ms`)
  }

  /** `null` if all are taken. Waits for a second, in which a lock's token may come from another region. */
  async tryAcquire(options: AcquirePermitOptions = {}): Promise<Permit | null> {
    try {
      return await this.acquire({ waitMs: 1_000, ...options })
    } catch (error) {
      if (error instanceof LockedError) return null
      throw error
    }
  }
}

export class Permit implements AsyncDisposable {
  /** Which of the permits it is, from 1. */
  readonly number: number
  /**
   * Grows from holder to holder of the permit with this number; those of other numbers count by themselves.
   */
  readonly fence: number
  /** Aborted when the permit is lost or released. */
  readonly signal: AbortSignal
  readonly held: Held

  constructor(held: Held, number: number) {
    this.held = held
    this.number = number
    this.fence = held.fence
    this.signal = held.signal
  }

  release(): Promise<void> {
    return this.held.release()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.held[Symbol.asyncDispose]()
  }
}
