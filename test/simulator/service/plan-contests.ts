/**
 * A lock that several operators make and end at once, each with a configuration of its own, while something
 * goes wrong in the very moment. They are clients of their own, drawn from a stream of their own. Runs that
 * tests name by older seeds are as they were: they have no such lock.
 */
import type { Random } from '../random.ts'
import type { ClientPlan, Deployment, LockPlan, Wish } from './plan.ts'
import type { Action } from './plan-actions.ts'
import type { Fault } from './plan-faults.ts'

export const CONTESTED = 'contested'

/** From this seed on. */
export const FIRST_CONTESTED_SEED = 220_000_001

/** Above the ids of all other actions. */
const FIRST_CONTEST_ID = 400_000
const MAX_CONTESTS = 1_000
/** Above the ids of all other faults, and below those of all actions. */
const FIRST_FAULT_ID = 500
const MAX_FAULTS = 20

/** Operators differ by the time to live that they wish. */
const LEAST_TTL_MS = 1_000
const WISHES_EACH = 100

/** They all begin in so long. */
const MOMENT_MS = 30

const PROTOCOLS = ['wme-1', 'wme-consensus', 'ricart-agrawala', 'maekawa'] as const

export interface Contest {
  readonly lock: LockPlan
  readonly clients: readonly ClientPlan[]
  readonly faults: readonly Fault[]
}

interface Surroundings {
  readonly deployment: Deployment
  readonly durationMs: number
}

/** Whether a run has one: every other one of the later seeds. */
export const hasContest = (seed: number, random: Random): boolean =>
  random.chance(0.5) && seed >= FIRST_CONTESTED_SEED

export function drawContest(random: Random, surroundings: Surroundings): Contest {
  const { deployment, durationMs } = surroundings
  const moments = Array.from({ length: random.between(1, 4) }, () => random.fraction() * durationMs * 0.9)
  const clients = Array.from({ length: random.between(2, 3) }, (_, index) => ({
    router: random.below(deployment.routers),
    clockOffsetMs: 0,
    actions: drawActions(random, index, moments, surroundings),
  }))
  const faults = moments.flatMap((moment, index) => [
    ...drawFaults(random, index, moment, surroundings),
    ...drawSilence(random, index, moment, surroundings),
  ])
  return { lock: { name: CONTESTED, kind: 'contested', wishes: [] }, clients, faults }
}

function drawActions(
  random: Random,
  index: number,
  moments: readonly number[],
  { deployment, durationMs }: Surroundings,
): Action[] {
  let id = FIRST_CONTEST_ID + index * MAX_CONTESTS
  let ttlMs = LEAST_TTL_MS + index * WISHES_EACH
  const lock = CONTESTED
  const actions: Action[] = []
  for (const moment of moments) {
    const at = moment + random.fraction() * MOMENT_MS
    const type = random.chance(0.75) ? 'put' : 'configure'
    actions.push({ id: id++, at, lock, type, wish: drawWish(random, ttlMs++, deployment) })
  }
  const pauseMs = durationMs / random.between(3, 8)
  for (let at = random.exponential(pauseMs); at < durationMs; at += random.exponential(pauseMs)) {
    const base = { id: id++, at, lock }
    const chance = random.fraction()
    if (chance < 0.4)
      actions.push({ ...base, type: 'delete', force: random.chance(0.7), again: random.chance(0.3) })
    else if (chance < 0.6) actions.push({ ...base, type: 'eject', byFence: random.chance(0.5) })
    else if (chance < 0.8) actions.push({ ...base, ...drawHold(random) })
    else actions.push({ ...base, type: 'raw-transact', waitMs: 2_000, participant: null })
  }
  return actions.sort((left, right) => left.at - right.at)
}

function drawWish(random: Random, ttlMs: number, { kind, sites }: Deployment): Wish {
  const most = kind === 'single' ? 7 : sites
  return {
    ttlMs,
    ...(random.chance(0.3) && { protocol: random.pick(PROTOCOLS) }),
    ...(random.chance(0.3) && { participants: random.between(1, most) }),
  }
}

const drawHold = (random: Random) =>
  ({
    type: 'hold',
    waitMs: 2_000,
    ttlMs: random.pick([1_000, 3_000, 30_000]),
    confirm: random.chance(0.3),
    mode: 'exclusive',
    operations: random.below(3),
    thinkMs: random.logUniform(1, 800),
    ending: random.chance(0.6) ? 'release' : 'vanish',
    abortAfterMs: null,
    participant: null,
  }) as const

/** What goes wrong while they are at it. */
function drawFaults(random: Random, index: number, moment: number, surroundings: Surroundings): Fault[] {
  const id = FIRST_FAULT_ID + index * MAX_FAULTS
  return Array.from({ length: random.between(0, 3) }, (_, number) => {
    const at = Math.min(surroundings.durationMs, moment + random.logUniform(1, 1_000))
    return drawFault(random, { id: id + number, at }, surroundings)
  })
}

function drawFault(
  random: Random,
  base: { readonly id: number; readonly at: number },
  { deployment: { kind, sites }, durationMs }: Surroundings,
): Fault {
  const site = random.between(1, sites)
  const forMs = Math.min(random.logUniform(100, 8_000), durationMs - base.at)
  const object = { lock: CONTESTED, participant: site }
  const direction = random.chance(0.5) ? 'deaf' : 'mute'
  const chance = random.fraction()
  if (chance < 0.2) return { ...base, ...object, type: 'crash', afterCalls: random.between(0, 60) }
  if (chance < 0.4) return { ...base, type: 'one-way', site, direction, routers: random.chance(0.5), forMs }
  if (chance < 0.6) return { ...base, type: 'partition', sites: [site], forMs }
  if (chance < 0.75) return { ...base, type: 'kill', site, forMs }
  if (chance < 0.9) return { ...base, type: 'slow', site, byMs: random.logUniform(100, 3_000), forMs }
  return { ...base, ...object, type: kind === 'single' ? 'evict' : 'wipe-object' }
}

/** The participants do not hear each other any more, and routers hear them all. */
function drawSilence(
  random: Random,
  index: number,
  moment: number,
  { deployment: { sites }, durationMs }: Surroundings,
): Fault[] {
  if (random.chance(0.5)) return []
  const at = Math.min(durationMs, moment + random.fraction() * 2 * MOMENT_MS)
  const forMs = Math.min(random.between(3_000, 15_000), durationMs - at)
  const id = FIRST_FAULT_ID + index * MAX_FAULTS + MAX_FAULTS / 2
  return Array.from({ length: sites }, (_, number) => {
    const deaf = { type: 'one-way', site: number + 1, direction: 'deaf', routers: false } as const
    return { ...deaf, id: id + number, at, forMs }
  })
}
