/** The ledger: founding, healing, and what objects are told. */
import { describe, expect, it } from 'vitest'
import { ledger } from '../../shared/birth/ledger.ts'
import type { FoundedRecord, LedgerRecord } from '../../shared/birth/ledger-types.ts'
import type { Json } from '../../shared/json.ts'
import { configurationOf } from './scenario.ts'
import { among, both, from, type Letter, saying, Table, to } from './table.ts'

const options = (registrars = 3) => ({
  registrars,
  first: 1,
  hasLedger: true,
  defaults: () => configurationOf('wme-2', registrars, 30_000, true),
})
const recordAt = (table: Table, id: number) =>
  table.seats[id]!.ledgerStorage.get('ledger') as unknown as LedgerRecord
const foundedAt = (table: Table, id: number) => recordAt(table, id) as FoundedRecord
const hand = (table: Table, letters: readonly Letter[]) => {
  for (const letter of letters) table.hand(letter)
}
const healed = (table: Table) =>
  table.ids.map(id => (recordAt(table, id) as Partial<FoundedRecord>).isHealed ?? false)

describe('G10 founding', () => {
  it('happens once all processes are up together, and not before', () => {
    const table = new Table(options())
    table.start(1)
    table.start(2)
    table.settle(3)
    table.use(1)
    table.despair(1)
    expect(table.events(1, 'unavailable')).toMatchObject([{ reason: 'not-ready' }])
    expect(table.events(1, 'unavailable')[0]).toMatchObject({
      detail: expect.stringContaining('all of its 3 processes'),
    })
    table.start(3)
    table.settle(2)
    expect(healed(table)).toEqual([true, true, true])
    expect(table.ids.map(id => foundedAt(table, id).incarnation)).toEqual([1, 1, 1])
    table.fire(1, 'birth/ledger')
    table.acquire(1, 'a')
    expect(table.events(1, 'crit')).toHaveLength(1)
  })

  it('does not count a nonce that was given to an earlier collector', () => {
    const table = new Table(options())
    for (const id of table.ids) table.start(id)
    // The first collector founds, but nobody hears of it.
    table.deliver(saying('hello', 'gather', 'blank'))
    expect(recordAt(table, 1).status).toBe('founded')
    const late = table.take()
    table.wipe(1)
    table.start(1)
    table.deliver(saying('hello', 'gather', 'blank'))
    // Nobody can join what the earlier life founded.
    hand(table, late.filter(saying('founded')))
    table.settle(3)
    const foundings = new Set(table.ids.map(id => foundedAt(table, id).founding.collector))
    expect(foundings.size).toBe(1)
    expect(healed(table)).toEqual([true, true, true])
  })

  it('is not stuck if the collector is wiped after one joined and another answered its next life', () => {
    const table = new Table(options())
    for (const id of table.ids) table.start(id)
    table.deliver(saying('hello', 'gather', 'blank'))
    hand(table, table.take(both(to(2), saying('founded'))))
    table.take()
    table.wipe(1)
    table.start(1)
    hand(table, table.take(both(from(1), to(3))))
    table.settle(4)
    expect(healed(table)).toEqual([true, true, true])
    expect(table.ids.map(id => foundedAt(table, id).incarnation)).toEqual([2, 1, 1])
  })

  it('never takes a process for new that has begun before: the second asker of a founding', () => {
    const table = new Table(options())
    for (const id of table.ids) table.start(id)
    // 2 and 3 have given their nonces; 3 begins, votes, and is wiped before 2 has heard that it began.
    table.deliver(both(letter => letter.kind === 'ledger', saying('hello', 'gather', 'blank')))
    table.deliver(among(1, 3))
    const toTwo = table.take(to(2))
    table.wipe(3)
    table.start(3)
    table.deliver(both(to(1, 3), saying('hello', 'gather', 'blank', 'founded')))
    hand(table, toTwo)
    table.settle(3)
    expect(foundedAt(table, 3).incarnation).toBe(2)
    expect(foundedAt(table, 2).incarnation).toBe(1)
  })

  it('a process votes only when others would know that it has begun', () => {
    const table = new Table(options())
    for (const id of table.ids) table.start(id)
    table.deliver(saying('hello', 'gather', 'blank'))
    expect(foundedAt(table, 1)).toMatchObject({ status: 'founded', isHealed: false })
    table.use(1)
    table.despair(1)
    expect(table.events(1, 'unavailable')).toMatchObject([{ reason: 'not-ready' }])
  })

  it('one process alone is founded at once', () => {
    const table = Table.founded(options(1))
    table.acquire(1, 'a')
    expect(table.events(1, 'crit')).toHaveLength(1)
  })
})

