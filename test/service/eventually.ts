/** Waiting without a clock to trust: a condition is checked again and again, and the limit is generous. */

export const GENEROUS_MS = 40_000
const EVERY_MS = 50

export function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

/**
 * Runs the check until it does not throw, and returns what it returns. Its last error is the test's failure.
 */
export async function eventually<Result>(
  check: () => Promise<Result> | Result,
  withinMs = GENEROUS_MS,
): Promise<Result> {
  const end = Date.now() + withinMs
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (Date.now() > end) throw error
    }
    await sleep(EVERY_MS)
  }
}
