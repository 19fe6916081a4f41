/**
 * The traps of the design, one by one: each test is the schedule in which a machine without the rule goes
 * wrong. The titles are those of the table of traps.
 */
import { describe, expect, it } from 'vitest'
import { modeOf } from '../../shared/birth/lock-state.ts'
import { configurationOf } from './scenario.ts'
import { among, both, type Filter, from, type Letter, saying, Table, to, typeOf } from './table.ts'

const apart = (participants = 3, ttlMs = 5_000) => configurationOf('wme-2', participants, ttlMs, true)
const together = (participants = 3, ttlMs = 5_000) => configurationOf('wme-2', participants, ttlMs, false)
const hand = (table: Table, letters: readonly Letter[]) => {
  for (const letter of letters) table.hand(letter)
}
const only = (table: Table, filter: Filter) => hand(table, table.take(filter))

describe('the register', () => {
  it('G2 F alone at ballot 0: another one with another default asks, and does not begin', () => {
    const table = Table.founded({ first: 1, defaults: id => together(3, id === 1 ? 5_000 : 6_000) })
    table.use(2, true)
    expect(table.birth(2).accepted).toBeNull()
    expect(modeOf(table.birth(2))).toBe('tentative')
    // Nobody but the first owner hears of the guess.
    expect(table.letters.every(letter => letter.to === 1)).toBe(true)
    table.try(2, 'b')
    table.deliver()
    expect(table.chosen()).toHaveLength(1)
    expect(table.birth(2).chosen?.configuration.ttlMs).toBe(5_000)
    expect(table.events(2, 'crit')).toHaveLength(1)
  })

  it('G2 F alone at ballot 0: nobody accepts what another one says to have begun', () => {
    const table = Table.founded({ first: 1, registrars: 5 })
    const value = { configuration: { ...together(5), firstOwner: 2 }, startEpoch: 0 }
    const message = { format: 1, generation: 1, body: { type: 'begun', value } } as const
    table.hand({ kind: 'lock', from: 2, to: 3, message })
    expect(table.birth(3).accepted).toBeNull()
  })

  it('what is promised and accepted is still known after a crash', () => {
    const table = Table.founded({ first: 1, registrars: 5 })
    table.configure(2, 'put', together(5))
    only(table, both(from(2), to(3, 4)))
    table.crash(3)
    expect(table.birth(3).promised).toBe(table.birth(2).ballot)
    only(table, to(2))
    only(table, both(from(2), to(3)))
    table.crash(3)
    expect(table.birth(3).accepted).toMatchObject({ ballot: table.birth(2).ballot })
    const { ballot } = table.birth(2)
    table.crash(2)
    table.configure(2, 'again', together(5))
    expect(table.birth(2).ballot).toBeGreaterThan(ballot)
  })

  it('G4 one ballot: of two values that were accepted the one of the higher ballot is proposed again', () => {
    const table = Table.founded({ first: 1, registrars: 5 })
    table.configure(2, 'put', together(5, 9_000))
    const { ballot } = table.birth(2)
    const promise = (from: number, accepted: number, ttlMs: number): Letter => ({
      kind: 'lock',
      from,
      to: 2,
      message: {
        format: 1,
        generation: 1,
        body: {
          type: 'promise',
          ballot,
          accepted: { ballot: accepted, value: { configuration: together(5, ttlMs), startEpoch: 1 } },
        },
      },
    })
    table.take()
    hand(table, [promise(3, 7, 7_000), promise(4, 3, 3_000)])
    const accepts = table.letters.filter(saying('accept'))
    expect(accepts.length).toBeGreaterThan(0)
    for (const { message } of accepts)
      expect(message).toMatchObject({ body: { value: { configuration: { ttlMs: 7_000 } } } })
  })

  it('G2 promise blocks ballot 0', () => {
    const table = Table.founded({ first: 1 })
    table.enter(1, 'a')
    const late = table.take(to(2))
    table.configure(3, 'put', together())
    only(table, both(from(3), to(2), saying('prepare')))
    hand(table, late)
    expect(table.birth(2)).toMatchObject({ accepted: null })
    table.take(to(1))
    table.deliver(among(2, 3))
    expect(table.chosen()).toHaveLength(1)
    table.deliver()
    table.settle()
    expect(table.chosen()).toHaveLength(1)
    expect(table.events(1, 'ejected')).toHaveLength(1)
  })

  it('G4 one ballot: an acceptance in a later ballot is no vote for ballot 0', () => {
    const table = Table.founded({ first: 1, registrars: 5 })
    table.enter(1, 'a')
    const begun = table.take(to(2))
    table.take()
    hand(table, begun)
    table.take()
    // 3 accepts the same value in a ballot of 2's, which nobody else accepts.
    table.configure(2, 'put', together(5))
    only(table, both(from(2), to(3, 4), saying('prepare')))
    only(table, both(to(2), saying('promise')))
    only(table, both(from(2), to(3), saying('accept')))
    table.take()
    expect(modeOf(table.birth(3))).toBe('none')
    // 3 says nothing in the core that would count, so {1, 2, 3} have not chosen.
    table.fire(1, 'core/repeat')
    only(table, both(from(1), to(3)))
    expect(table.letters.filter(from(3)).map(typeOf)).toEqual(['promised'])
    table.settle()
    expect(table.chosen()).toHaveLength(1)
  })

  it('G2 accept before acting: what is acknowledged is accepted, durably', () => {
    const table = Table.founded({ first: 1, registrars: 5 })
    table.enter(1, 'a')
    only(table, to(2))
    expect(table.letters.some(both(from(2), saying('invoke-ack')))).toBe(true)
    const stored = table.seats[2]!.storage.get('birth') as { accepted: unknown }
    expect(stored.accepted).toMatchObject({ ballot: 0 })
    table.crash(2)
    table.configure(3, 'put', together(5))
    only(table, both(from(3), to(2)))
    const promise = table.letters.find(both(from(2), saying('promise')))
    expect(promise?.message).toMatchObject({ body: { accepted: { ballot: 0 } } })
  })

  it('G3 parking (5 registrars): what was acknowledged in ballot 0 is kept until the choice is known', () => {
    const table = Table.founded({ first: 1, registrars: 5 })
    table.enter(1, 'a')
    const toThree = table.take(to(3))
    only(table, to(2))
    const acknowledgement = table.take(both(from(2), to(1)))
    table.take()
    // 2 accepts ballot 0's value once more in a ballot of 4, which heard of it from 2.
    table.configure(4, 'put', together(5))
    only(table, both(from(4), to(2, 5), saying('prepare')))
    only(table, both(to(4), saying('promise')))
    only(table, both(from(4), to(2), saying('accept')))
    expect(modeOf(table.birth(2))).toBe('parked')
    expect(table.view(2).sequence).toBe(2)
    table.take()
    // Parked, it is silent.
    table.fire(1, 'core/repeat')
    only(table, both(from(1), to(2)))
    expect(table.letters.filter(from(2)).map(typeOf)).not.toContain('invoke-ack')
    hand(table, acknowledgement)
    hand(table, toThree)
    table.settle()
    expect(table.chosen()).toHaveLength(1)
    expect([1, 2, 3, 4, 5].map(id => table.valueAt(id))).toEqual([1, 1, 1, 1, 1])
  })

  it('G3 waiting for chosen at ≥ 1: whoever has only accepted does not act', () => {
    const table = Table.founded({ first: 1 })
    table.configure(2, 'put', { ...together(), firstOwner: 3 })
    only(table, both(from(2), to(3)))
    only(table, both(from(3), to(2)))
    only(table, both(from(2), to(3)))
    expect(table.birth(3).accepted).not.toBeNull()
    table.use(3, true)
    table.try(3, 'c')
    expect(table.events(3, 'crit')).toEqual([])
    expect(table.birth(2).core).toBeNull()
  })

  it('G9 E_g + 1: the fences of ballot 0 are below those of all others', () => {
    const table = Table.founded({ first: 1 })
    table.acquire(1, 'a')
    const alone = table.fenceOf(1, 'a')
    table.take()
    table.configure(2, 'put', { ...together(), firstOwner: 2 })
    table.deliver(among(2, 3))
    table.acquire(2, 'b')
    expect(alone).toBeGreaterThanOrEqual(0)
    expect(table.fenceOf(2, 'b')).toBeGreaterThan(alone + 1_000)
  })

  it('G9 E_g + 1, also for protocols without epochs', () => {
    const table = Table.founded({ first: 1 })
    table.configure(2, 'put', configurationOf('maekawa', 1, 5_000, false))
    table.deliver()
    table.acquire(1, 'a')
    expect(table.fenceOf(1, 'a')).toBeGreaterThan(1_000)
  })

  it('G9 owner and epoch in identity: two births with one configuration do not mix', () => {
    const table = Table.founded({ first: 1 })
    table.enter(1, 'a')
    const late = table.take(to(3))
    table.take()
    table.stop(1)
    table.acquire(2, 'b')
    table.fire(2, 'birth/propose')
    table.deliver(among(2, 3))
    expect(table.birth(3).chosen?.configuration.firstOwner).toBe(2)
    const before = table.view(3).sequence
    hand(table, late)
    expect(table.view(3).sequence).toBe(before)
    expect(table.letters.some(both(from(3), to(1), saying('chosen')))).toBe(true)
  })

  it('G5 known choice answered: a prepare hears of it', () => {
    const table = Table.founded({ first: 1 })
    table.enter(1, 'a')
    table.deliver(among(1, 2))
    table.take()
    table.configure(3, 'put', together())
    only(table, both(from(3), to(1, 2)))
    expect(table.letters.filter(to(3)).map(typeOf)).toEqual(['chosen', 'chosen'])
  })

  it('G5 repeating chosen: members and those that missed it meet', () => {
    const table = Table.founded({ first: 1 })
    table.configure(1, 'put', together())
    table.deliver(saying('prepare', 'promise', 'accept', 'accepted'))
    // Nobody else hears of the choice.
    table.take(saying('chosen'))
    table.use(2)
    table.settle(2)
    expect(table.events(2, 'ready')).toHaveLength(1)
    table.try(2, 'b')
    table.deliver()
    expect(table.events(2, 'crit')).toHaveLength(1)
    expect(table.chosen()).toHaveLength(1)
  })
})