describe('G11 healing', () => {
  it('reads the indices of the others in pages', () => {
    const table = Table.founded({ ...options(), ledgerLimits: { locks: 100, entriesPerPage: 2 } })
    for (let number = 0; number < 7; number++) {
      const question = { lock: `other-${number}`, generation: number + 1, token: 't', incarnation: 1 }
      table.seats[2]!.ledgerStorage.set(`lock/other-${number}`, { voted: number + 1, token: 't', lost: 0 })
      expect(question.lock).toContain('other')
    }
    table.crash(2)
    table.wipe(3)
    table.start(3)
    table.settle(2)
    for (let number = 0; number < 7; number++)
      expect(table.seats[3]!.ledgerStorage.get(`lock/other-${number}`)).toMatchObject({ lost: number + 1 })
    expect(healed(table)).toEqual([true, true, true])
  })

  it('one that is not healed heals nobody', () => {
    const table = Table.founded(options())
    table.enter(1, 'a')
    table.deliver()
    table.wipe(2)
    table.wipe(3)
    table.start(2)
    table.start(3)
    table.settle(4)
    expect(healed(table)).toEqual([true, false, false])
    table.use(2)
    table.despair(2)
    expect(table.events(2, 'unavailable')).toMatchObject([{ reason: 'not-ready' }])
  })

  it('each life has a higher number than those that healed before', () => {
    const table = Table.founded(options())
    for (const incarnation of [2, 3, 4]) {
      table.wipe(2)
      table.start(2)
      table.settle(2)
      expect(foundedAt(table, 2)).toMatchObject({ incarnation, isHealed: true })
    }
  })

  it('a life whose number is noted for another one takes a higher one', () => {
    const table = Table.founded(options(5))
    const noted = foundedAt(table, 5)
    table.seats[5]!.ledgerStorage.set('ledger', { ...noted, known: { '2': 4 } } as unknown as Json)
    table.crash(5)
    table.wipe(2)
    table.start(2)
    table.deliver(among(1, 2, 3, 4))
    expect(foundedAt(table, 2)).toMatchObject({ incarnation: 2, isHealed: true })
    // A vote of 5 says that there was a later life.
    table.use(2)
    table.deliver()
    const question = { lock: 'x', generation: 1, token: 't', incarnation: 4 }
    table.stepLedger(2, { type: 'ask', question })
    expect(foundedAt(table, 2)).toMatchObject({ incarnation: 5, isHealed: false })
    table.settle(2)
    expect(foundedAt(table, 2)).toMatchObject({ incarnation: 5, isHealed: true })
  })

  it('finishes each lock that was lost, one after the other, and remembers it', () => {
    const table = Table.founded(options())
    table.enter(1, 'a')
    table.deliver()
    table.exit(1, 'a')
    table.deliver()
    table.wipe(3)
    table.start(3)
    table.settle(6)
    expect(table.view(3).membership).toBe('member')
    expect(table.valueAt(3)).toBe(1)
    expect(table.seats[3]!.ledgerStorage.get(`lock/${table.name}`)).toMatchObject({
      lost: 1,
      isFinished: true,
    })
  })
})

