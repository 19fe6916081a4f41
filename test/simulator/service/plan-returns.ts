/**
 * An operator that ends the lock whose participants change, and makes the next one of its name with as many
 * participants as it likes: some have the numbers of machines that came later to the one before, and still
 * have what they stored. It is a client of its own, drawn from a stream of its own, in later seeds only.
 */
import type { Random } from '../random.ts'
import type { ClientPlan, Deployment, LockPlan } from './plan.ts'
import type { Action } from './plan-actions.ts'
import { FIRST_CONTESTED_SEED } from './plan-contests.ts'
import { drawChange } from './plan-moves.ts'

/** Above the ids of all other actions. */
const FIRST_RETURN_ID = 500_000
const MOST = 7
/** It makes the next lock soon, before others do. */
const SOON_MS = 20

export const hasReturns = (seed: number, random: Random): boolean =>
  random.chance(0.6) && seed >= FIRST_CONTESTED_SEED

export function drawReturns(
  random: Random,
  { name: lock, wishes: [first] }: LockPlan,
  durationMs: number,
  { kind, sites, routers }: Deployment,
): ClientPlan {
  let id = FIRST_RETURN_ID
  const actions: Action[] = []
  const pauseMs = durationMs / random.between(3, 8)
  for (let at = random.exponential(pauseMs); at < durationMs; at += random.exponential(pauseMs)) {
    for (let count = random.between(0, 2); count > 0; count--) {
      const change = drawChange(random, kind, sites)
      actions.push({ id: id++, at: at - pauseMs / 4, lock, type: 'members', change, again: false })
    }
    actions.push({ id: id++, at, lock, type: 'delete', force: true, again: random.chance(0.2) })
    const participants = random.between(1, kind === 'single' ? MOST : sites)
    const wish = { ...(first?.protocol && { protocol: first.protocol }), participants }
    actions.push({ id: id++, at: at + random.fraction() * SOON_MS, lock, type: 'put', wish })
    const transact = { waitMs: 2_000, participant: random.chance(0.7) ? random.between(1, MOST) : null }
    actions.push({ id: id++, at: at + 2 * SOON_MS, lock, type: 'raw-transact', ...transact })
  }
  const inOrder = actions.sort((left, right) => left.at - right.at)
  return { router: random.below(routers), clockOffsetMs: 0, actions: inOrder }
}
