/** What goes wrong, and when. Each fault stands for itself: any of them can be left out. */
import { LEDGER_NAME } from '../../../worker/participant/ledger/name.ts'
import type { Random } from '../random.ts'
import type { Deployment, LockPlan } from './plan.ts'

interface Base {
  readonly id: number
  readonly at: number
}

interface Lasting extends Base {
  readonly forMs: number
}

interface OfObject extends Base {
  readonly lock: string
  readonly participant: number
}

export type Fault =
  /** The object's instance dies at this runtime call, counted from then on. */
  | (OfObject & { readonly type: 'crash'; readonly afterCalls: number })
  | (OfObject & { readonly type: 'evict' })
  /** Another instance of the object begins while this one goes on, cut off from storage. */
  | (OfObject & { readonly type: 'supersede' })
  | (OfObject & { readonly type: 'wipe-object' })
  /** One statement of the object fails, counted from then on. */
  | (OfObject & { readonly type: 'fail-write'; readonly afterWrites: number })
  /** A whole site: a process of a cluster, a region of a single deployment. */
  | (Lasting & { readonly type: 'kill'; readonly site: number })
  | (Lasting & { readonly type: 'freeze'; readonly site: number })
  /** `isPatient`: only once all that lost something before have got it back. */
  | (Lasting & { readonly type: 'wipe-site'; readonly site: number; readonly isPatient: boolean })
  | (Lasting & {
      readonly type: 'disk'
      readonly site: number
      readonly state: 'read-only' | 'full' | 'slow'
    })
  | (Base & { readonly type: 'clock'; readonly site: number; readonly byMs: number })
  | (Lasting & {
      readonly type: 'alarms'
      readonly site: number
      readonly mode: 'early' | 'late' | 'twice'
    })
  | (Lasting & { readonly type: 'partition'; readonly sites: readonly number[] })
  | (Lasting & {
      readonly type: 'one-way'
      readonly site: number
      readonly direction: 'deaf' | 'mute'
      /** Routers too, and not only the other participants. */
      readonly routers: boolean
    })
  | (Lasting & { readonly type: 'slow'; readonly site: number; readonly byMs: number })
  | (Base & { readonly type: 'restart-router'; readonly router: number })
  /** All of a site's instances begin anew, with the other version's defaults. */
  | (Base & { readonly type: 'deploy'; readonly site: number; readonly version: 0 | 1 })
  | (Base & { readonly type: 'drop-sockets'; readonly site: number })

interface Surroundings {
  readonly deployment: Deployment
  readonly locks: readonly LockPlan[]
  readonly durationMs: number
}

export type FaultType = Fault['type']

/** How often each kind is drawn, relative to the others. */
const WEIGHTS: { readonly [type in FaultType]: number } = {
  crash: 8,
  evict: 4,
  supersede: 1,
  'wipe-object': 1,
  'fail-write': 2,
  kill: 3,
  freeze: 2,
  'wipe-site': 2,
  disk: 2,
  clock: 1,
  alarms: 5,
  partition: 3,
  'one-way': 2,
  slow: 2,
  'restart-router': 1,
  deploy: 2,
  'drop-sockets': 1,
}

const WEIGHTED = Object.entries(WEIGHTS).flatMap(([type, weight]) =>
  new Array<FaultType>(weight).fill(type as FaultType),
)

const AN_HOUR_MS = 3_600_000
/** The probability that instances die all the time, each at another call. */
const CRASH_STORM = 0.25
const STORM_MOST = 30
/** The probability that processes lose their storage one after the other. */
const LOSSES_IN_TURN = 0.1

