/**
 * The model of bench/regions/ is right: without chance and without disks, a call takes exactly the round
 * trips that the papers, or plain arithmetic, say.
 */
import { describe, expect, it } from 'vitest'
import { BatonLock } from '../../bench/regions/baton.ts'
import { LeaderStore } from '../../bench/regions/leader-store.ts'
import { majorityMs, PLACEMENTS, percentiles } from '../../bench/regions/measure.ts'
import { ALL_PLACES, nearest, PLACES, type Place, roundTripMs } from '../../bench/regions/places.ts'
import { PlainObject } from '../../bench/regions/plain-object.ts'
import type { Grant, Service } from '../../bench/regions/service.ts'
import { type Conditions, DEFAULT_CONDITIONS, World } from '../../bench/regions/world.ts'
import { LOCATIONS } from '../../shared/api/limits.ts'
import { protocolNamed } from '../../shared/protocols/all.ts'
import { memberSets } from '../../shared/protocols/maekawa/sets/sets.ts'
import type { ProtocolName } from '../../shared/protocols/protocol.ts'

const NEAR_MS = 2
const EXACT: Conditions = { seed: 1, nearMs: NEAR_MS, diskMs: 0, spread: 0 }
const WORLD: readonly Place[] = ['amsterdam', 'virginia', 'singapore']
const FIVE: readonly Place[] = ['amsterdam', 'virginia', 'singapore', 'california', 'sydney']

const trip = (one: Place, other: Place): number => roundTripMs(one, other, NEAR_MS)

class Clients {
  readonly world: World
  readonly service: Service

  constructor(conditions: Conditions, makeService: (world: World) => Service) {
    this.world = new World(conditions)
    this.service = makeService(this.world)
  }

  static of(protocol: ProtocolName, places: readonly Place[], conditions = EXACT): Clients {
    return new Clients(conditions, world => new BatonLock(world, protocolNamed(protocol), places))
  }

  private wait<Answer>(ask: (answered: (answer: Answer) => void) => void): { answer: Answer; ms: number } {
    const began = this.world.now
    let answer: Answer | undefined
    let isThere = false
    ask(given => {
      answer = given
      isThere = true
    })
    this.world.run(() => isThere)
    return { answer: answer as Answer, ms: this.world.now - began }
  }

  acquire(from: Place): { grant: Grant; ms: number } {
    const { answer, ms } = this.wait<Grant>(answered => this.service.acquire(from, answered))
    return { grant: answer, ms }
  }

  transact(from: Place): number {
    return this.wait<void>(answered => this.service.transact(from, () => answered())).ms
  }

  /** Takes the lock, gives it back, and lets everything come to rest. */
  acquireAndRelease(from: Place): number {
    const { grant, ms } = this.acquire(from)
    this.wait<void>(answered => grant.release(() => answered()))
    this.rest()
    return ms
  }

  rest(): void {
    const until = this.world.now + 10_000
    this.world.at(until, () => {})
    this.world.run(() => this.world.now >= until)
  }
}

const close = (actual: number, expected: number) => expect(actual).toBeCloseTo(expected, 6)

describe.each(['wme-1', 'wme-2'] as const)('%s', protocol => {
  it('asks nobody to enter where the lock was used last', () => {
    const clients = Clients.of(protocol, WORLD)
    clients.acquireAndRelease('amsterdam')
    const before = clients.service.messages
    const { ms } = clients.acquire('amsterdam')
    close(ms, NEAR_MS)
    expect(clients.service.messages).toBe(before)
  })

  it('takes a round trip to the owner to enter elsewhere (REQUEST, GRANTED)', () => {
    const clients = Clients.of(protocol, FIVE)
    close(clients.acquireAndRelease('singapore'), NEAR_MS + trip('singapore', 'amsterdam'))
    close(clients.acquireAndRelease('california'), NEAR_MS + trip('california', 'singapore'))
    close(clients.acquireAndRelease('california'), NEAR_MS)
  })

  it('takes a round trip to the nearest majority for an operation (INVOKE, ACK)', () => {
    for (const places of [WORLD, FIVE]) {
      const clients = Clients.of(protocol, places)
      close(clients.transact('amsterdam'), NEAR_MS + majorityMs('amsterdam', places))
      clients.rest()
      close(clients.transact('amsterdam'), NEAR_MS + majorityMs('amsterdam', places))
    }
  })

  it('takes both for an operation elsewhere', () => {
    const clients = Clients.of(protocol, FIVE)
    const expected = NEAR_MS + trip('sydney', 'amsterdam') + majorityMs('sydney', FIVE)
    close(clients.transact('sydney'), expected)
  })

  it('adds the way to the nearest participant', () => {
    const clients = Clients.of(protocol, WORLD)
    expect(nearest('tokyo', WORLD)).toBe('singapore')
    clients.acquireAndRelease('singapore')
    close(clients.acquireAndRelease('tokyo'), trip('tokyo', 'singapore'))
  })

  it('waits for its own disk to enter, and for that of a peer, too, to operate', () => {
    const clients = Clients.of(protocol, WORLD, { ...EXACT, diskMs: 7 })
    clients.acquireAndRelease('amsterdam')
    close(clients.acquireAndRelease('amsterdam'), NEAR_MS + 7)
    const writes = (clients.transact('amsterdam') - NEAR_MS - majorityMs('amsterdam', WORLD)) / 7
    close(writes, Math.round(writes))
    expect(writes).toBeGreaterThanOrEqual(2)
    expect(writes).toBeLessThanOrEqual(3)
  })
})

