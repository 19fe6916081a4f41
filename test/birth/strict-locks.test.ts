/**
 * G13: a lock whose protocol promises strict exclusion, and a first owner that might begin with a weak one.
 * The first owner may run a version of the deployment with other defaults.
 */
import { describe, expect, it } from 'vitest'
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import { configurationOf } from './scenario.ts'
import { among, both, from, saying, Table, to } from './table.ts'

const FIRST = 1
const together = (protocol: ProtocolName) => configurationOf(protocol, 3, 30_000, false)
const apart = (protocol: ProtocolName) => configurationOf(protocol, 3, 30_000, true)
const STRICT: readonly ProtocolName[] = ['maekawa', 'wme-consensus', 'ricart-agrawala']

/** A cluster that is founded, with the same default protocol everywhere unless `other` has its own. */
function cluster(protocol: ProtocolName, other?: { readonly id: number; readonly protocol: ProtocolName }) {
  const defaults = (id: number) => apart(id === other?.id ? other.protocol : protocol)
  return Table.founded({ hasLedger: true, first: FIRST, defaults })
}

const five = (protocol: ProtocolName) => configurationOf(protocol, 5, 30_000, true)
const clusterOfFive = () =>
  Table.founded({ registrars: 5, hasLedger: true, first: FIRST, defaults: () => five('wme-2') })

/** Participant 2 wants the lock, and as many ballots end without a choice as it is patient for. */
function insist(table: Table): void {
  table.acquire(2, 'b')
  for (let attempt = 0; attempt < 4; attempt++) {
    table.deliver(among(2, 3))
    table.fire(2, 'birth/propose')
  }
  table.deliver(among(2, 3))
}

describe('G13 no lock is made strict while its first owner may begin a weak one alone', () => {
  it('by a PUT: only once the first owner knows', () => {
    const table = Table.founded({ first: FIRST })
    table.configure(2, 'put', configurationOf('wme-consensus', 3, 5_000, false))
    const toFirst = table.take(to(FIRST))
    table.deliver(among(2, 3))
    expect(table.events(2, 'configured')).toEqual([])
    for (const letter of toFirst) table.hand(letter)
    table.deliver()
    expect(table.events(2, 'configured')).toMatchObject([{ created: true }])
  })

  for (const protocol of STRICT) {
    it(`by the default ${protocol}: the first owner may still have an earlier one (seed 200003467)`, () => {
      const defaults = (id: number) => together(id === FIRST ? 'wme-2' : protocol)
      const table = Table.founded({ first: FIRST, defaults })
      insist(table)
      expect(table.chosen()).toEqual([])
      // The first owner was frozen, goes on, and lets a user in before it hears of anything.
      table.acquire(FIRST, 'a')
      expect(table.events(FIRST, 'crit')).toMatchObject([{ fence: 1 }])
      table.settle(4)
      expect(table.birth(2).chosen).toMatchObject({ configuration: { protocol: 'wme-2' } })
      expect(table.chosen()).toHaveLength(1)
    })
  }

  it('its promise is enough, whatever its own defaults are', () => {
    const defaults = (id: number) => together(id === FIRST ? 'wme-2' : 'maekawa')
    const table = Table.founded({ first: FIRST, defaults })
    table.acquire(2, 'b')
    table.deliver(both(among(1, 2), saying('prepare', 'promise')))
    table.acquire(FIRST, 'a')
    expect(table.events(FIRST, 'crit')).toEqual([])
    table.settle(3)
    expect(table.birth(FIRST).chosen).toMatchObject({ configuration: { protocol: 'maekawa' } })
  })

  it('whoever waits is told that the first owner is missing', () => {
    const table = Table.founded({ first: FIRST, defaults: () => together('maekawa') })
    insist(table)
    expect(table.events(2, 'unavailable')).toMatchObject([{ reason: 'no-first-owner' }])
  })

  it('at once if the first owner cannot be reached', () => {
    const table = Table.founded({ first: FIRST, defaults: () => together('maekawa') })
    table.configure(2, 'put', together('maekawa'))
    table.deliver(among(2, 3))
    expect(table.events(2, 'unavailable')).toEqual([])
    table.step(2, { type: 'unreachable', now: table.now, peer: FIRST })
    expect(table.events(2, 'unavailable')).toMatchObject([{ reason: 'no-first-owner' }])
  })
})

