/**
 * The parameters of one run, drawn from its seed. Not every fault is in every run, and none has the same
 * strength in all of them: faults hide each other's consequences, and what a constant storm never lets
 * happen, a calm hour may.
 */
import type { Limits, ProtocolName, Timing } from '../../shared/protocols/protocol.ts'
import type { Fault } from './faults.ts'
import { Random } from './random.ts'
import type { Variant } from './variant.ts'

export interface RunOptions {
  readonly protocol: ProtocolName
  readonly participants: number
  readonly faults: readonly Fault[]
  /** The length of the phase with faults, in virtual milliseconds; `null`: drawn from the seed. */
  readonly durationMs: number | null
  /** How many users each participant has at most; `null`: drawn from the seed. */
  readonly users: number | null
  /** Without any of the protocol's options, whatever the seed would choose. */
  readonly plain?: boolean
  /** Operators change the members of the lock, in the protocols that can. */
  readonly members?: boolean
}

export interface Scenario {
  readonly seed: number
  readonly options: RunOptions
  readonly variant: Variant
  readonly durationMs: number
  /** Users by participant; index 0 is unused. */
  readonly users: readonly number[]
  /** When the users of each participant come, in virtual milliseconds; index 0 is unused. */
  readonly arrivals: readonly number[]
  readonly timing: Timing
  readonly limits: Limits
  readonly localHandoffs: number
  readonly network: NetworkScenario
  /** Mean virtual time between two faults of a kind; Infinity: never. */
  readonly meanMs: { readonly [fault in TimedFault]: number }
  /** The probability that a step with effects ends in a crash after its save, somewhere among its effects. */
  readonly crashAfterSave: number
  /** Each participant's own clock; index 0 is unused. */
  readonly clocks: readonly Clock[]
  readonly clients: ClientScenario
  /** Mean time between two linearizable reads. */
  readonly readMs: number
  /** Mean time between two changes of the members; Infinity: never. */
  readonly changeMs: number
  /** Participants, with those that may come later. */
  readonly machines: number
  /**
   * Everything saved and sent is copied through JSON and frozen: this finds state that is shared or changed
   * in place.
   */
  readonly strict: boolean
}

export type TimedFault =
  | 'crashes'
  | 'wipes'
  | 'pauses'
  | 'partitions'
  | 'one-way'
  | 'suspicions'
  | 'delays'
  | 'operator'
  | 'mischief'
  | 'leavers'

export interface NetworkScenario {
  readonly loss: number
  readonly duplication: number
  readonly delayMinMs: number
  readonly delayMaxMs: number
  readonly isFifo: boolean
}

export interface Clock {
  readonly rate: number
  readonly offsetMs: number
}

export interface ClientScenario {
  /** How long a user stays away, at most. */
  readonly awayMs: number
  /**
   * Which part of that time in the first phase: below 1 in a crowd. After the healing the crowd has
   * dispersed: a lossy participant that stays broken may be the owner, and how many others go first is then a
   * matter of luck and of haste.
   */
  readonly patience: number
  readonly ttlMinMs: number
  readonly ttlMaxMs: number
  readonly confirm: number
  readonly crash: number
  readonly withdraw: number
  readonly overstay: number
  readonly loss: number
  /** Whether there is anything to issue operations on. */
  readonly issues: boolean
  /** The probability that a user leaves with its last operation. */
  readonly leavesWithOperation: number
  /** The probability that a user is a reader. */
  readonly shared: number
}

export const SIMULATED_TIMING: Timing = {
  heartbeatMs: 50,
  timeoutMs: 200,
  timeoutMaxMs: 5_000,
  timeoutMinMs: 40,
  repeatMs: 30,
  repeatMaxMs: 500,
  proposeMs: 50,
  flushMs: 10,
  confirmMs: 10,
}

