/** How a lock is deleted (shared/birth/ending.ts): the end of a generation, and how everybody hears of it. */
import { describe, expect, it } from 'vitest'
import { END_OPERATION } from '../../shared/birth/lock-core.ts'
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import { configurationOf } from './scenario.ts'
import { among, both, from, nameFor, saying, Table, type TableOptions, to } from './table.ts'

const OPERATOR = 'operator'

/** The operator is inside at participant 1, and says the last word. Nothing of it is delivered. */
function sayLastWord(options: TableOptions = {}): Table {
  const table = Table.founded({ first: 1, ...options })
  table.enter(1, 'a')
  table.deliver()
  table.exit(1, 'a')
  table.deliver()
  table.acquire(1, OPERATOR)
  table.deliver()
  const fence = table.fenceOf(1, OPERATOR)
  table.user(1, { type: 'issue', user: OPERATOR, fence, opId: 'last', operation: END_OPERATION })
  return table
}

const withProtocol = (protocol: ProtocolName): TableOptions => ({
  defaults: () => configurationOf(protocol, 3, 30_000, false),
})

const tombstones = (table: Table) =>
  table.ids.map(id => {
    const { generation, startEpoch, core, chosen } = table.birth(id)
    return { generation, startEpoch, isEmpty: core === null && chosen === null }
  })

describe('G12: the last operation of a lock', () => {
  for (const protocol of ['wme-1', 'wme-2', 'wme-consensus'] as const) {
    it(`${protocol}: ends it everywhere, and leaves nothing but the tombstone`, () => {
      const table = sayLastWord(withProtocol(protocol))
      table.settle(2)
      const [first] = tombstones(table)
      expect(first).toMatchObject({ generation: 2, isEmpty: true })
      expect(tombstones(table)).toEqual([first, first, first])
      for (const { storage } of table.seats.slice(1)) expect([...storage.keys()]).toEqual(['birth'])
      expect(table.events(1, 'told')).toHaveLength(1)
    })

    it(`${protocol}: the fences of the next lock are above all of the last one's`, () => {
      const table = sayLastWord(withProtocol(protocol))
      table.settle(2)
      table.acquire(1, 'b')
      table.settle(1)
      expect(table.fenceOf(1, 'b')).toBeGreaterThan(table.fenceOf(1, OPERATOR))
      expect(table.birth(1).startEpoch * 1_024).toBeGreaterThan(table.fenceOf(1, OPERATOR) + 1_024)
    })
  }

  it('the next generation is counted from the epoch that it was written in', () => {
    const table = Table.founded({ first: 1 })
    table.enter(1, 'a')
    table.deliver()
    table.stop(1)
    table.try(2, OPERATOR)
    for (let round = 0; round < 20 && table.fenceOf(2, OPERATOR) < 0; round++) table.settle(1)
    const { epoch } = table.view(2)
    expect(epoch).toBeGreaterThan(0)
    const fence = table.fenceOf(2, OPERATOR)
    table.user(2, { type: 'issue', user: OPERATOR, fence, opId: 'last', operation: END_OPERATION })
    table.deliver()
    expect(table.birth(2)).toMatchObject({ generation: 2, startEpoch: epoch + 2 })
    expect(table.birth(3)).toMatchObject({ generation: 2, startEpoch: epoch + 2 })
  })

  it('is nothing before a majority has it', () => {
    const table = sayLastWord()
    table.take()
    expect(table.birth(1)).toMatchObject({ generation: 1 })
    expect(table.events(1, 'ended')).toEqual([])
  })

  it('tells whoever waits, and ejects whoever holds a grant that the others do not know of', () => {
    const table = sayLastWord()
    table.try(2, 'waiter')
    table.settle(2)
    expect(table.events(2, 'refused')).toMatchObject([{ user: 'waiter', refusal: { code: 'ended' } }])
    expect(table.events(1, 'outcome').at(-1)).toMatchObject({ opId: 'last' })
  })

  it('says that the fate of an operation is unknown where it is', () => {
    const table = Table.founded({ first: 2 })
    table.enter(2, 'holder')
    table.deliver()
    table.issue(2, 'holder', 'pending')
    table.take()
    const message = { format: 1, generation: 2, startEpoch: 5, body: { type: 'ended' } } as const
    table.hand({ kind: 'lock', from: 1, to: 2, message })
    const pending = { opId: 'pending', outcome: 'unknown' }
    expect(table.events(2, 'ejected')).toMatchObject([{ user: 'holder', reason: 'operator', pending }])
  })

  it('a new lock of the name may be used where the old one was, at once', () => {
    const table = sayLastWord()
    table.deliver()
    table.acquire(2, 'b')
    table.deliver()
    table.issue(2, 'b', 'first-of-b')
    table.deliver()
    expect(table.events(2, 'outcome')).toHaveLength(1)
    expect(table.valueAt(2)).toBe(1)
  })
})