describe('G13 a ballot that waits for the first owner', () => {
  it('makes no lock of the defaults once whoever wanted another one was told that it cannot be made', () => {
    const table = clusterOfFive()
    table.stop(FIRST)
    table.configure(2, 'put', five('maekawa'))
    table.deliverLedgerCalls()
    const toLast = table.take(to(5))
    table.deliver(among(2, 3, 4))
    table.step(2, { type: 'unreachable', now: table.now, peer: FIRST })
    expect(table.events(2, 'unavailable')).toMatchObject([{ reason: 'no-first-owner' }])
    for (const letter of toLast) table.hand(letter)
    table.deliver(among(2, 5))
    expect(table.birth(5).promised).toBeGreaterThan(0)
    table.settle(2)
    expect(table.chosen()).toEqual([])
  })

  it('comes to nothing when it was outbid, whatever the first owner says then', () => {
    const table = clusterOfFive()
    table.acquire(FIRST, 'a')
    table.take()
    table.wipeParticipant(FIRST)
    for (const id of [2, 3]) {
      table.configure(id, 'put', five('maekawa'))
      table.deliver(both(among(2, 3, 5), saying('prepare', 'promise')))
    }
    const toFourth = table.take(to(4))
    for (const letter of toFourth) table.hand(letter)
    table.deliver(both(from(4), saying('promise')))
    table.configure(4, 'put', configurationOf('wme-1', 5, 30_000, true))
    table.deliverLedgerCalls()
    const ofFourth = table.take(from(4))
    // What they have said arrives once more, and both hear of the higher ballot.
    for (const letter of toFourth) table.hand(letter)
    table.deliver(both(from(4), saying('promised')))
    table.letters.push(...ofFourth)
    table.deliver(both(among(2, 3, 4), saying('prepare', 'promise', 'accept', 'accepted')))
    expect(table.birth(4).chosen).toMatchObject({ configuration: { protocol: 'wme-1' } })
    table.take(from(4))
    table.stop(4)
    table.deliver(both(among(1, 2, 3), saying('prepare', 'unable')))
    for (const id of [2, 3])
      expect(table.birth(id).accepted).toMatchObject({ value: { configuration: { protocol: 'wme-1' } } })
    table.configure(5, 'put', five('maekawa'))
    table.settle(4)
    expect(table.birth(5).chosen).toMatchObject({ configuration: { protocol: 'wme-1' } })
  })
})

describe('G13 a first owner that has lost a lock may have begun it, and let others in', () => {
  /** One at participant 2, which nobody else has heard of. */
  function lostAfterTheBeginning(): Table {
    const table = clusterOfFive()
    table.acquire(2, 'b')
    table.deliver(among(FIRST, 2))
    expect(table.events(2, 'crit')).toMatchObject([{ fence: 1 }])
    table.take()
    table.wipeParticipant(FIRST)
    table.configure(3, 'put', five('maekawa'))
    return table
  }

  it('so all others must promise', () => {
    const table = lostAfterTheBeginning()
    const toSecond = table.take(to(2))
    table.deliver(among(FIRST, 3, 4, 5))
    expect(table.chosen()).toEqual([])
    expect(table.events(3, 'unavailable')).toEqual([])
    for (const letter of toSecond) table.hand(letter)
    table.settle(2)
    expect(table.birth(3).chosen).toMatchObject({ configuration: { protocol: 'wme-2' } })
    expect(table.events(2, 'ejected')).toEqual([])
  })

  it('whoever waits is told if one of them cannot be reached', () => {
    const table = lostAfterTheBeginning()
    table.stop(2)
    table.deliver(among(FIRST, 3, 4, 5))
    table.step(3, { type: 'unreachable', now: table.now, peer: 2 })
    expect(table.events(3, 'unavailable')).toMatchObject([{ reason: 'no-first-owner' }])
  })

  it('with those that have lost it, too, there is nobody left who could be inside', () => {
    const table = lostAfterTheBeginning()
    table.wipeParticipant(2)
    table.deliver(among(FIRST, 3, 4, 5))
    expect(table.chosen()).toEqual([])
    table.deliver()
    expect(table.events(3, 'configured')).toMatchObject([{ created: true }])
  })
})