/** Small, so that logs are truncated, results dropped and snapshots sent all the time. */
const SIMULATED_LIMITS: Limits = {
  uncommitted: 16,
  logKept: 8,
  logWeight: 600,
  resultsKept: 16,
  waiters: 4,
  entriesPerMessage: 4,
  messageWeight: 600,
  operationWeight: 10_000,
  endingsKept: 4,
  idleRepeats: 3,
}

/** Streams of randomness, so that no concern disturbs another. */
export const STREAM = {
  scenario: 1,
  network: 2,
  faults: 3,
  steps: 4,
  clients: 5,
  healing: 6,
  askers: 7,
  variant: 8,
  mischief: 9,
  leavers: 10,
  arrivals: 11,
  members: 12,
} as const

const STRICT_EVERY = 32

export function drawScenario(options: RunOptions, seed: number, variant: Variant): Scenario {
  const random = new Random(seed, STREAM.scenario)
  const { claims } = variant
  const isOn = (fault: Fault) => options.faults.includes(fault) && claims.faults.includes(fault)
  // Each kind of fault draws whether it is on or off, so that no run's draws depend on the options.
  const drawn = new Map<Fault, number>()
  const strength = (fault: Fault): number => {
    const known = drawn.get(fault)
    if (known !== undefined) return known
    const present = random.chance(0.7)
    const level = random.fraction()
    const value = present && isOn(fault) ? level : -1
    drawn.set(fault, value)
    return value
  }
  const probability = (fault: Fault, least: number, most: number): number => {
    const level = strength(fault)
    return level < 0 ? 0 : least * (most / least) ** level
  }
  const meanMs = (fault: Fault, most: number, least: number): number => {
    const level = strength(fault)
    return level < 0 ? Number.POSITIVE_INFINITY : most * (least / most) ** level
  }
  const duration = random.between(3_000, 9_000)
  const mostUsers = random.between(1, 3)
  const users: number[] = [0]
  const clocks: Clock[] = [{ rate: 1, offsetMs: 0 }]
  const skewed = strength('skew') >= 0
  for (let id = 1; id <= options.participants; id++) {
    users.push(Math.min(random.between(random.chance(0.2) ? 0 : 1, mostUsers), options.users ?? mostUsers))
    const clock = { rate: 0.8 * 1.5625 ** random.fraction(), offsetMs: random.between(0, 10_000) }
    clocks.push(skewed ? clock : { rate: 1, offsetMs: 0 })
  }
  // Without any user there is nothing to see.
  if (!users.some(count => count > 0)) users[1] = 1
  const delayMinMs = random.between(1, 4)
  const ttlMinMs = random.between(100, 600)
  const crowd = drawCrowd(seed, options.participants)
  const machines = drawMachines(seed, options)
  users.push(...machines.users)
  crowd.arrivals.push(...machines.users.map(() => 0))
  clocks.push(...machines.clocks.map(clock => (skewed ? clock : { rate: 1, offsetMs: 0 })))
  return {
    seed,
    options,
    variant,
    durationMs: options.durationMs ?? duration,
    users,
    arrivals: crowd.arrivals,
    timing: { ...SIMULATED_TIMING, confirmMs: seed % 3 === 0 ? 0 : SIMULATED_TIMING.confirmMs },
    limits: { ...SIMULATED_LIMITS, resultsKept: random.between(8, 32) },
    localHandoffs: random.between(0, 3),
    network: {
      loss: probability('loss', 0.01, 0.3),
      duplication: probability('duplication', 0.01, 0.3),
      delayMinMs,
      delayMaxMs: delayMinMs + random.between(1, 16),
      isFifo: strength('reordering') < 0,
    },
    meanMs: {
      crashes: meanMs('crashes', 6_000, 500),
      wipes: meanMs('wipes', 8_000, 1_500),
      pauses: meanMs('pauses', 6_000, 600),
      partitions: meanMs('partitions', 6_000, 800),
      'one-way': meanMs('one-way', 6_000, 800),
      suspicions: meanMs('suspicions', 4_000, 200),
      delays: meanMs('delays', 4_000, 400),
      operator: meanMs('operator', 8_000, 800),
      mischief: isOn('mischief') ? drawMean(seed, STREAM.mischief, 2_000) : Number.POSITIVE_INFINITY,
      leavers: isOn('leavers') ? drawMean(seed, STREAM.leavers, 6_000) : Number.POSITIVE_INFINITY,
    },
    crashAfterSave: probability('crashes', 0.0003, 0.01),
    clocks,
    clients: {
      awayMs: random.logUniform(5, 600),
      patience: crowd.patience,
      ttlMinMs,
      ttlMaxMs: ttlMinMs + random.between(100, 1_200),
      confirm: random.chance(0.5) ? 0.3 : 0,
      crash: probability('client-crashes', 0.002, 0.05),
      withdraw: probability('withdrawals', 0.02, 0.3),
      overstay: probability('expiries', 0.01, 0.15),
      loss: probability('loss', 0.003, 0.05),
      issues: claims.guardsState,
      leavesWithOperation: options.protocol === 'wme-1' || options.protocol === 'wme-2' ? 0.4 : 0,
      shared: claims.readers ? drawReaders(seed) : 0,
    },
    readMs: drawReads(random, claims.guardsState),
    changeMs: machines.changeMs,
    machines: options.participants + machines.spare,
    strict: seed % STRICT_EVERY === 0,
  }
}

