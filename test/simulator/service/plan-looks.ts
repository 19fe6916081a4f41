/**
 * Clients that only look: at locks that others use, before and after their first use, and at one that nobody
 * ever uses. They are drawn from a stream of their own, so that the rest of a run is as it was without them.
 */
import type { Random } from '../random.ts'
import type { LockPlan } from './plan.ts'
import type { Action } from './plan-actions.ts'

/** Nobody uses or configures it: it must never come to be. */
export const UNUSED = 'unused'

/** Above the ids of all other actions. */
const FIRST_LOOK_ID = 100_000
const MAX_LOOKS = 1_000

export const LOOKS = [
  'status',
  'key',
  'keys',
  'history',
  'watch',
  'eject',
  'ticket',
  'ops',
  'release',
] as const
export type Look = (typeof LOOKS)[number]

/** What is asked of a lock that others use changes nothing, and ends by itself. */
const HARMLESS: readonly Look[] = ['status', 'key', 'keys', 'history', 'ticket']

export function drawLooks(
  random: Random,
  index: number,
  locks: readonly LockPlan[],
  durationMs: number,
  sites: number,
): Action[] {
  const count = random.between(1, 6)
  return Array.from({ length: count }, (_, number) => {
    const isUnused = random.chance(0.5)
    return {
      id: FIRST_LOOK_ID + index * MAX_LOOKS + number,
      at: random.fraction() * durationMs,
      lock: isUnused ? UNUSED : random.pick(locks).name,
      type: 'look',
      look: random.pick(isUnused ? LOOKS : HARMLESS),
      participant: random.between(1, sites),
    }
  })
}