describe('G13 a first owner whose process was replaced may have begun, and forgotten it', () => {
  /** It has let a user in at participant 2, and heals with the others. */
  function replacedAfterTheBeginning(table: Table): void {
    table.acquire(2, 'b')
    table.deliver(among(FIRST, 2))
    expect(table.events(2, 'crit')).toMatchObject([{ fence: 1 }])
    table.take()
    table.stop(2)
    table.wipe(FIRST)
    table.start(FIRST)
    table.settle(4)
  }

  it('so all others must promise, of five that it need not have asked', () => {
    const table = clusterOfFive()
    replacedAfterTheBeginning(table)
    table.configure(3, 'put', five('maekawa'))
    table.settle(4)
    expect(table.birth(FIRST)).toMatchObject({ incarnation: 2, promised: expect.any(Number) })
    expect(table.chosen()).toEqual([])
    expect(table.events(3, 'unavailable')).toMatchObject([{ reason: 'no-first-owner' }])
    table.start(2)
    table.configure(3, 'again', five('maekawa'))
    table.settle(4)
    expect(table.birth(3).chosen).toMatchObject({ configuration: { protocol: 'wme-2' } })
  })

  it('but of three it has asked both', () => {
    const table = cluster('wme-2')
    table.wipe(FIRST)
    table.start(FIRST)
    table.settle(4)
    table.stop(3)
    table.configure(2, 'put', apart('maekawa'))
    table.settle(2)
    expect(table.birth(FIRST)).toMatchObject({ incarnation: 2 })
    expect(table.events(2, 'configured')).toMatchObject([{ created: true }])
  })
})

describe('G13 a first owner that can no longer begin alone is not waited for', () => {
  it('one whose object has lost its storage', () => {
    const table = cluster('wme-2')
    table.acquire(FIRST, 'a')
    table.take()
    table.wipeParticipant(FIRST)
    table.configure(2, 'put', apart('maekawa'))
    table.settle(2)
    expect(table.events(2, 'configured')).toMatchObject([{ created: true }])
  })

  it('nor by itself', () => {
    const table = cluster('wme-2')
    table.acquire(FIRST, 'a')
    table.take()
    table.wipeParticipant(FIRST)
    table.configure(FIRST, 'put', apart('maekawa'))
    table.settle(2)
    expect(table.events(FIRST, 'configured')).toMatchObject([{ created: true }])
  })

  /** One of five, whose promise is the only one that arrives before it goes away. */
  function promisedOnce(hasBegun: boolean): Table {
    const defaults = () => configurationOf('wme-2', 5, 30_000, false)
    const table = Table.founded({ registrars: 5, first: FIRST, defaults })
    if (hasBegun) table.acquire(FIRST, 'a')
    table.take()
    table.configure(2, 'put', configurationOf('maekawa', 5, 30_000, false))
    table.deliver(both(among(1, 2), saying('prepare', 'promise')))
    table.stop(FIRST)
    table.take()
    table.fire(2, 'birth/propose')
    table.deliver(among(2, 3, 4))
    return table
  }

  it('one that has promised before it went away', () => {
    expect(promisedOnce(false).chosen()).toHaveLength(1)
  })

  /** Its promise arrives only when the next ballot is under way. */
  function promisedLate() {
    const table = cluster('wme-2')
    table.configure(2, 'put', apart('maekawa'))
    table.deliverLedgerCalls()
    table.deliver(both(to(FIRST), saying('prepare')))
    const late = table.take(from(FIRST))
    expect(late).toMatchObject([{ to: 2, message: { body: { type: 'promise' } } }])
    table.fire(2, 'birth/propose')
    table.take(to(FIRST))
    return { table, late }
  }

  it('one whose promise is late, at once', () => {
    const { table, late } = promisedLate()
    table.deliver(among(2, 3))
    expect(table.chosen()).toEqual([])
    for (const letter of late) table.hand(letter)
    table.deliver(among(2, 3))
    expect(table.events(2, 'configured')).toMatchObject([{ created: true }])
  })

  it('but one whose promise said that it has begun is', () => {
    expect(promisedOnce(true).chosen()).toEqual([])
  })

  it('but one whose ledger alone has lost its storage may have begun, and goes on', () => {
    const table = cluster('wme-2')
    table.acquire(FIRST, 'a')
    table.take()
    table.wipeLedger(FIRST)
    for (let round = 0; round < 4; round++) {
      table.fireLedger(FIRST, 'repeat')
      table.deliver()
    }
    expect(table.seats[FIRST]!.ledgerStorage.get('ledger')).toMatchObject({ incarnation: 2, isHealed: true })
    table.configure(2, 'put', apart('maekawa'))
    const toFirst = table.take(to(FIRST))
    table.deliver(among(2, 3))
    expect(table.chosen()).toEqual([])
    expect(table.view(FIRST).holders).toMatchObject([{ user: 'a' }])
    for (const letter of toFirst) table.hand(letter)
    table.settle(2)
    expect(table.events(FIRST, 'ejected')).toMatchObject([{ user: 'a' }])
    expect(table.events(2, 'configured')).toMatchObject([{ created: true }])
  })

  it('but another one that has lost the lock says nothing about it', () => {
    const defaults = () => configurationOf('wme-2', 5, 30_000, true)
    const table = Table.founded({ registrars: 5, hasLedger: true, first: FIRST, defaults })
    table.use(3)
    table.deliverLedgerCalls()
    table.take()
    table.wipeParticipant(3)
    table.stop(FIRST)
    table.configure(2, 'put', configurationOf('maekawa', 5, 30_000, true))
    table.deliver(both(among(2, 3, 4, 5), saying('prepare', 'promise')))
    const unable = table.take(saying('unable'))
    expect(unable).toMatchObject([{ from: 3, to: 2 }])
    table.hand(unable[0]!)
    table.deliver(both(among(2, 3, 4, 5), saying('accept', 'accepted')))
    expect(table.chosen()).toEqual([])
  })

  it('but one that is not ready may be', () => {
    const table = cluster('wme-2')
    table.configure(2, 'put', apart('maekawa'))
    table.take(to(FIRST))
    const body = { type: 'unable', reason: 'not-ready' } as const
    table.deliverLedgerCalls()
    table.step(2, {
      ...{ type: 'message', now: table.now, from: FIRST },
      message: { format: 1, generation: 1, body },
    })
    table.deliver(among(2, 3))
    expect(table.chosen()).toEqual([])
  })

  it('what it said in an earlier lock of the name says nothing about the next one', () => {
    const { table, late } = promisedLate()
    for (const letter of late) table.hand(letter)
    expect(table.seats[2]!.state!.soft.isFirstBound).toBe(true)
    const message = { format: 1, generation: 2, startEpoch: 5, body: { type: 'ended' } } as const
    table.hand({ kind: 'lock', from: 3, to: 2, message })
    expect(table.seats[2]!.state!.soft.isFirstBound).toBe(false)
  })
})

