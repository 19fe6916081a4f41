/**
 * Clients that export a lock while it is used, and import it under a name of its own. They are drawn from a
 * stream of their own, so that the rest of a run is as it was without them.
 */
import type { Random } from '../random.ts'
import type { LockPlan } from './plan.ts'
import type { Action } from './plan-actions.ts'

/** Above the ids of all other actions. */
const FIRST_COPY_ID = 200_000
const MAX_COPIES = 1_000
const COPY = 'copy-'

export const isCopy = (lock: string): boolean => lock.startsWith(COPY)

export function drawCopies(
  random: Random,
  index: number,
  locks: readonly LockPlan[],
  durationMs: number,
): Action[] {
  const count = random.chance(0.3) ? random.between(1, 2) : 0
  return Array.from({ length: count }, (_, number) => {
    const id = FIRST_COPY_ID + index * MAX_COPIES + number
    return {
      ...{ id, type: 'copy', copy: COPY + id, lock: random.pick(locks).name },
      ...{ at: random.fraction() * durationMs, thinkMs: random.logUniform(1, 3_000) },
    }
  })
}
