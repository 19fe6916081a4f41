/** A time limit that holds even if what is limited takes no notice of its signal. */

class Stopped extends Error {}

export function isStopped(error: unknown): boolean {
  return error instanceof Stopped
}

/** Runs until it ends, the time is over or `outer` is aborted; in the latter cases it rejects and aborts the signal. */
export async function withinMs<Result>(
  limitMs: number,
  outer: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  let cleanUp = () => {}
  const stopped = new Promise<never>((_, reject) => {
    const stop = (message: string) => {
      const error = new Stopped(message)
      controller.abort(error)
      reject(error)
    }
    const onAbort = () => stop('given up')
    if (outer?.aborted) return onAbort()
    const timer = setTimeout(() => stop(`no answer within ${limitMs} ms`), limitMs)
    outer?.addEventListener('abort', onAbort)
    cleanUp = () => {
      clearTimeout(timer)
      outer?.removeEventListener('abort', onAbort)
    }
  })
  try {
    return await Promise.race([stopped, run(controller.signal)])
  } finally {
    cleanUp()
  }
}

/** Like `Promise.all` over `map`, with at most so many under way: the platform lets six requests wait at once. */
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
