/** The parameters of one simulated run, drawn from its seed. */
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import { DEFAULT_TIMING, type ProtocolName } from '../../shared/protocols/protocol.ts'
import { Random } from '../simulator/random.ts'

export type Wipes = 'none' | 'in-turn' | 'wild'

export interface Scenario {
  readonly seed: number
  readonly registrars: number
  /**
   * Processes with a number above the registrars hold participants of configured locks, where there is no
   * ledger.
   */
  readonly processes: number
  readonly hasLedger: boolean
  readonly wipes: Wipes
  /** Ledgers lose their storage, too, while the participants in their process keep theirs. */
  readonly wipesLedgers: boolean
  /** The defaults of each process's version of the deployment, by process. */
  readonly defaults: readonly LockConfiguration[]
  /** Processes get another version while things go wrong: when, which one, and its defaults. */
  readonly deploys: readonly DeployPlan[]
  readonly locks: readonly string[]
  readonly durationMs: number
  readonly loss: number
  readonly duplication: number
  readonly late: number
  /** The probability of a crash in a step, after its save. */
  readonly crash: number
  /** Mean time between faults of each kind, in ms; 0: none. */
  readonly stopEveryMs: number
  readonly cutEveryMs: number
  readonly wipeEveryMs: number
  /** Locks are deleted. */
  readonly endings: boolean
  readonly usersPerParticipant: number
  readonly configures: readonly ConfigurePlan[]
  /** When each process comes up for the first time. */
  readonly upAt: readonly number[]
}

export interface DeployPlan {
  readonly at: number
  readonly process: number
  readonly defaults: LockConfiguration
}

export interface ConfigurePlan {
  readonly at: number
  readonly process: number
  readonly lock: string
  readonly configuration: LockConfiguration
}

const PROTOCOLS: readonly ProtocolName[] = [
  'wme-2',
  'wme-2',
  'wme-2',
  'wme-2',
  'wme-1',
  'wme-consensus',
  'ricart-agrawala',
  'maekawa',
]

export function configurationOf(
  protocol: ProtocolName,
  participants: number,
  ttlMs: number,
  hasUrls: boolean,
): LockConfiguration {
  return {
    number: 1,
    protocol,
    participants: Array.from({ length: participants }, (_, index) => ({
      id: index + 1,
      location: null,
      url: hasUrls ? `http://process-${index + 1}` : null,
    })),
    firstOwner: 1,
    ttlMs,
    detector: { heartbeatMs: DEFAULT_TIMING.heartbeatMs, timeoutMs: DEFAULT_TIMING.timeoutMs },
    localHandoffs: 1,
    resource: 'key-value',
  }
}

const SMALLEST_THAT_HEALS = 3

export function drawScenario(seed: number): Scenario {
  const random = new Random(seed, 1)
  const registrars = random.pick([3, 3, 3, 3, 5, 5, 1, 2, 4, 7])
  const hasLedger = random.chance(0.65)
  // If a lock has two participants, what one of them has lost stays lost.
  const canHeal = registrars >= SMALLEST_THAT_HEALS
  const wipes = !hasLedger
    ? 'none'
    : random.pick(canHeal ? (['none', 'in-turn', 'in-turn', 'wild'] as const) : (['none', 'wild'] as const))
  const mayBeLost = wipes === 'in-turn'
  const protocols = mayBeLost ? PROTOCOLS.slice(0, 5) : PROTOCOLS
  const first = random.pick(protocols)
  // The default configuration may change from one version to the next, also from weak to strict (G13).
  const second = random.chance(0.3) ? random.pick(protocols) : first
  const ttls = random.chance(0.3) ? [3_000, 4_000] : [3_000, 3_000]
  const processes = hasLedger ? registrars : Math.max(registrars, random.pick([3, 5, 7]))
  const versionOf = (isNew: boolean) =>
    configurationOf(isNew ? second : first, registrars, ttls[isNew ? 1 : 0]!, hasLedger)
  const defaults = Array.from({ length: processes }, () => versionOf(random.chance(0.5)))
  const locks = ['north', 'south', 'east'].slice(0, random.pick([1, 1, 2]))
  const durationMs = random.between(2_000, 9_000)
  const isCalm = random.chance(0.15)
  const rate = (most: number) => (isCalm ? 0 : random.pick([0, most / 4, most]))
  const later = new Random(seed, 3)
  const deploys = Array.from({ length: second === first ? 0 : later.between(0, processes) }, () => ({
    at: later.between(0, durationMs),
    process: later.between(1, processes),
    defaults: versionOf(later.chance(0.5)),
  }))
  return {
    seed,
    deploys,
    registrars,
    processes,
    hasLedger,
    wipes,
    // Where all ledgers may be lost, nobody can tell what the participants that are left had.
    wipesLedgers: wipes === 'in-turn' && seed % 4 === 3,
    defaults,
    locks,
    durationMs,
    loss: rate(0.3),
    duplication: rate(0.25),
    late: rate(0.1),
    crash: rate(0.03),
    stopEveryMs: isCalm ? 0 : random.pick([0, 700, 2_000]),
    cutEveryMs: isCalm ? 0 : random.pick([0, 700, 2_000]),
    wipeEveryMs: wipes === 'none' ? 0 : random.pick([600, 1_500]),
    usersPerParticipant: random.pick([1, 1, 2]),
    endings: seed % 2 === 0,
    configures: drawConfigures(random, {
      registrars,
      fewest: mayBeLost ? SMALLEST_THAT_HEALS : 1,
      most: hasLedger ? registrars : processes,
      hasLedger,
      locks,
      durationMs,
      protocols,
    }),
    upAt: Array.from({ length: processes }, () =>
      random.chance(0.6) ? 0 : random.between(1, random.chance(0.2) ? durationMs : 1_500),
    ),
  }
}

interface Frame {
  readonly registrars: number
  readonly fewest: number
  readonly most: number
  readonly hasLedger: boolean
  readonly locks: readonly string[]
  readonly durationMs: number
  readonly protocols: readonly ProtocolName[]
}

function drawConfigures(random: Random, frame: Frame): ConfigurePlan[] {
  const { registrars, fewest, most, hasLedger, locks, durationMs, protocols } = frame
  const count = random.pick([0, 0, 1, 2, 3])
  return Array.from({ length: count }, () => ({
    at: random.chance(0.5) ? random.between(0, 300) : random.between(0, durationMs),
    process: random.between(1, registrars),
    lock: random.pick(locks),
    configuration: configurationOf(
      random.pick(protocols),
      random.between(fewest, most),
      random.pick([3_000, 5_000]),
      hasLedger,
    ),
  }))
}
