/** How recipes wait: for a change of the state, and for somebody who may be dead. */
import { type Clock, type Lock, NotFoundError, systemClock } from '../client/index.ts'

/** Nothing depends on being told of a change: whoever waits looks again after so long in any case. */
export const LONGEST_PAUSE_MS = 5_000

export interface PauseOptions {
  /** Only what comes after this sequence is a change. */
  readonly since: number
  /** Look again after so long, even if nothing has changed. */
  readonly ms: number
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock | undefined
}

/**
 * Resolves when an operation has been applied to the lock, when the time is over, or when the signal is
 * aborted. It is only a hint: the caller looks at the state then.
 */
export async function pauseUntilChanged(lock: Lock, options: PauseOptions): Promise<void> {
  const { since, signal, clock = systemClock } = options
  if (signal?.aborted) return
  const stop = new AbortController()
  const onAbort = (): void => stop.abort()
  signal?.addEventListener('abort', onAbort)
  const isOver = clock
    .sleep(Math.min(options.ms, LONGEST_PAUSE_MS), { signal: stop.signal })
    .then(() => stop.abort())
  try {
    for await (const event of lock.watch({ since, signal: stop.signal })) {
      if (event.type !== 'holder' && event.sequence > since) break
    }
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error
    // Nobody has used the lock yet, so there is nothing to watch.
    await isOver
  } finally {
    stop.abort()
    signal?.removeEventListener('abort', onAbort)
  }
}

/**
 * Knows for how long others have shown no sign of life: by the clock of this process alone, from when this
 * process first saw it. So clocks that differ do no harm.
 */
export class Silence {
  readonly #clock: Clock
  #seen = new Map<string, { readonly beat: number; readonly since: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** To be told of all of them each time: who is not among them any more is forgotten. */
  longerThan(ms: number, beats: ReadonlyMap<string, number>): Set<string> {
    const now = this.#clock.now()
    const before = this.#seen
    this.#seen = new Map()
    const silent = new Set<string>()
    for (const [id, beat] of beats) {
      const known = before.get(id)
      const since = known?.beat === beat ? known.since : now
      this.#seen.set(id, { beat, since })
      if (now - since >= ms) silent.add(id)
    }
    return silent
  }
}

/** Does something again and again until the signal is aborted. Keeps no process alive. */
export async function repeatedly(
  clock: Clock,
  everyMs: number,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  for (;;) {
    await clock.sleep(everyMs, { signal, background: true })
    if (signal.aborted) return
    await work()
  }
}
