/** A time limit that holds even if what is limited takes no notice of its signal. */

class Stopped extends Error {}

export function isStopped(error: unknown): boolean {
  return error instanceof Stopped
}

/**
 * Something to do when a call takes long: finding out whether it makes sense to wait for the rest of the
 * time.
 */
export interface WhenSlow {
  readonly afterMs: number
  /** Why it does not, or `null` if it does. */
  giveUp(): Promise<string | null>
}

/** Nearly every answer is there by then. */
const FIRST_MOMENT_MS = 20

/**
 * Runs until it ends, the time is over or `outer` is aborted; in the latter cases it rejects and aborts the
 * signal, if somebody has asked for it. Timers and signals are not cheap in Workers, and most answers are
 * there at once: there is never more than one timer, and only after the first moment somebody listens to
 * `outer`.
 */
export async function withinMs<Result>(
  limitMs: number,
  outer: AbortSignal | undefined,
  run: (signal: () => AbortSignal) => Promise<Result>,
  whenSlow?: WhenSlow,
): Promise<Result> {
  let controller: AbortController | null = null
  const signal = () => {
    controller ??= new AbortController()
    return controller.signal
  }
  let isOver = false
  let cleanUp = () => {}
  const stopped = new Promise<never>((_, reject) => {
    const stop = (reason: string) => {
      // The result may be a stream, which goes on under the same signal.
      if (isOver) return
      const error = new Stopped(reason)
      controller?.abort(error)
      reject(error)
    }
    const onAbort = () => stop('given up')
    if (outer?.aborted) return onAbort()
    let timer: ReturnType<typeof setTimeout>
    const untilEnd = (passedMs: number) => {
      timer = setTimeout(() => stop(`no answer within ${limitMs} ms`), limitMs - passedMs)
    }
    const untilSlow = (passedMs: number) => {
      if (whenSlow === undefined || whenSlow.afterMs >= limitMs) return untilEnd(passedMs)
      timer = setTimeout(() => {
        untilEnd(whenSlow.afterMs)
        whenSlow.giveUp().then(reason => reason !== null && stop(reason))
      }, whenSlow.afterMs - passedMs)
    }
    const listen = () => {
      if (outer!.aborted) return onAbort()
      outer!.addEventListener('abort', onAbort)
      untilSlow(FIRST_MOMENT_MS)
    }
    if (outer === undefined || limitMs <= FIRST_MOMENT_MS) untilSlow(0)
    else timer = setTimeout(listen, FIRST_MOMENT_MS)
    cleanUp = () => {
      clearTimeout(timer)
      outer?.removeEventListener('abort', onAbort)
    }
  })
  try {
    return await Promise.race([stopped, run(signal)])
  } finally {
    isOver = true
    cleanUp()
  }
}

/**
 * Like `Promise.all` over `map`, with a limited number under way: the platform lets six requests wait at
 * once.
 */
export async function mapLimited<Item, Result>(
  items: readonly Item[],
  most: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const rest = items.entries()
  const work = async () => {
    for (const [index, item] of rest) results[index] = await run(item)
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, work))
  return results
}
