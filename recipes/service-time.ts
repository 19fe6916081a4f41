/**
 * The time, for recipes that need one. The guarded state has no clock, and the clocks of clients differ. A
 * grant says when it ends, by the clock of the participant that gave it. So whoever holds the lock knows what
 * time it is there.
 *
 * Only the clocks of a lock's few participants have to agree, and a recipe says what happens if they do not.
 */
import { GrantOverError, type Held, type Lock } from '../client/index.ts'
import { isNothingDone } from './refusals.ts'

export interface TimeOptions {
  /** How long to wait for the lock. Default: 10 s. */
  readonly waitMs?: number | undefined
  readonly owner?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Long enough for a few requests, and short enough if the process ends in between. */
const TTL_MS = 5_000
const ROUNDS = 3

/**
 * Runs the work while the lock is held. If an operation of the work is refused because the lock was lost, all
 * of the work is done again, under a new grant; so it must begin by reading.
 */
export async function withTime<T>(
  lock: Lock,
  { waitMs, owner, signal }: TimeOptions,
  work: (held: Held, now: number) => Promise<T>,
): Promise<T> {
  const options = { ttlMs: TTL_MS, signal, ...(waitMs !== undefined && { waitMs }), ...(owner && { owner }) }
  for (let round = 1; ; round++) {
    try {
      return await lock.run(options, held => work(held, timeOf(held)))
    } catch (error) {
      const isHarmless = error instanceof GrantOverError && isNothingDone(error)
      if (!isHarmless || round === ROUNDS) throw error
    }
  }
}

/** When the lock was granted, in milliseconds, by the clock of the participant that granted it. */
function timeOf({ grant }: Held): number {
  return Date.parse(grant.expiresAt) - (grant.ttlMs ?? TTL_MS)
}