describe('what is left to be finished', () => {
  const ask = (table: Table, id: number, generation: number, token: string) =>
    table.stepLedger(id, { type: 'ask', question: { lock: 'x', generation, token, incarnation: 1 } })
  const health = (table: Table, id: number) => ledger.health(table.seats[id]!.ledgerState!)

  it('is said, from the loss to the end of the finishing', () => {
    const table = Table.founded(options())
    table.enter(1, 'a')
    table.deliver()
    table.exit(1, 'a')
    table.deliver()
    expect(health(table, 3)).toEqual({ healed: true, unfinishedLocks: 0 })
    table.wipe(3)
    table.start(3)
    expect(health(table, 3)).toEqual({ healed: false, unfinishedLocks: 0 })
    table.deliver(letter => letter.kind === 'ledger')
    expect(health(table, 3)).toEqual({ healed: true, unfinishedLocks: 1 })
    table.crash(3)
    table.start(3)
    expect(health(table, 3)).toEqual({ healed: true, unfinishedLocks: 1 })
    table.settle(6)
    expect(health(table, 3)).toEqual({ healed: true, unfinishedLocks: 0 })
  })

  it('has a participant taken back in an earlier incarnation, until it is taken back in this one', () => {
    const table = Table.founded(options())
    table.enter(1, 'a')
    table.deliver()
    table.exit(1, 'a')
    table.deliver()
    table.wipe(3)
    table.start(3)
    table.settle(6)
    expect(table.birth(3)).toMatchObject({ standing: { status: 'lost' }, incarnation: 2 })
    // Only the ledger is lost; the participant has everything that it had.
    table.stop(3)
    table.seats[3]!.ledgerStorage.clear()
    table.start(3)
    table.settle(8)
    expect(health(table, 3)).toEqual({ healed: true, unfinishedLocks: 0 })
    expect(table.birth(3)).toMatchObject({ standing: { status: 'lost' }, incarnation: 3 })
    expect(table.view(3).membership).toBe('member')
    // Now another process may lose everything.
    table.wipe(2)
    table.start(2)
    table.settle(8)
    expect([1, 2, 3].map(id => table.view(id).membership)).toEqual(['member', 'member', 'member'])
    expect([1, 2, 3].map(id => table.valueAt(id))).toEqual([1, 1, 1])
  })

  it('has it again when the process takes a higher incarnation, though nothing was lost', () => {
    const table = Table.founded(options())
    table.enter(1, 'a')
    table.deliver()
    table.exit(1, 'a')
    table.deliver()
    table.wipe(3)
    table.start(3)
    table.settle(6)
    // Somebody knows of a life of this process that was over before it healed.
    const question = { lock: 'x', generation: 1, token: 't', incarnation: 4 }
    table.stepLedger(3, { type: 'ask', question })
    table.settle(8)
    expect(health(table, 3)).toEqual({ healed: true, unfinishedLocks: 0 })
    expect(table.birth(3)).toMatchObject({ standing: { status: 'lost' }, incarnation: 5 })
    expect(table.view(3).membership).toBe('member')
    expect(table.valueAt(3)).toBe(1)
  })

  it('regression: is nothing if a question about the generation before comes late', () => {
    const table = Table.founded(options())
    ask(table, 3, 2, 'of-the-second')
    ask(table, 3, 1, 'of-the-first')
    expect(health(table, 3)).toEqual({ healed: true, unfinishedLocks: 0 })
    expect(table.seats[3]!.ledgerStorage.get('lock/x')).toEqual({
      voted: 2,
      token: 'of-the-second',
      lost: 0,
    })
    // An object that has lost its storage finds out when it asks about the second.
    ask(table, 3, 2, 'of-another-life')
    expect(health(table, 3)).toEqual({ healed: true, unfinishedLocks: 1 })
  })

  it('does not come back with the next generation of a lock', () => {
    const table = Table.founded(options())
    table.seats[2]!.ledgerStorage.set('lock/x', { voted: 1, token: 't', lost: 1, isFinished: true })
    table.crash(2)
    table.start(2)
    ask(table, 2, 2, 'u')
    expect(health(table, 2)).toEqual({ healed: true, unfinishedLocks: 0 })
  })

  it('has the participant that was lost alone, after its process had healed', () => {
    const table = Table.founded(options())
    table.seats[2]!.ledgerStorage.set('lock/x', { voted: 2, token: 't', lost: 1, isFinished: true })
    table.crash(2)
    table.start(2)
    table.seats[2]!.ledgerTimers.clear()
    ask(table, 2, 2, 'another')
    expect(health(table, 2)).toEqual({ healed: true, unfinishedLocks: 1 })
    expect([...table.seats[2]!.ledgerTimers]).toEqual(['finish'])
  })
})

describe('objects', () => {
  it('take no answer of the ledger that was meant for an earlier life of theirs', () => {
    const table = Table.founded(options())
    table.use(3)
    const { standing } = table.birth(3)
    table.deafLedgers.add(3)
    table.wipeParticipant(3)
    table.use(3)
    expect(standing).toMatchObject({ status: 'fresh' })
    const { token } = standing as { readonly token: string }
    const late = { generation: 1, token, verdict: 'entitled', incarnation: 1, known: {} } as const
    table.step(3, { type: 'ledger', now: table.now, answer: late })
    expect(table.birth(3).standing).toMatchObject({ status: 'fresh' })
  })

  it('are refused when the ledger is full, and those that it has go on', () => {
    const table = Table.founded({ ...options(), ledgerLimits: { locks: 1, entriesPerPage: 10 } })
    table.stepLedger(1, {
      type: 'ask',
      question: { lock: 'another', generation: 1, token: 't', incarnation: 1 },
    })
    table.use(1)
    table.despair(1)
    expect(table.events(1, 'unavailable')).toMatchObject([{ reason: 'not-ready' }])
  })

  it('that kept their votes while the ledger was lost do not vote under the old number', () => {
    const table = Table.founded(options())
    table.enter(1, 'a')
    table.deliver()
    table.take()
    table.seats[2]!.ledgerStorage = new Map()
    table.crash(2)
    table.settle(8)
    expect(table.birth(2)).toMatchObject({ incarnation: 2, standing: { status: 'lost' } })
    expect(table.view(2).membership).toBe('member')
  })

  it('a stranger at the table is ignored', () => {
    const table = Table.founded(options())
    const before = JSON.stringify([...table.seats[1]!.ledgerStorage])
    table.hand({
      kind: 'ledger',
      from: 9,
      to: 1,
      message: { type: 'note', collector: 'x', nonce: 'y', incarnation: 7 },
    })
    expect(JSON.stringify([...table.seats[1]!.ledgerStorage])).toBe(before)
    expect(table.take(from(1))).toEqual([])
  })
})
