/**
 * What a run will be, drawn from its seed before it begins: the deployment, its locks, what clients do and
 * what goes wrong, as data. Faults and actions have ids, so that a run can be had without some of them:
 * that is how a failing one is made small enough to be read.
 */
import { DEFAULT_LIMITS, type Limits, type ProtocolName } from '../../../shared/protocols/protocol.ts'
import { majority } from '../../../shared/protocols/quorum.ts'
import { Random } from '../random.ts'
import { type Action, configureAction, drawActions, FIRST_BIRTH_ID, plainTransact } from './plan-actions.ts'
import { drawContest, hasContest } from './plan-contests.ts'
import { drawCopies } from './plan-copies.ts'
import { drawFaults, type Fault } from './plan-faults.ts'
import { drawLooks } from './plan-looks.ts'
import { drawMoves, drawMovingLock } from './plan-moves.ts'
import { drawReturns, hasReturns } from './plan-returns.ts'

/** Streams of randomness, so that no concern disturbs another. */
export const STREAM = {
  plan: 101,
  actions: 102,
  faults: 103,
  network: 104,
  platform: 105,
  globals: 106,
  looks: 107,
  moves: 108,
  copies: 109,
  contests: 110,
  returns: 111,
} as const

/** What one version of the deployment says that another may not. */
export interface Version {
  readonly protocol: ProtocolName
  readonly location: string | null
}

export interface Deployment {
  /**
   * `single`: all objects in one namespace, each in its region. `cluster`: one process for each
   * participant.
   */
  readonly kind: 'single' | 'cluster'
  /** Default participants. */
  readonly sites: number
  readonly routers: number
  /** The first is what all run at first. */
  readonly versions: readonly [Version, Version]
}

export type LockKind =
  /** Used all the time. */
  | 'busy'
  /** Used before the faults and after them. */
  | 'idle'
  /** Used for the first time while things go wrong. */
  | 'late'
  /** Configured by two clients at once before anybody uses it. */
  | 'configured'
  /** Deleted again and again. */
  | 'mortal'
  /** Its participants change again and again. */
  | 'moving'
  /** Made and deleted by several at once. */
  | 'contested'

export interface LockPlan {
  readonly name: string
  readonly kind: LockKind
  /** What it may be configured with; the first wish is that of one client, the second that of another. */
  readonly wishes: readonly Wish[]
}

export interface Wish {
  readonly protocol?: ProtocolName
  readonly participants?: number
  /** Where they are to be; instead of a number of them. */
  readonly places?: readonly string[]
  readonly ttlMs?: number
  readonly follow?: boolean
  readonly detector?: { readonly heartbeatMs: number; readonly timeoutMs: number }
}

export interface NetworkPlan {
  /** Probabilities for each request. */
  readonly requestLoss: number
  readonly responseLoss: number
  readonly duplication: number
  readonly delayMinMs: number
  readonly delayMaxMs: number
  /** The probability that something takes far longer than usual. */
  readonly straggling: number
}

export interface Broken {
  readonly site: number
  readonly how: 'gone' | 'cut off'
}

export interface ClientPlan {
  readonly router: number
  readonly clockOffsetMs: number
  readonly actions: readonly Action[]
}

export interface Plan {
  readonly seed: number
  readonly deployment: Deployment
  readonly locks: readonly LockPlan[]
  readonly clients: readonly ClientPlan[]
  readonly faults: readonly Fault[]
  readonly network: NetworkPlan
  /** How far each site's clock is off, from 1; index 0 is unused. */
  readonly clockOffsetsMs: readonly number[]
  /** Of the protocols: small ones, so that logs are truncated and snapshots sent, or the usual ones. */
  readonly limits: Limits
  /** Sites that stay as they are when everything else is mended: gone, or cut off. */
  readonly broken: readonly Broken[]
  /** How long a commit takes, at most. */
  readonly commitMaxMs: number
  /** Faults happen between these. */
  readonly calmMs: number
  readonly durationMs: number
}

export interface PlanOptions {
  /** Faults and actions that are left out, by their ids; and what of `LEFT_OUT` is. */
  readonly without?: ReadonlySet<string>
  /** Whether anything goes wrong at all. */
  readonly faults?: boolean
  /** All locks are born before anything goes wrong. */
  readonly calmBirths?: boolean
  /** Whether there is a lock that several operators make and end; by the seed unless it is said. */
  readonly contests?: boolean
  /** Whether the lock that moves is made again with other numbers of participants, if there is one. */
  readonly returns?: boolean
}

/** What can be left out beside faults and actions. */
export const LEFT_OUT = [
  'broken',
  'loss',
  'response-loss',
  'duplication',
  'stragglers',
  'skew',
  'slow-disk',
] as const

const LOCATIONS = [null, 'weur', 'enam'] as const