describe('participants that do not hear of it at once', () => {
  it('are told until they answer', () => {
    const table = sayLastWord()
    table.deliver(among(1, 2))
    table.take(to(3))
    expect(table.birth(1)).toMatchObject({ generation: 2, untold: [3] })
    expect(table.birth(3)).toMatchObject({ generation: 1 })
    expect(table.events(1, 'told')).toEqual([])
    table.fire(1, 'birth/tell')
    table.deliver()
    expect(table.birth(3)).toMatchObject({ generation: 2 })
    expect(table.birth(1).untold).toEqual([])
    expect(table.events(1, 'told')).toHaveLength(1)
  })

  it('are told by an instance that ended before it could say anything', () => {
    const table = sayLastWord()
    table.deliver(both(among(1, 2), saying('invoke', 'invoke-ack')))
    expect(table.birth(1)).toMatchObject({ generation: 2 })
    table.take()
    table.crash(1)
    table.deliver()
    expect(tombstones(table).map(({ generation }) => generation)).toEqual([2, 2, 2])
  })

  it('end it themselves if the one that ended it is gone: with the same tombstone', () => {
    const table = sayLastWord()
    // Participant 2 has stored the end, and 1 has heard so; 2 does not know that it is committed.
    table.deliver(both(among(1, 2), saying('invoke', 'invoke-ack')))
    const { startEpoch } = table.birth(1)
    table.take()
    table.stop(1)
    table.try(3, 'waiter')
    table.settle(20)
    expect(table.birth(2)).toMatchObject({ generation: 2, startEpoch })
    expect(table.birth(3)).toMatchObject({ generation: 2, startEpoch })
  })

  it('and that never knew the lock keep the tombstone too', () => {
    const table = Table.founded({ first: 1, registrars: 3, processes: 3 })
    table.configure(1, 'put', configurationOf('wme-2', 1, 5_000, false))
    table.deliver()
    table.enter(1, 'a')
    table.user(1, {
      type: 'issue',
      user: 'a',
      fence: table.fenceOf(1, 'a'),
      opId: 'last',
      operation: END_OPERATION,
    })
    table.deliver()
    expect(tombstones(table).map(({ generation }) => generation)).toEqual([2, 2, 2])
  })

  it('do not list the lock with their ledgers because they hear that it is gone', () => {
    const table = sayLastWord({ hasLedger: true, defaults: () => configurationOf('wme-2', 3, 30_000, true) })
    table.deliver()
    const entries = table.seats.slice(1).map(({ ledgerStorage }) => ledgerStorage.get(`lock/${table.name}`))
    expect(tombstones(table).map(({ generation }) => generation)).toEqual([2, 2, 2])
    expect(entries).toMatchObject([{ voted: 1 }, { voted: 1 }, { voted: 1 }])
  })

  it('hear of it from the next lock, and have nothing but that', () => {
    const table = sayLastWord(withProtocol('wme-1'))
    table.deliver(among(1, 2))
    table.take(to(3))
    expect(table.valueAt(3)).toBe(1)
    table.acquire(1, 'b')
    table.issue(1, 'b', 'first-of-b')
    table.take(to(2))
    table.deliver(both(to(3), saying('invoke')))
    expect(table.birth(3)).toMatchObject({ generation: 2, chosen: { startEpoch: 2 } })
    const applied = { type: 'applied', opId: 'first-of-b', result: { results: [{ value: 1 }] } }
    expect(table.events(3).slice(-3)).toMatchObject([{ type: 'ended' }, { type: 'granted' }, applied])
    expect(table.valueAt(3)).toBe(1)
    table.deliver()
    expect(table.events(1, 'outcome').at(-1)).toMatchObject({ opId: 'first-of-b' })
  })

  it('answer a late telling of an earlier end with what they know', () => {
    const table = sayLastWord()
    table.deliver(among(1, 2))
    const [late] = table.take(both(to(3), saying('ended')))
    table.take()
    table.fire(1, 'birth/tell')
    table.deliver()
    table.enter(3, 'b')
    table.deliver()
    expect(table.birth(3)).toMatchObject({ generation: 2 })
    const { core } = table.birth(3)
    table.hand(late!)
    expect(table.birth(3).core).toBe(core)
    expect(table.take(both(from(3), saying('heard')))).toHaveLength(1)
  })
})