describe('G13 a cluster that was founded strict', () => {
  it('makes locks while their first owners are away', () => {
    const table = cluster('maekawa')
    table.stop(FIRST)
    insist(table)
    expect(table.birth(2).chosen).toMatchObject({ configuration: { protocol: 'maekawa' } })
  })

  it('has no first owner that begins a weak one alone, in a version with other defaults either', () => {
    const table = cluster('maekawa')
    table.deploy(FIRST, apart('wme-2'))
    table.settle(2)
    table.letters = []
    table.acquire(FIRST, 'a')
    expect(table.events(FIRST, 'crit')).toEqual([])
    table.deliver()
    table.try(FIRST, 'a')
    table.settle(2)
    expect(table.birth(FIRST).chosen).toMatchObject({ configuration: { protocol: 'wme-2' }, startEpoch: 1 })
    expect(table.events(FIRST, 'crit').length).toBeGreaterThan(0)
  })

  it('nobody asks a first owner to begin alone there', () => {
    const table = cluster('wme-consensus')
    table.deploy(2, apart('wme-2'))
    table.settle(2)
    table.letters = []
    table.use(2)
    table.deliverLedgerCalls()
    expect(table.take(from(2)).map(letter => (letter.message as { body?: object }).body)).toMatchObject([
      { type: 'prepare' },
      { type: 'prepare' },
    ])
  })

  it('is not what one is with a single process whose defaults are weak', () => {
    for (const id of [1, 2, 3]) {
      const table = cluster('maekawa', { id, protocol: 'wme-2' })
      table.stop(FIRST)
      table.configure(2, 'put', apart('maekawa'))
      table.settle(6)
      expect(table.chosen()).toEqual([])
    }
  })

  it('stays what it is for a process that was wiped, and for the next lock of a name', () => {
    const table = cluster('maekawa')
    table.wipe(3)
    table.start(3)
    table.settle(4)
    table.use(3)
    table.settle(2)
    expect(table.birth(3)).toMatchObject({ isStrict: true })
    const message = { format: 1, generation: 2, startEpoch: 5, body: { type: 'ended' } } as const
    table.deafLedgers.add(3)
    table.hand({ kind: 'lock', from: 2, to: 3, message })
    expect(table.birth(3).isStrict).toBeUndefined()
    table.deafLedgers.clear()
    table.use(3)
    table.settle(2)
    expect(table.birth(3)).toMatchObject({ generation: 2, isStrict: true })
  })
})