describe('the locks that guard no state', () => {
  it('ricart-agrawala asks all others', () => {
    const clients = Clients.of('ricart-agrawala', FIVE)
    const farthest = Math.max(...FIVE.slice(1).map(place => trip('amsterdam', place)))
    close(clients.acquireAndRelease('amsterdam'), NEAR_MS + farthest)
    close(clients.acquireAndRelease('amsterdam'), NEAR_MS + farthest)
  })

  it('maekawa asks the members of a set', () => {
    const clients = Clients.of('maekawa', FIVE)
    const members = memberSets(FIVE.length)[0]!.map(id => FIVE[id - 1]!)
    const farthest = Math.max(...members.map(place => trip('amsterdam', place)))
    close(clients.acquireAndRelease('amsterdam'), NEAR_MS + farthest)
  })
})

describe('what stands beside them', () => {
  const DISK: Conditions = { ...EXACT, diskMs: 5 }

  it('one object: a round trip and a write for each call', () => {
    const one = new Clients(DISK, world => new PlainObject(world, 'london', 1))
    close(one.acquireAndRelease('sydney'), trip('sydney', 'london') + 5)
    close(one.transact('sydney'), trip('sydney', 'london') + 5)
    const three = new Clients(DISK, world => new PlainObject(world, 'london', 3))
    close(three.transact('sydney'), 3 * (trip('sydney', 'london') + 5))
  })

  it('a leader: a round trip to it, one from it to its nearest majority, and a write there', () => {
    const write = trip('sydney', 'virginia') + majorityMs('virginia', FIVE) + 5
    const one = new Clients(DISK, world => new LeaderStore(world, 'virginia', FIVE, 1))
    close(one.acquireAndRelease('sydney'), write)
    close(one.transact('sydney'), write)
    expect(one.service.messages).toBe(3 * 2 * 4)
    const three = new Clients(DISK, world => new LeaderStore(world, 'virginia', FIVE, 3))
    close(three.transact('sydney'), 3 * write)
  })

  it('both let one in at a time, in the order in which they were asked', () => {
    for (const service of [
      (world: World) => new PlainObject(world, 'london', 1),
      (world: World) => new LeaderStore(world, 'virginia', FIVE, 1),
    ]) {
      const clients = new Clients(DISK, service)
      const { grant } = clients.acquire('london')
      const entered: Place[] = []
      clients.service.acquire('virginia', next => {
        entered.push('virginia')
        next.release(() => {})
      })
      clients.rest()
      clients.service.acquire('london', () => entered.push('london'))
      clients.rest()
      expect(entered).toEqual([])
      grant.release(() => {})
      clients.rest()
      expect(entered).toEqual(['virginia', 'london'])
    }
  })
})

describe('the distances', () => {
  it('are known for all pairs of places, the same in both directions', () => {
    for (const one of ALL_PLACES)
      for (const other of ALL_PLACES) {
        expect(trip(one, other)).toBeGreaterThan(0)
        expect(trip(one, other)).toBe(trip(other, one))
        expect(trip(one, other) === NEAR_MS).toBe(one === other)
      }
  })

  it('keep participants where Cloudflare keeps objects, in all its locations', () => {
    for (const { participants } of PLACEMENTS)
      for (const place of participants) expect(PLACES[place].hint).not.toBeNull()
    const hints = ALL_PLACES.flatMap(place => PLACES[place].hint ?? [])
    const withoutObjects = ['sam', 'afr', 'me']
    // `apac` is either half of it.
    const expected = LOCATIONS.filter(hint => ![...withoutObjects, 'apac'].includes(hint))
    expect(new Set(hints)).toEqual(new Set(expected))
  })

  it('are 95th percentiles: one message in twenty takes longer than half of them', () => {
    const world = new World(DEFAULT_CONDITIONS)
    const half = trip('london', 'sydney') / 2
    const ways = Array.from({ length: 10_000 }, () => world.oneWayMs('london', 'sydney') / half)
    expect(ways.filter(way => way > 1).length / ways.length).toBeCloseTo(0.05, 2)
    expect(Math.min(...ways)).toBeGreaterThanOrEqual(0.9)
    expect(Math.max(...ways)).toBeLessThan(1.01)
  })
})

describe('percentiles', () => {
  it('are by the nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1)
    expect(percentiles(hundred)).toEqual({ p50: 50, p90: 90, p99: 99 })
    expect(percentiles([4])).toEqual({ p50: 4, p90: 4, p99: 4 })
  })
})
