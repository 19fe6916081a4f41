/** What went wrong with the birth of locks before it was a state machine, point by point. */
import { describe, expect, it } from 'vitest'
import { configurationOf } from './scenario.ts'
import { among, both, from, saying, Table, to } from './table.ts'

const founded = (first = 1) =>
  Table.founded({ first, hasLedger: true, defaults: () => configurationOf('wme-2', 3, 30_000, true) })
const put = (ttlMs: number) => configurationOf('wme-2', 3, ttlMs, true)

describe('regressions of the birth', () => {
  it('(a) a blank majority of which one was wiped is no birth', () => {
    const table = founded()
    table.stop(3)
    table.enter(1, 'a')
    table.deliver(among(1, 2))
    expect(table.events(1, 'outcome')).toHaveLength(1)
    const fence = table.fenceOf(1, 'a')
    table.take()
    // 2 is wiped, 3 comes up for the first time, 1 is away for a moment.
    table.stop(1)
    table.wipe(2)
    table.start(2)
    table.start(3)
    table.deliver()
    table.use(2)
    table.use(3)
    table.settle(3)
    expect(table.events(2, 'crit')).toEqual([])
    expect(table.birth(3).chosen).toBeNull()
    table.start(1)
    table.settle(8)
    table.use(3)
    table.deliver()
    table.try(3, 'c')
    table.settle(3)
    expect(table.fenceOf(3, 'c')).toBeGreaterThan(fence)
    expect([1, 2, 3].map(id => table.valueAt(id))).toEqual([1, 1, 1])
  })

  it('(b) lost messages and a kill at any moment of a birth leave nobody behind', () => {
    for (let lost = 0; lost < 40; lost++) {
      const table = founded()
      table.configure(1, 'put', put(5_000))
      let count = 0
      table.deliverLedgerCalls()
      table.deliver(() => count++ !== lost)
      table.take()
      table.crash((lost % 3) + 1)
      for (const id of [1, 2, 3]) table.use(id)
      table.settle(8)
      expect(table.chosen(), `letter ${lost}`).toHaveLength(1)
      expect(
        [1, 2, 3].map(id => table.view(id).membership),
        `letter ${lost}`,
      ).toEqual(['member', 'member', 'member'])
    }
  })

  it('(c) a registrar that was wiped does not vote again, and one that knows the choice says so', () => {
    const table = founded()
    table.configure(1, 'one', put(5_000))
    table.deliver(among(1, 2))
    table.take()
    table.wipe(2)
    table.start(2)
    table.deliver(letter => letter.kind === 'ledger')
    table.configure(3, 'three', put(6_000))
    table.deliver(among(2, 3))
    expect(table.events(3, 'configured')).toEqual([])
    table.settle(6)
    expect(table.chosen()).toHaveLength(1)
    expect(table.birth(3).chosen?.configuration.ttlMs).toBe(5_000)
  })

  it('(d) a silent registrar does not delay a birth', () => {
    const table = founded()
    table.stop(3)
    table.enter(1, 'a')
    table.deliver()
    expect(table.events(1, 'outcome')).toHaveLength(1)
    const configured = founded()
    configured.stop(3)
    configured.configure(1, 'put', put(5_000))
    configured.deliver()
    expect(configured.events(1, 'configured')).toHaveLength(1)
  })

  it('(e) a message of another lock under the same name, or from a stranger, changes nothing', () => {
    const table = founded()
    table.enter(1, 'a')
    table.deliver()
    const other = Table.founded({
      first: 1,
      hasLedger: true,
      defaults: () => configurationOf('wme-2', 3, 7_000, true),
    })
    other.enter(1, 'z')
    const before = table.view(2)
    for (const letter of other.take(to(2))) table.hand(letter)
    expect(table.view(2)).toEqual(before)
    for (const letter of table.take()) expect(letter).toMatchObject({ message: { body: { type: 'chosen' } } })
    table.issue(1, 'a', 'second')
    const letters = table.take(to(2))
    expect(letters.length).toBeGreaterThan(0)
    for (const letter of letters) if (letter.kind === 'lock') table.hand({ ...letter, from: 9 })
    expect(table.letters.filter(to(9))).toEqual([])
    expect(table.view(2).sequence).toBe(before.sequence)
  })

  it('(f) more participants than processes are refused', () => {
    const table = founded()
    table.configure(1, 'put', configurationOf('wme-2', 5, 5_000, true))
    table.deliver()
    expect(table.events(1, 'configuration-refused')).toHaveLength(1)
  })

  it('(g) after two losses healed in turn nothing is lost, though the lock is idle', () => {
    const table = founded()
    table.enter(1, 'a')
    table.deliver()
    table.exit(1, 'a')
    table.settle(2)
    table.take()
    for (const id of [1, 2]) {
      table.wipe(id)
      table.start(id)
      table.settle(8)
      expect(table.view(id).membership).toBe('member')
    }
    table.stop(3)
    expect([1, 2].map(id => table.valueAt(id))).toEqual([1, 1])
    table.acquire(2, 'b')
    table.settle(4)
    expect(table.fenceOf(2, 'b')).toBeGreaterThan(table.fenceOf(1, 'a'))
  })

  it('(g) wiped earlier, the lock stays down, says so, and is not reborn', () => {
    const table = founded()
    table.enter(1, 'a')
    table.deliver()
    table.take()
    // 2 is healed, but not taken back before 1 is wiped.
    table.wipe(2)
    table.start(2)
    table.deliver(letter => letter.kind === 'ledger')
    table.wipe(1)
    table.start(1)
    table.settle(6)
    for (const id of [1, 2, 3]) table.use(id)
    table.settle(6)
    const crits = [1, 2, 3].flatMap(id => table.events(id, 'crit'))
    expect(crits).toHaveLength(1)
    expect(table.chosen()).toHaveLength(1)
    expect(table.letters.filter(both(from(3), saying('prepare')))).toEqual([])
  })

  it('a user that waits in a core that has only asked is told when there is no majority', () => {
    const table = Table.founded({ first: 1 })
    table.stop(1)
    table.stop(3)
    table.acquire(2, 'b')
    for (const peer of [1, 3, 1]) table.step(2, { type: 'unreachable', now: table.now, peer })
    expect(table.events(2, 'refused')).toMatchObject([{ user: 'b', refusal: { code: 'not-a-member' } }])
  })

  it('a tentative core does not wait for a silent first owner', () => {
    const table = Table.founded({ first: 1 })
    table.stop(1)
    table.acquire(2, 'b')
    table.deliver()
    table.fire(2, 'birth/propose')
    table.deliver()
    expect(table.events(2, 'crit')).toHaveLength(1)
  })

  it('protocols whose fences do not count epochs begin above what ballot 0 may have given away', () => {
    for (const protocol of ['wme-consensus', 'maekawa'] as const) {
      const table = Table.founded({ first: 1 })
      table.acquire(1, 'a')
      const weak = table.fenceOf(1, 'a')
      table.take()
      // The first owner is away, and comes back to a different lock.
      table.configure(1, 'put', configurationOf(protocol, 3, 5_000, false))
      table.settle(3)
      expect(table.chosen()).toHaveLength(1)
      expect(table.birth(1).chosen?.configuration.protocol).toBe('wme-2')
      const second = Table.founded({ first: 1 })
      second.configure(1, 'put', configurationOf(protocol, 1, 5_000, false))
      second.deliver()
      second.acquire(1, 'b')
      expect(second.fenceOf(1, 'b'), protocol).toBeGreaterThan(weak + 1_000)
    }
  })
})