/** Results are kept for longer than a client takes to ask again. */
export const SMALL_LIMITS: Limits = {
  ...DEFAULT_LIMITS,
  ...{ uncommitted: 16, logKept: 6, resultsKept: 100, waiters: 8, entriesPerMessage: 4, endingsKept: 8 },
}

/** Time for all locks to be born when nothing goes wrong. */
const CALM_MS = 6_000

export function drawPlan(seed: number, options: PlanOptions = {}): Plan {
  const { without = new Set<string>(), faults: hasFaults = true, calmBirths = false } = options
  const isLeft = ({ id }: { readonly id: number }) => !without.has(String(id))
  const random = new Random(seed, STREAM.plan)
  const deployment = drawDeployment(random)
  const locks = drawLocks(random, deployment)
  const durationMs = random.between(6_000, 20_000)
  const clockOffsetsMs = drawClocks(random, deployment)
  const network = drawNetwork(random)
  const slowMs = random.chance(0.2) ? random.between(20, 200) : random.between(1, 5)
  const commitMaxMs = without.has('slow-disk') ? 1 : slowMs
  const faults = drawFaults(new Random(seed, STREAM.faults), { deployment, locks, durationMs })
  const moving = drawMovingLock(new Random(seed, STREAM.moves), deployment)
  const clients = drawClients(seed, random, deployment, locks, durationMs)
  const contestRandom = new Random(seed, STREAM.contests)
  const { contests = hasContest(seed, contestRandom) } = options
  const contest = contests ? drawContest(contestRandom, { deployment, durationMs }) : null
  const returnsRandom = new Random(seed, STREAM.returns)
  const { returns = hasReturns(seed, returnsRandom) } = options
  const later = [...(contest?.clients ?? [])]
  if (returns && moving !== null) later.push(drawReturns(returnsRandom, moving, durationMs, deployment))
  const plan: Plan = {
    ...{ seed, deployment, durationMs, commitMaxMs, calmMs: 0 },
    locks: [...locks, moving, contest?.lock ?? null].filter(lock => lock !== null),
    limits: random.chance(0.7) ? SMALL_LIMITS : DEFAULT_LIMITS,
    broken: hasFaults && !without.has('broken') ? drawBroken(random, deployment) : [],
    clockOffsetsMs: hasFaults && !without.has('skew') ? clockOffsetsMs : clockOffsetsMs.map(() => 0),
    network: hasFaults ? networkWithout(network, without) : calmed(network),
    faults: hasFaults ? inOrder([...faults, ...(contest?.faults ?? [])]).filter(isLeft) : [],
    clients: [
      ...clients.map((client, index) => ({
        ...client,
        clockOffsetMs: hasFaults && !without.has('skew') ? client.clockOffsetMs : 0,
        actions: withMoves(client.actions, seed, index, moving, durationMs, deployment).filter(isLeft),
      })),
      ...later.map(one => ({ ...one, actions: one.actions.filter(isLeft) })),
    ],
  }
  return calmBirths ? withCalmBirths(plan) : plan
}

function withMoves(
  actions: readonly Action[],
  seed: number,
  index: number,
  lock: LockPlan | null,
  durationMs: number,
  deployment: Deployment,
): readonly Action[] {
  if (lock === null) return actions
  const random = new Random(seed, STREAM.moves * 100 + index)
  const moves = drawMoves(random, index, lock, durationMs, deployment)
  return [...actions, ...moves].sort((left, right) => left.at - right.at)
}

const inOrder = (faults: readonly Fault[]): Fault[] => faults.toSorted((left, right) => left.at - right.at)

export const calmed = (network: NetworkPlan): NetworkPlan => ({
  ...network,
  ...{ requestLoss: 0, responseLoss: 0, duplication: 0, straggling: 0 },
})

function networkWithout(network: NetworkPlan, without: ReadonlySet<string>): NetworkPlan {
  const { requestLoss, responseLoss, duplication, straggling } = network
  return {
    ...network,
    requestLoss: without.has('loss') ? 0 : requestLoss,
    responseLoss: without.has('response-loss') ? 0 : responseLoss,
    duplication: without.has('duplication') ? 0 : duplication,
    straggling: without.has('stragglers') ? 0 : straggling,
  }
}

/** Everything happens later. Before it, each lock is configured if a client wishes so, and used once. */
function withCalmBirths(plan: Plan): Plan {
  const [first, ...others] = plan.clients
  const births = plan.locks.flatMap(({ name, wishes }, index): Action[] => [
    ...(wishes.length > 0 ? [configureAction(FIRST_BIRTH_ID + 2 * index, name, wishes[0]!)] : []),
    plainTransact(FIRST_BIRTH_ID + 2 * index + 1, 0, name),
  ])
  const later = (client: ClientPlan): ClientPlan => ({
    ...client,
    actions: client.actions.map(action => ({ ...action, at: action.at + CALM_MS })),
  })
  const firstLater = later(first!)
  return {
    ...plan,
    calmMs: CALM_MS,
    durationMs: plan.durationMs + CALM_MS,
    faults: plan.faults.map(fault => ({ ...fault, at: fault.at + CALM_MS })),
    clients: [{ ...firstLater, actions: [...births, ...firstLater.actions] }, ...others.map(later)],
  }
}

