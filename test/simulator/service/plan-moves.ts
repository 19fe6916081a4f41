/**
 * A lock whose participants change while it is used. It is drawn from a stream of its own, so that the rest
 * of a run is as it was without it.
 */
import type { MembersChange } from '../../../shared/api/members-change.ts'
import type { Random } from '../random.ts'
import type { Deployment, LockPlan, Wish } from './plan.ts'
import type { Action } from './plan-actions.ts'

export const MOVING = 'moving'

/** Above the ids of all other actions. */
const FIRST_MOVE_ID = 300_000
const MAX_MOVES = 1_000

const LOCATIONS = ['weur', 'enam', 'apac', 'oc'] as const

const PROTOCOLS = ['wme-2', 'wme-2', 'wme-2', 'wme-1', 'wme-consensus'] as const

/** In about every third run. */
export const drawMovingLock = (random: Random, { kind }: Deployment): LockPlan | null =>
  random.chance(0.35)
    ? {
        name: MOVING,
        kind: 'moving',
        wishes: [drawWish(random, kind)],
      }
    : null

/** A lock follows its work if it is known where its participants are. */
function drawWish(random: Random, kind: Deployment['kind']): Wish {
  const protocol = random.pick(PROTOCOLS)
  const follows = random.chance(0.4) && kind === 'single'
  return follows ? { protocol, follow: true, places: ['weur', 'enam', 'apac'] } : { protocol }
}

export function drawMoves(
  random: Random,
  index: number,
  lock: LockPlan,
  durationMs: number,
  { kind, sites }: Deployment,
): Action[] {
  let id = FIRST_MOVE_ID + index * MAX_MOVES
  const [wish] = lock.wishes
  const actions: Action[] = [{ id: id++, at: 0, lock: lock.name, type: 'configure', wish: wish! }]
  const pauseMs = durationMs / random.between(6, 16)
  for (let at = random.exponential(pauseMs); at < durationMs; at += random.exponential(pauseMs)) {
    const base = { id: id++, at, lock: lock.name }
    const chance = random.fraction()
    if (chance < 0.02) actions.push({ ...base, type: 'delete', force: true, again: random.chance(0.3) })
    else if (chance < 0.3) {
      const again = random.chance(0.3)
      actions.push({ ...base, type: 'members', change: drawChange(random, kind, sites), again })
    } else if (chance < 0.65) {
      const shared = { participant: null, abortAfterMs: null, again: random.chance(0.3), conditional: false }
      actions.push({ ...base, type: 'transact', waitMs: random.pick([200, 2_000, 10_000]), ...shared })
    } else if (chance < 0.75)
      actions.push({ ...base, type: 'raw-transact', waitMs: 2_000, participant: null })
    else if (chance < 0.9) actions.push({ ...base, ...drawHold(random) })
    else actions.push({ ...base, type: 'get', consistency: 'linearizable', participant: null })
  }
  return actions
}

const drawHold = (random: Random) =>
  ({
    type: 'hold',
    waitMs: 5_000,
    ttlMs: random.pick([1_000, 3_000, 30_000]),
    confirm: false,
    mode: 'exclusive',
    operations: random.below(4),
    thinkMs: random.logUniform(1, 800),
    ending: random.chance(0.8) ? 'release' : 'vanish',
    abortAfterMs: null,
    participant: null,
  }) as const

/** Whichever participants there are by then. */
export function drawChange(random: Random, kind: Deployment['kind'], sites: number): MembersChange {
  const location = kind === 'single' && random.chance(0.7) ? { location: random.pick(LOCATIONS) } : {}
  const number = random.chance(0.6) ? random.between(1, sites) : random.between(sites + 1, sites + 6)
  const chance = random.fraction()
  if (chance < 0.25) return { add: location }
  if (chance < 0.45) return { remove: number }
  if (chance < 0.8) return { replace: number, ...location }
  const count = random.between(1, kind === 'single' ? 5 : sites)
  const place = () => (random.chance(0.4) ? { id: random.between(1, sites) } : { ...location })
  return { participants: Array.from({ length: count }, place) }
}
