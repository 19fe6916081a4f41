/** Everything that is measured: each protocol, placement and kind of work, beside one object and a leader. */
import { GUARDING_PROTOCOLS, PROTOCOL_NAMES, protocolNamed } from '../../shared/protocols/all.ts'
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import type { ProtocolOf } from '../tables/subjects.ts'
import { BatonLock } from './baton.ts'
import { LeaderStore } from './leader-store.ts'
import { ALL_PLACES, PLACES, type Place, roundTripMs } from './places.ts'
import { PlainObject } from './plain-object.ts'
import type { Service } from './service.ts'
import { type Action, KINDS_OF_WORK, measure, type Work } from './work.ts'
import { type Conditions, World } from './world.ts'

export interface Placement {
  readonly title: string
  readonly participants: readonly Place[]
  /** Where the clients are. */
  readonly audience: readonly Place[]
}

const EUROPE = ['amsterdam', 'london', 'warsaw'] as const

/** The first one is what a lock gets that nobody configured. */
export const PLACEMENTS: readonly Placement[] = [
  {
    title: 'N = 3, one on each of three continents',
    participants: ['amsterdam', 'virginia', 'singapore'],
    audience: ALL_PLACES,
  },
  {
    title: 'N = 5, around the world',
    participants: ['amsterdam', 'virginia', 'singapore', 'california', 'sydney'],
    audience: ALL_PLACES,
  },
  {
    title: 'N = 7, wherever Cloudflare keeps objects',
    participants: ['amsterdam', 'virginia', 'singapore', 'california', 'sydney', 'tokyo', 'warsaw'],
    audience: ALL_PLACES,
  },
  { title: 'N = 3, all in Europe', participants: EUROPE, audience: EUROPE },
  {
    title: 'N = 5, three in Europe and two abroad',
    participants: [...EUROPE, 'virginia', 'singapore'],
    audience: EUROPE,
  },
]

export interface Distribution {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  /** Messages between the parts of the service, for each call. */
  readonly messages: number
}

export type Contender = ProtocolName | 'object' | 'object, 3 calls' | 'leader' | 'leader, 3 calls'

export const CONTENDERS: readonly Contender[] = [
  'object',
  'object, 3 calls',
  'leader',
  'leader, 3 calls',
  ...PROTOCOL_NAMES,
]

export interface Row {
  readonly placement: string
  readonly work: Work
  readonly contender: Contender
  /** Where the object or the leader is. */
  readonly home: Place | null
  /** `null` where it is the same as in the row above. */
  readonly acquire: Distribution | null
  /** `null` for a lock that guards no state. */
  readonly transact: Distribution | null
}

/** Calls behind each distribution, or a few more: each place makes equally many. */
export const SAMPLES = 330

export interface Setting {
  readonly conditions: Conditions
  readonly samples: number
  readonly placements: readonly Placement[]
  /** Default: all. */
  readonly contenders?: readonly Contender[]
  readonly protocolOf?: ProtocolOf
}

export function measureAll(setting: Setting): Row[] {
  const { conditions, samples, placements, contenders = CONTENDERS, protocolOf = protocolNamed } = setting
  return placements.flatMap(placement =>
    (Object.keys(KINDS_OF_WORK) as Work[]).flatMap(work =>
      contenders.map(contender => {
        const home = homeOf(contender, placement)
        const distribution = (action: Action): Distribution => {
          const world = new World(conditions)
          const service = serviceOf(world, contender, home, placement, protocolOf)
          const { audience } = placement
          const task = {
            work,
            action,
            audience,
            samples: Math.ceil(samples / audience.length) * audience.length,
          }
          const { latencies, messages } = measure(world, service, task)
          return { ...percentiles(latencies), messages: rounded(messages) }
        }
        return {
          placement: placement.title,
          work,
          contender,
          home,
          acquire: contender.endsWith('3 calls') ? null : distribution('acquire'),
          transact: guardsState(contender) ? distribution('transact') : null,
        }
      }),
    ),
  )
}

const isProtocol = (contender: Contender): contender is ProtocolName =>
  (PROTOCOL_NAMES as readonly string[]).includes(contender)

const guardsState = (contender: Contender): boolean =>
  !isProtocol(contender) || GUARDING_PROTOCOLS.includes(contender)

function serviceOf(
  world: World,
  contender: Contender,
  home: Place | null,
  { participants }: Placement,
  protocolOf: ProtocolOf,
): Service {
  if (isProtocol(contender)) return new BatonLock(world, protocolOf(contender), participants)
  const calls = contender.endsWith('3 calls') ? 3 : 1
  return contender.startsWith('object')
    ? new PlainObject(world, home!, calls)
    : new LeaderStore(world, home!, participants, calls)
}

/**
 * One object and the leader are where they serve this audience best: an object anywhere that Cloudflare keeps
 * objects, a leader at one of the replicas, with what it needs to reach a majority.
 */
function homeOf(contender: Contender, { participants, audience }: Placement): Place | null {
  if (isProtocol(contender)) return null
  const wayTo = (home: Place) => audience.reduce((sum, from) => sum + roundTripMs(from, home, 0), 0)
  if (contender.startsWith('object')) {
    return leastBy(
      ALL_PLACES.filter(place => PLACES[place].hint !== null),
      wayTo,
    )
  }
  return leastBy(participants, home => wayTo(home) + audience.length * majorityMs(home, participants))
}

/** The round trip to as many others as make a majority with this one. */
export function majorityMs(home: Place, participants: readonly Place[]): number {
  const others = participants.filter(place => place !== home).map(place => roundTripMs(home, place, 0))
  return others.sort((a, b) => a - b)[Math.floor(participants.length / 2) - 1] ?? 0
}

const leastBy = <Item>(items: readonly Item[], cost: (item: Item) => number): Item =>
  items.reduce((best, item) => (cost(item) < cost(best) ? item : best))

/** By the nearest rank: half of the calls take at most `p50`. `sorted` begins with the shortest. */
export function percentiles(sorted: readonly number[]): Pick<Distribution, 'p50' | 'p90' | 'p99'> {
  const at = (share: number): number => rounded(sorted[Math.ceil(sorted.length * share) - 1]!)
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99) }
}

const rounded = (value: number): number => Math.round(value * 10) / 10