describe('lost storage', () => {
  const founded = (registrars = 3, first = 1) =>
    Table.founded({
      first,
      registrars,
      hasLedger: true,
      defaults: () => configurationOf('wme-2', registrars, 30_000, true),
    })

  const replace = (table: Table, id: number, filter: Filter = () => true) => {
    table.wipe(id)
    table.start(id)
    table.deliver(both(letter => letter.kind === 'ledger', filter))
  }

  it('G1 lost ≠ blank: a first owner that has lost a vote does not give another', () => {
    const table = founded()
    table.enter(1, 'a')
    const toTwo = table.take(to(2))
    table.take()
    hand(table, toTwo)
    table.take()
    replace(table, 1)
    table.configure(3, 'put', apart())
    table.take(to(2))
    table.deliver(among(1, 3))
    expect(table.birth(1).standing.status).toBe('lost')
    expect(table.birth(1).promised).toBe(0)
    expect(table.chosen()).toHaveLength(1)
    table.settle()
    expect(table.chosen()).toHaveLength(1)
    expect(table.birth(3).chosen?.startEpoch).toBe(0)
  })

  it('G11 majority without itself: with three, both others', () => {
    const table = founded()
    table.enter(1, 'a')
    only(table, to(3))
    table.take()
    replace(table, 1, among(1, 2))
    table.use(1)
    table.despair(1)
    table.deliver(among(1, 2))
    expect(table.events(1, 'unavailable')).toMatchObject([{ reason: 'not-ready' }])
    table.settle()
    expect(table.birth(1).standing.status).toBe('lost')
  })

  it('G1 index before vote: a participant that has voted is in the index before its vote leaves', () => {
    const table = founded()
    table.enter(1, 'a')
    only(table, to(2))
    expect(table.seats[2]!.ledgerStorage.has(`lock/${table.name}`)).toBe(true)
    expect(table.letters.some(both(from(2), to(1)))).toBe(true)
  })

  it('G11 highest index counts: one that names the lock is enough; one that lost it names it, too', () => {
    const table = founded(5)
    table.enter(1, 'a')
    only(table, to(2, 3))
    table.take()
    replace(table, 2, among(2, 3, 4, 5))
    table.use(2)
    table.deliverLedgerCalls()
    expect(table.birth(2).standing.status).toBe('lost')
    replace(table, 3, among(3, 2, 4, 5))
    table.use(3)
    table.deliverLedgerCalls()
    expect(table.birth(3).standing.status).toBe('lost')
  })

  it('G8 old votes discarded: a promise of an earlier life completes no majority', () => {
    const table = founded(3, 3)
    // 1 proposes, and 2 promises, before 2 is wiped and healed; its promise is late. Nobody else has voted.
    table.configure(1, 'put', apart())
    table.deliverLedgerCalls()
    const prepare = table.take(both(from(1), to(2)))
    hand(table, prepare)
    const promise = table.take(both(from(2), to(1)))
    expect(promise.map(typeOf)).toEqual(['promise'])
    table.take()
    const known = { '2': 2 }
    const [letter] = promise
    // 1 hears of the new life first, with a vote of 3 that knows of it.
    table.hand({
      ...(letter as Extract<Letter, { kind: 'lock' }>),
      from: 3,
      message: {
        ...(letter as Extract<Letter, { kind: 'lock' }>).message,
        known,
        body: { type: 'unable', reason: 'lost' },
      },
    })
    hand(table, promise)
    const { proposal } = table.seats[1]!.state!.soft
    expect(proposal?.promises.has(2) ?? false).toBe(false)
  })

  it('G8 old votes discarded, also those that came first: a majority is counted without them', () => {
    const table = founded(5, 5)
    table.configure(1, 'put', apart(5))
    table.deliverLedgerCalls()
    const prepares = table.take(from(1))
    hand(table, prepares.filter(to(2)))
    hand(table, table.take(to(1)))
    hand(table, prepares.filter(to(3)))
    const [three] = table.take(both(from(3), to(1)))
    const { message } = three as Extract<Letter, { kind: 'lock' }>
    table.hand({ kind: 'lock', from: 3, to: 1, message: { ...message, known: { '2': 2 } } })
    expect(table.seats[1]!.state!.soft.proposal?.value).toBeNull()
    expect(table.letters.filter(saying('accept'))).toEqual([])
  })

  it('G8 old votes discarded in the core: what it has counted of an earlier life is forgotten', () => {
    const table = founded(5)
    table.enter(1, 'a')
    only(table, to(2))
    hand(table, table.take(both(from(2), to(1))))
    only(table, to(3))
    const [acknowledgement] = table.take(both(from(3), to(1), saying('invoke-ack')))
    const { message } = acknowledgement as Extract<Letter, { kind: 'lock' }>
    table.take()
    table.hand({ kind: 'lock', from: 3, to: 1, message: { ...message, known: { '2': 2 } } })
    expect(table.events(1, 'outcome')).toEqual([])
    expect(table.birth(1).known).toEqual({ '2': 2 })
    expect(table.birth(1).chosen).toBeNull()
  })

  it('G6: a first owner that was replaced does not begin alone again', () => {
    const table = founded()
    table.acquire(1, 'a')
    const before = table.fenceOf(1, 'a')
    table.take()
    replace(table, 1)
    table.use(1, true)
    table.deliverLedgerCalls()
    expect(table.birth(1).incarnation).toBe(2)
    expect(table.birth(1).accepted).toBeNull()
    table.settle(2)
    table.try(1, 'b')
    expect(table.fenceOf(1, 'b')).toBeGreaterThan(before)
    expect(table.birth(1).chosen?.startEpoch).toBe(1)
  })

  it('G6: nobody accepts ballot 0 of a first owner that is known to be replaced', () => {
    const table = founded()
    table.enter(1, 'a')
    const late = table.take(to(2))
    table.take()
    replace(table, 1)
    hand(table, late)
    expect(table.birth(2).accepted).toBeNull()
  })

  it('G6: nobody accepts it from those that have accepted it before, either', () => {
    const table = founded(5)
    table.enter(1, 'a')
    only(table, to(3))
    table.take()
    replace(table, 1, among(1, 2, 4, 5))
    table.take()
    table.try(3, 'c')
    only(table, both(from(3), to(2)))
    expect(table.birth(2).accepted).toBeNull()
    expect(table.letters.filter(both(from(2), to(3))).map(typeOf)).toContain('promised')
  })

  it('one that was lost, and so has no vote, does not use a ballot twice', () => {
    const table = founded()
    table.enter(1, 'a')
    only(table, to(2))
    table.take()
    table.wipeParticipant(2)
    table.use(2)
    table.deliverLedgerCalls()
    table.take()
    const { ballot } = table.birth(2)
    expect(ballot).toBeGreaterThan(0)
    table.crash(2)
    table.use(2)
    expect(table.birth(2).ballot).toBeGreaterThan(ballot)
  })

  it('G5 joiner has no vote: a lost one is taken back, and keeps what the others acknowledged', () => {
    const table = founded()
    table.enter(1, 'a')
    table.deliver(among(1, 2))
    table.exit(1, 'a')
    table.take()
    replace(table, 2)
    table.use(2)
    table.deliver(among(2, 3))
    expect(table.view(2).membership).not.toBe('member')
    table.settle()
    expect(table.view(2).membership).toBe('member')
    expect(table.valueAt(2)).toBe(1)
  })

  it('G1 fresh: a crash between ledger and object loses nothing, even at two', () => {
    const table = founded()
    for (const id of [2, 3]) {
      table.use(id)
      table.deliverLedgerCalls()
      const { storage } = table.seats[id]!
      const birth = storage.get('birth') as { standing: { status: string } }
      expect(birth.standing.status).toBe('entitled')
      // As if the object had ended after it asked, and before it heard.
      const token = (table.seats[id]!.ledgerStorage.get(`lock/${table.name}`) as { token: string }).token
      storage.set('birth', { ...birth, standing: { status: 'fresh', token } })
      table.crash(id)
    }
    table.take()
    table.acquire(2, 'b')
    table.settle()
    expect(table.events(2, 'crit')).toHaveLength(1)
    expect([1, 2, 3].map(id => table.birth(id).standing.status)).toEqual(['entitled', 'entitled', 'entitled'])
  })
})