function drawDeployment(random: Random): Deployment {
  const kind = random.chance(0.5) ? 'single' : 'cluster'
  const sites = random.pick([1, 2, 3, 3, 3, 3, 3, 3, 3, 4, 5, 5, 5, 7])
  const usual: Version = { protocol: drawDefaultProtocol(random), location: null }
  const other: Version = {
    protocol: random.chance(0.5) ? usual.protocol : drawDefaultProtocol(random),
    location: random.pick(LOCATIONS),
  }
  return { kind, sites, routers: random.between(1, 2), versions: [usual, other] }
}

/** A minority. */
function drawBroken(random: Random, { sites }: Deployment): Broken[] {
  if (!random.chance(0.3)) return []
  const all = Array.from({ length: sites }, (_, index) => index + 1)
  const count = random.between(0, sites - majority(sites))
  const how = random.chance(0.5) ? 'gone' : 'cut off'
  return random
    .shuffled(all)
    .slice(0, count)
    .map(site => ({ site, how }))
}

function drawDefaultProtocol(random: Random): ProtocolName {
  return random.pick([
    ...new Array<ProtocolName>(9).fill('wme-2'),
    'wme-1',
    'wme-consensus',
    'ricart-agrawala',
    'maekawa',
  ])
}

function drawLocks(random: Random, { kind, sites }: Deployment): LockPlan[] {
  const kinds: LockKind[] = ['busy']
  if (random.chance(0.6)) kinds.push('idle')
  if (random.chance(0.6)) kinds.push('late')
  if (random.chance(0.6)) kinds.push('configured')
  if (random.chance(0.5)) kinds.push('mortal')
  return kinds.map(lockKind => {
    const isConfigured = lockKind === 'configured' || random.chance(0.15)
    // A cluster refuses more participants than it has processes.
    const most = kind === 'single' ? 7 : sites + (random.chance(0.2) ? 2 : 0)
    const wish = drawWish(random, most)
    const wishes = isConfigured ? [wish, random.chance(0.5) ? wish : drawWish(random, sites)] : []
    return { name: lockKind, kind: lockKind, wishes }
  })
}

function drawWish(random: Random, mostParticipants: number): Wish {
  const protocol = drawDefaultProtocol(random)
  const heartbeatMs = random.pick([50, 100, 200])
  return {
    ...(random.chance(0.7) && { protocol }),
    ...(random.chance(0.6) && { participants: random.between(1, mostParticipants) }),
    ...(random.chance(0.5) && { detector: { heartbeatMs, timeoutMs: heartbeatMs * random.between(4, 8) } }),
    ...(random.chance(0.3) && { ttlMs: random.between(1_000, 5_000) }),
  }
}

function drawClocks(random: Random, { sites, routers }: Deployment): number[] {
  const isSkewed = random.chance(0.5)
  const offsets = Array.from({ length: Math.max(sites, 7) + routers + 1 }, () =>
    random.between(-60_000, 60_000),
  )
  return isSkewed ? offsets : offsets.map(() => 0)
}

function drawNetwork(random: Random): NetworkPlan {
  const probability = (most: number) => (random.chance(0.5) ? random.logUniform(0.002, most) : 0)
  const delayMinMs = random.pick([0.3, 0.5, 1, 5])
  return {
    requestLoss: probability(0.15),
    responseLoss: probability(0.15),
    duplication: probability(0.15),
    straggling: probability(0.05),
    delayMinMs,
    delayMaxMs: delayMinMs + random.pick([0.5, 2, 10, 40]),
  }
}

function drawClients(
  seed: number,
  random: Random,
  deployment: Deployment,
  locks: readonly LockPlan[],
  durationMs: number,
): ClientPlan[] {
  const count = random.between(2, 5)
  const isSkewed = random.chance(0.3)
  return Array.from({ length: count }, (_, index) => ({
    router: random.below(deployment.routers),
    clockOffsetMs: isSkewed ? random.between(-60_000, 60_000) : 0,
    actions: [
      ...drawActions(new Random(seed, STREAM.actions * 100 + index), {
        index,
        locks,
        durationMs,
        sites: deployment.sites,
      }),
      ...drawCopies(new Random(seed, STREAM.copies * 100 + index), index, locks, durationMs),
      ...drawLooks(new Random(seed, STREAM.looks * 100 + index), index, locks, durationMs, deployment.sites),
    ].sort((left, right) => left.at - right.at),
  }))
}