it('wme-consensus: a request of a core that was given up is withdrawn by the one that comes after', () => {
  const table = Table.founded({
    first: 1,
    defaults: () => configurationOf('wme-consensus', 3, 30_000, false),
  })
  table.acquire(2, 'b')
  const asked = table.take(both(from(2), to(1), saying('request')))
  expect(asked).toHaveLength(1)
  // Nobody hears participant 2, until it tells its user so and forgets that it has asked.
  for (let attempt = 0; attempt < 6; attempt++) {
    table.take()
    table.fire(2, 'birth/propose')
  }
  table.take()
  expect(table.events(2, 'refused')).toHaveLength(1)
  // The first owner gets the request after all, and the lock is given to participant 2, where nobody waits.
  table.hand(asked[0]!)
  table.settle(2)
  table.acquire(3, 'c')
  table.settle(3)
  expect(table.fenceOf(3, 'c')).toBeGreaterThanOrEqual(0)
})

it('whom a participant could not reach in an earlier lock says nothing about the next one', () => {
  const table = Table.founded({ first: 1 })
  table.configure(2, 'put', configurationOf('wme-2', 3, 5_000, false))
  for (const peer of [1, 3]) table.step(2, { type: 'unreachable', now: table.now, peer })
  expect(table.events(2, 'unavailable')).toHaveLength(1)
  table.fire(2, 'birth/propose')
  const message = { format: 1, generation: 2, startEpoch: 5, body: { type: 'ended' } } as const
  table.hand({ kind: 'lock', from: 1, to: 2, message })
  table.take()
  table.acquire(2, 'b')
  expect(table.events(2, 'unavailable')).toHaveLength(1)
  table.deliver()
  expect(table.events(2, 'crit')).toHaveLength(1)
})

it('the core of a lock whose members cannot change hears no stranger, whatever it knows', () => {
  const defaults = () => configurationOf('maekawa', 3, 30_000, false)
  const table = Table.founded({ registrars: 3, processes: 4, first: 1, defaults })
  table.configure(1, 'put', defaults())
  table.deliver()
  table.acquire(2, 'b')
  const [sent] = table.take(from(2))
  expect(sent).toMatchObject({ message: { body: { type: 'core', chosen: true } } })
  const heard = () => [...table.seats[sent!.to]!.state!.soft.counted.keys()]
  table.hand({ ...sent!, from: 4 })
  expect(heard()).not.toContain(4)
  table.hand(sent!)
  expect(heard()).toContain(2)
})