/**
 * In most runs all users are there from the beginning. In some, few are, and the others come late, all at
 * once, and ask again as soon as they have left. Then, if a protocol has numbers, the users that were there
 * have high ones, and the others low ones.
 */
function drawCrowd(seed: number, participants: number): { arrivals: number[]; patience: number } {
  const random = new Random(seed, STREAM.arrivals)
  const arrivals = new Array<number>(participants + 1).fill(0)
  if (random.chance(0.75)) return { arrivals, patience: 1 }
  const lateMs = random.between(400, 2_500)
  const early = random.between(1, participants)
  for (let id = 1; id <= participants; id++) if (id !== early && random.chance(0.7)) arrivals[id] = lateMs
  return { arrivals, patience: 0.02 }
}

/** Machines that may become members, their users and their clocks. */
const SPARE_MACHINES = 10

function drawMachines(
  seed: number,
  { members, users: most }: RunOptions,
): { spare: number; changeMs: number; users: number[]; clocks: Clock[] } {
  if (members !== true) return { spare: 0, changeMs: Number.POSITIVE_INFINITY, users: [], clocks: [] }
  const random = new Random(seed, STREAM.members * 100 + 1)
  const users: number[] = []
  const clocks: Clock[] = []
  for (let machine = 0; machine < SPARE_MACHINES; machine++) {
    users.push(Math.min(random.between(0, 2), most ?? 2))
    clocks.push({ rate: 0.8 * 1.5625 ** random.fraction(), offsetMs: random.between(0, 10_000) })
  }
  return { spare: SPARE_MACHINES, changeMs: random.logUniform(400, 4_000), users, clocks }
}

function drawReads(random: Random, guardsState: boolean): number {
  const readMs = random.chance(0.5) ? random.logUniform(5, 1_000) : Number.POSITIVE_INFINITY
  return guardsState ? readMs : Number.POSITIVE_INFINITY
}

/**
 * What only some protocols have draws from a stream of its own, so that the runs of the others stay what they
 * were.
 */
function drawMean(seed: number, stream: number, most: number): number {
  const random = new Random(seed, stream)
  return random.chance(0.7) ? random.logUniform(most / 40, most) : Number.POSITIVE_INFINITY
}

function drawReaders(seed: number): number {
  const random = new Random(seed, STREAM.variant * 100 + 1)
  return random.chance(0.5) ? random.fraction() : 0
}