describe('generations', () => {
  const ended = () => {
    const table = Table.founded({ first: 1 })
    table.enter(1, 'a')
    table.deliver()
    table.exit(1, 'a')
    table.deliver()
    const late = table.take()
    const length = table.view(1).sequence
    for (const id of [1, 2, 3]) table.step(id, { type: 'end', now: table.now, epoch: 0, length })
    table.take()
    return { table, late, fence: table.fenceOf(1, 'a') }
  }

  it('G9 tombstone kept: a generation that has ended does not begin again', () => {
    const { table, fence } = ended()
    table.crash(1)
    expect(table.birth(1)).toMatchObject({ generation: 2, startEpoch: 2 })
    table.acquire(1, 'b')
    expect(table.fenceOf(1, 'b')).toBeGreaterThan(fence + 1_000)
  })

  it('G9 generation in messages: a late message of the last one changes nothing', () => {
    const { table } = ended()
    const other = Table.founded({ first: 1 })
    other.enter(1, 'z')
    const late = other.take(to(2))
    expect(late.length).toBeGreaterThan(0)
    hand(table, late)
    expect(table.birth(2)).toMatchObject({ generation: 2, accepted: null, core: null })
    expect(table.letters.some(both(from(2), to(1), saying('outdated')))).toBe(true)
  })

  it('G9 E above the gap: a long log, of which an owner that was cut off still gives fences away', () => {
    const table = Table.founded({ first: 1 })
    table.acquire(1, 'a')
    table.deliver()
    table.enter(1, 'a')
    table.deliver()
    table.step(1, { type: 'end', now: table.now, epoch: 3, length: 5_000 })
    // The last fence of epoch 3 and the first of what follows.
    expect(table.birth(1).startEpoch * 1_024).toBeGreaterThan(3 * 1_024 + 5_000 + 1_024)
  })
})