export function drawFaults(random: Random, surroundings: Surroundings): Fault[] {
  const { durationMs } = surroundings
  // A run has a theme: few kinds of faults, so that what is rare together with what is common does happen.
  const kinds = random.chance(0.3) ? WEIGHTED : random.shuffled(WEIGHTED).slice(0, random.between(1, 6))
  const count = random.between(0, 12)
  const faults: Fault[] = []
  for (let id = 1; id <= count; id++) {
    const at = random.fraction() * durationMs
    faults.push(drawFault(random, random.pick(kinds), { id, at }, surroundings))
  }
  if (random.chance(CRASH_STORM)) faults.push(...drawStorm(random, faults.length + 1, surroundings))
  if (random.chance(LOSSES_IN_TURN)) faults.push(...drawLosses(random, faults.length + 1, surroundings))
  return faults.sort((left, right) => left.at - right.at)
}

/** Early enough that what was lost first can be given back before the next. */
function drawLosses(random: Random, firstId: number, { deployment, durationMs }: Surroundings): Fault[] {
  return Array.from({ length: random.between(2, 3) }, (_, index) => ({
    ...{ id: firstId + index, at: (random.fraction() * durationMs) / 2, type: 'wipe-site' },
    ...{ site: random.between(1, deployment.sites), forMs: random.logUniform(50, 1_000), isPatient: true },
  }))
}

function drawStorm(random: Random, firstId: number, surroundings: Surroundings): Fault[] {
  const type = random.pick(['crash', 'crash', 'fail-write'] as const)
  return Array.from({ length: random.between(5, STORM_MOST) }, (_, index) => {
    const base = { id: firstId + index, at: random.fraction() * surroundings.durationMs }
    return drawFault(random, type, base, surroundings)
  })
}

function drawFault(
  random: Random,
  type: FaultType,
  base: Base,
  { deployment, locks, durationMs }: Surroundings,
): Fault {
  const { sites, routers } = deployment
  const site = random.between(1, sites)
  const names = locks.map(({ name }) => name)
  if (deployment.kind === 'cluster') names.push(LEDGER_NAME)
  const ofObject = { ...base, lock: random.pick(names), participant: random.between(1, sites) }
  const forMs = Math.min(random.logUniform(50, 8_000), durationMs - base.at)
  const nth = random.chance(0.5) ? random.between(0, 5) : random.between(0, 60)
  const choice = random.below(3)
  switch (type) {
    case 'crash':
      return { ...ofObject, type, afterCalls: nth }
    case 'fail-write':
      return { ...ofObject, type, afterWrites: nth }
    case 'evict':
    case 'supersede':
    case 'wipe-object':
      return { ...ofObject, type }
    case 'kill':
    case 'freeze':
      return { ...base, type, site, forMs }
    case 'wipe-site':
      return { ...base, type, site, forMs, isPatient: random.chance(0.7) }
    case 'disk':
      return { ...base, type, site, forMs, state: (['read-only', 'full', 'slow'] as const)[choice]! }
    case 'clock':
      return { ...base, type, site, byMs: drawJump(random) }
    case 'alarms':
      return { ...base, type, site, forMs, mode: (['early', 'late', 'twice'] as const)[choice]! }
    case 'partition':
      return { ...base, type, forMs, sites: drawSide(random, sites) }
    case 'one-way': {
      const direction = random.chance(0.5) ? 'deaf' : 'mute'
      return { ...base, type, site, forMs, direction, routers: random.chance(0.5) }
    }
    case 'slow':
      return { ...base, type, site, forMs, byMs: random.logUniform(20, 3_000) }
    case 'restart-router':
      return { ...base, type, router: random.below(routers) }
    case 'deploy':
      return { ...base, type, site, version: random.chance(0.7) ? 1 : 0 }
    case 'drop-sockets':
      return { ...base, type, site }
  }
}

function drawJump(random: Random): number {
  const most = random.pick([5_000, 60_000, AN_HOUR_MS])
  return random.between(-most, most)
}

/** One side of a network that is cut in two; never nobody. */
function drawSide(random: Random, sites: number): number[] {
  const all = Array.from({ length: sites }, (_, index) => index + 1)
  return random.shuffled(all).slice(0, random.between(1, Math.max(1, sites - 1)))
}