describe('a process that has lost its storage', () => {
  it('gives birth to nothing where the lock was deleted', () => {
    const table = sayLastWord({ hasLedger: true, defaults: () => configurationOf('wme-2', 3, 30_000, true) })
    table.settle(2)
    table.wipe(3)
    table.start(3)
    table.settle(6)
    expect(tombstones(table)).toEqual(tombstones(table).map(() => tombstones(table)[0]))
    expect(tombstones(table)[2]).toMatchObject({ generation: 2, isEmpty: true })
    const entries = table.seats.slice(1).map(({ ledgerStorage }) => ledgerStorage.get(`lock/${table.name}`))
    expect(entries).toMatchObject([{ voted: 1 }, { voted: 1 }, { voted: 0, lost: 1, isFinished: true }])
  })

  it('is not taken for lost in the lock that comes after it', () => {
    const table = sayLastWord({ hasLedger: true, defaults: () => configurationOf('wme-2', 3, 30_000, true) })
    table.settle(2)
    table.wipe(3)
    table.start(3)
    table.settle(6)
    table.acquire(3, 'b')
    table.settle(4)
    expect(table.birth(3).standing.status).toBe('entitled')
    expect(table.fenceOf(3, 'b')).toBeGreaterThan(table.fenceOf(1, OPERATOR))
  })
})

describe('locks that guard no state', () => {
  for (const protocol of ['ricart-agrawala', 'maekawa'] as const) {
    it(`${protocol}: the holder ends it by never letting go`, () => {
      const table = Table.founded({ first: 1, ...withProtocol(protocol) })
      table.use(1)
      table.settle(2)
      table.try(1, OPERATOR)
      table.deliver()
      expect(table.events(1, 'crit')).toHaveLength(1)
      const fence = table.fenceOf(1, OPERATOR)
      expect(fence).toBeGreaterThanOrEqual(0)
      const startEpoch = table.birth(1).core!.startEpoch
      table.step(1, { type: 'end', now: table.now, epoch: startEpoch, length: fence - startEpoch * 1_024 })
      table.deliver()
      expect(tombstones(table).map(({ generation }) => generation)).toEqual([2, 2, 2])
      table.use(1)
      table.settle(2)
      table.try(1, 'b')
      table.settle(2)
      expect(table.fenceOf(1, 'b')).toBeGreaterThan(fence)
    })

    it(`${protocol}: nobody is let in any more, also where nobody has heard of the end`, () => {
      const table = Table.founded({ first: 1, ...withProtocol(protocol) })
      table.use(1)
      table.settle(2)
      table.try(1, OPERATOR)
      table.deliver()
      expect(table.events(1, 'crit')).toHaveLength(1)
      table.step(1, { type: 'end', now: table.now, epoch: 1, length: 10 })
      table.take()
      table.stop(1)
      table.try(2, 'b')
      table.try(3, 'c')
      table.settle(6)
      expect([...table.events(2, 'crit'), ...table.events(3, 'crit')]).toEqual([])
    })
  }

  it('a lock with another protocol continues above the fences of the one before', () => {
    const table = sayLastWord()
    table.deliver()
    const last = table.fenceOf(1, OPERATOR)
    for (const protocol of ['ricart-agrawala', 'maekawa', 'wme-consensus'] as const) {
      const again = sayLastWord()
      again.deliver()
      again.configure(1, 'put', configurationOf(protocol, 3, 5_000, false))
      again.settle(2)
      again.acquire(1, 'b')
      again.settle(2)
      expect(again.fenceOf(1, 'b')).toBeGreaterThan(last)
    }
    expect(nameFor(1, 3)).toBe(table.name)
  })
})
