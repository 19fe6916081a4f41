/** The birth of a lock, rule by rule. */
import { describe, expect, it } from 'vitest'
import { modeOf } from '../../shared/birth/lock-state.ts'
import { allowsBallotZero, firstOwnerOf, refusalOf } from '../../shared/birth/value.ts'
import { configurationOf } from './scenario.ts'
import { among, both, from, saying, Table, to, typeOf } from './table.ts'

const wme = (participants = 3, ttlMs = 30_000) => configurationOf('wme-2', participants, ttlMs, false)

describe('what is agreed', () => {
  it('the first owner is a function of the name and the number of registrars', () => {
    expect(firstOwnerOf('orders', 3)).toBe(firstOwnerOf('orders', 3))
    const owners = new Set(Array.from({ length: 60 }, (_, number) => firstOwnerOf(`lock-${number}`, 5)))
    expect([...owners].sort()).toEqual([1, 2, 3, 4, 5])
  })

  it('ballot 0 is for locks whose grants need a majority: not maekawa, nor silence as a reply', () => {
    const plain = configurationOf('ricart-agrawala', 3, 1, false)
    const allowed = (['wme-1', 'wme-2', 'wme-consensus', 'ricart-agrawala', 'maekawa'] as const).map(
      protocol => allowsBallotZero(configurationOf(protocol, 3, 1, false), 3),
    )
    expect(allowed).toEqual([true, true, true, true, false])
    expect(allowsBallotZero({ ...plain, options: { declareDeadAfterMs: 100 } }, 3)).toBe(false)
    expect(allowsBallotZero(wme(5), 3)).toBe(false)
  })

  it('a message carries the identity: generation and digest', () => {
    const table = Table.founded()
    table.enter(1, 'a')
    const bodies = table.letters.map(({ message }) => message)
    expect(bodies.length).toBeGreaterThan(0)
    for (const message of bodies)
      expect(message).toMatchObject({ generation: 1, body: { digest: expect.any(String) } })
  })

  it('the first owner of a lock has voted: one that is away or was lost would keep all waiting', () => {
    const table = Table.founded({ first: 1 })
    table.stop(3)
    table.configure(2, 'put', { ...wme(3, 5_000), firstOwner: 3 })
    table.deliver(among(1, 2))
    expect(table.birth(2).chosen).toMatchObject({ configuration: { ttlMs: 5_000, firstOwner: 2 } })
  })

  it('nothing is born by looking', () => {
    const table = Table.founded()
    expect(table.view(1)).toMatchObject({ membership: 'blank', phase: 'unborn' })
    expect(table.letters).toEqual([])
    expect(table.seats[1]!.storage.size).toBe(0)
  })
})

describe('G2 nothing begins because somebody looks at a lock that is born', () => {
  const bornWithout = (registrars: number, ...away: number[]) => {
    const table = Table.founded({ registrars, first: registrars, defaults: () => wme(registrars) })
    for (const id of away) table.stop(id)
    table.configure(1, 'put', wme(registrars, 5_000))
    table.deliver(among(...table.ids.filter(id => !away.includes(id))))
    expect(table.birth(1).chosen).not.toBeNull()
    table.letters = []
    for (const id of away) table.start(id)
    return table
  }

  it('not at the first owner either, if it was away then', () => {
    const table = bornWithout(3, 3)
    table.look(3)
    expect(table.birth(3).accepted).toBeNull()
    table.deliver()
    expect(table.birth(3).chosen).toMatchObject({ configuration: { ttlMs: 5_000 } })
    expect(table.events(3, 'ready')).toHaveLength(1)
  })

  it('nor is the first owner made to begin by another one that was away', () => {
    const table = bornWithout(5, 4, 5)
    table.look(4)
    table.deliver(saying('wake'))
    expect(table.birth(5).accepted).toBeNull()
    table.deliver()
    expect(table.events(4, 'ready')).toHaveLength(1)
  })

  it('a first owner that has begun says so', () => {
    const table = Table.founded({ first: 1 })
    table.acquire(1, 'a')
    table.look(2)
    table.deliver(among(1, 2))
    expect(table.events(2, 'ready')).toHaveLength(1)
    expect(modeOf(table.birth(1))).toBe('active')
  })

  it('if nobody says what it is, a ballot finds out', () => {
    const table = bornWithout(3, 3)
    table.look(3)
    table.letters = []
    table.fire(3, 'birth/propose')
    table.deliver()
    expect(table.birth(3).chosen).toMatchObject({ configuration: { ttlMs: 5_000 } })
    expect(table.events(3, 'ready')).toHaveLength(1)
  })

  it('whoever uses the lock there meanwhile does not wait for what the others say', () => {
    const table = Table.founded({ first: 1 })
    table.look(2)
    table.letters = []
    table.acquire(2, 'a')
    expect(table.letters.map(typeOf)).toContain('wake')
    table.deliver()
    expect(table.events(2, 'crit')).toHaveLength(1)
  })
})

describe('round trips', () => {
  it('at the first owner none: it is let in within the step of its try', () => {
    const table = Table.founded()
    table.acquire(1, 'a')
    expect(table.events(1, 'crit')).toHaveLength(1)
  })

  it('elsewhere one: a request and a grant', () => {
    const table = Table.founded({ first: 1 })
    table.acquire(2, 'a')
    const asked = table.take(from(2))
    expect(asked.every(letter => letter.to === 1)).toBe(true)
    for (const letter of asked) table.hand(letter)
    for (const letter of table.take(both(from(1), to(2)))) table.hand(letter)
    expect(table.events(2, 'crit')).toHaveLength(1)
  })

  it('elsewhere one, also where processes have ledgers', () => {
    const table = Table.founded({ first: 1, hasLedger: true })
    table.acquire(2, 'a')
    for (const letter of table.take(from(2))) table.hand(letter)
    for (const letter of table.take(both(from(1), to(2)))) table.hand(letter)
    expect(table.events(2, 'crit')).toHaveLength(1)
  })

  it('a configured lock two, and its first acquire none of the birth', () => {
    const table = Table.founded({ first: 1 })
    table.configure(2, 'put', { ...wme(3, 5_000), firstOwner: 2 })
    for (let trips = 0; trips < 2; trips++) {
      for (const letter of table.take(from(2))) table.hand(letter)
      for (const letter of table.take(to(2))) table.hand(letter)
    }
    expect(table.events(2, 'configured')).toMatchObject([{ request: 'put', created: true }])
    table.acquire(2, 'a')
    expect(table.events(2, 'crit')).toHaveLength(1)
  })

  it('maekawa is born with a ballot', () => {
    const maekawa = configurationOf('maekawa', 3, 30_000, false)
    const table = Table.founded({ first: 1, defaults: () => maekawa })
    table.use(1)
    expect(table.events(1, 'ready')).toEqual([])
    table.deliver()
    expect(table.events(1, 'ready')).toHaveLength(1)
    expect(table.birth(1).chosen?.startEpoch).toBe(1)
  })

  it('a silent first owner: the next proposes, owns the lock, and lets its user in', () => {
    const table = Table.founded({ first: 1 })
    table.stop(1)
    table.acquire(2, 'a')
    table.deliver()
    expect(table.events(2, 'crit')).toEqual([])
    table.fire(2, 'birth/propose')
    table.deliver()
    expect(table.events(2, 'crit')).toHaveLength(1)
    expect(table.birth(2).chosen).toMatchObject({ startEpoch: 1, configuration: { firstOwner: 2 } })
  })

  it('a first owner that cannot be reached is not waited for', () => {
    const table = Table.founded({ first: 1 })
    table.stop(1)
    table.acquire(2, 'a')
    table.step(2, { type: 'unreachable', now: table.now, peer: 1 })
    table.deliver()
    expect(table.events(2, 'crit')).toHaveLength(1)
  })
})

describe('G1: index before vote', () => {
  it('a vote waits for the ledger', () => {
    const table = Table.founded({ first: 1, hasLedger: true })
    table.deafLedgers.add(2)
    table.configure(1, 'put', configurationOf('wme-2', 3, 5_000, true))
    table.deliver()
    expect(table.birth(2)).toMatchObject({ promised: 0, standing: { status: 'fresh' } })
    table.deafLedgers.delete(2)
    table.fire(2, 'birth/ledger')
    table.deliver()
    expect(table.birth(2).chosen).not.toBeNull()
  })

  it('a participant that finds its own token has lost nothing', () => {
    const table = Table.founded({ first: 1, hasLedger: true })
    table.enter(1, 'a')
    table.deafLedgers.add(2)
    table.deliver()
    table.deafLedgers.delete(2)
    // The ledger has listed the lock, but the answer is lost with the participant.
    const { standing } = table.birth(2)
    const token = standing.status === 'fresh' ? standing.token : ''
    const question = { lock: table.name, generation: 1, token, incarnation: 1 }
    const { storage } = table.seats[2]!
    const kept = new Map(storage)
    table.seats[2]!.state = null
    table.stepLedger(2, { type: 'ask', question })
    table.seats[2]!.storage = kept
    table.crash(2)
    table.use(2)
    table.deliver()
    expect(table.birth(2).standing.status).toBe('entitled')
  })

  it('one whose token the ledger does not know has lost what it had', () => {
    const table = Table.founded({ first: 1, hasLedger: true })
    table.enter(1, 'a')
    table.deliver()
    table.wipeParticipant(2)
    table.use(2)
    table.deliver()
    expect(table.birth(2).standing.status).toBe('lost')
  })
})

describe('G2 to G4: ballot 0', () => {
  it('acting is accepting: a registrar stores the acceptance and the core at once', () => {
    const table = Table.founded({ first: 1, registrars: 5 })
    table.enter(1, 'a')
    table.deliver(to(2))
    expect(table.birth(2).accepted).toMatchObject({ ballot: 0 })
    expect(modeOf(table.birth(2))).toBe('active')
    expect(table.seats[2]!.storage.has('membership')).toBe(true)
  })

  it('a majority that acts has chosen', () => {
    const table = Table.founded({ first: 1 })
    table.enter(1, 'a')
    expect(table.birth(1).chosen).toBeNull()
    table.deliver()
    expect(table.birth(1).chosen).not.toBeNull()
  })

  it('accepting anything in another ballot parks a core, which goes on when its value is chosen', () => {
    const table = Table.founded({ first: 1 })
    table.enter(1, 'a')
    table.take(to(2, 3))
    table.configure(1, 'put', wme(3, 5_000))
    table.deliver(both(among(1, 2), saying('prepare', 'promise')))
    expect(modeOf(table.birth(1))).toBe('parked')
    table.user(1, { type: 'exit', user: 'a', fence: table.fenceOf(1, 'a') })
    expect(table.events(1, 'refused')).toMatchObject([{ refusal: { code: 'not-a-member' } }])
    table.deliver()
    expect(modeOf(table.birth(1))).toBe('active')
    expect(table.view(1).holders).toMatchObject([{ user: 'a' }])
    expect(table.events(1, 'configured')).toMatchObject([{ created: false }])
  })

  it('a core whose value is not chosen is dropped, and its user ejected', () => {
    const table = Table.founded({ first: 1 })
    table.enter(1, 'a')
    const late = table.take()
    table.configure(2, 'put', wme(3, 5_000))
    table.take(to(1))
    table.deliver(among(2, 3))
    expect(table.events(2, 'configured')).toMatchObject([{ created: true }])
    for (const letter of late) table.hand(letter)
    table.deliver()
    expect(table.events(1, 'ejected')).toMatchObject([{ user: 'a', fence: table.fenceOf(1, 'a') }])
    expect(table.chosen()).toHaveLength(1)
    expect(table.view(1).holders).toEqual([])
  })

  it('a user that waits in a core that is dropped goes on waiting in the other one', () => {
    const table = Table.founded({ first: 1 })
    table.acquire(3, 'c')
    table.take()
    table.configure(2, 'put', { ...wme(3, 5_000), firstOwner: 2 })
    table.take(to(1))
    table.deliver(among(2, 3))
    table.deliver()
    expect(table.events(3, 'crit')).toHaveLength(1)
    expect(table.events(3, 'refused')).toEqual([])
  })

  it('but one that gives up while its core is parked does not (seed 240000276)', () => {
    const table = Table.founded({ first: 1 })
    table.acquire(3, 'c')
    table.take()
    table.fire(3, 'birth/propose')
    expect(modeOf(table.birth(3))).toBe('parked')
    table.user(3, { type: 'withdraw', user: 'c' })
    table.deliver(among(2, 3))
    expect(table.birth(3)).toMatchObject({ chosen: { configuration: { firstOwner: 3 } } })
    expect(table.events(3, 'crit')).toEqual([])
    expect(table.view(3).waiters).toEqual([])
  })
})

describe('G5: the choice is repeated', () => {
  it('to every prepare, accept, wake and foreign identity', () => {
    const table = Table.founded({ first: 1 })
    table.enter(1, 'a')
    table.deliver(among(1, 2))
    table.take()
    table.configure(3, 'put', wme(3, 5_000))
    for (const letter of table.take(both(from(3), to(2)))) table.hand(letter)
    expect(table.letters.map(typeOf)).toContain('chosen')
    table.deliver(among(2, 3))
    expect(table.events(3, 'configured')).toMatchObject([{ created: false }])
  })

  it('a participant that knows only the digest asks for the value', () => {
    const table = Table.founded({ first: 1, processes: 5 })
    table.configure(1, 'put', wme(5))
    table.take(saying('chosen'))
    table.deliver(among(1, 2, 3))
    table.take(both(saying('chosen'), to(5)))
    table.enter(1, 'a')
    const request = table.take(both(from(1), to(5)))
    for (const letter of request) table.hand(letter)
    expect(table.letters.filter(from(5)).map(typeOf)).toContain('what')
    table.deliver()
    expect(table.birth(5).chosen).not.toBeNull()
    expect(table.view(5).membership).toBe('member')
  })
})

describe('G7: a participant that is stuck proposes', () => {
  it('a member that is answered with a promise', () => {
    const table = Table.founded({ first: 1 })
    table.configure(2, 'put', wme(3, 5_000))
    table.deliver(both(from(2), to(3)))
    table.take()
    table.stop(2)
    table.enter(1, 'a')
    table.deliver(among(1, 3))
    expect(table.chosen()).toHaveLength(1)
    expect(table.birth(1).chosen).toMatchObject({ startEpoch: 0 })
  })

  it('says so when a majority does not answer', () => {
    const table = Table.founded({ first: 1 })
    table.stop(1)
    table.stop(3)
    table.use(2)
    for (let attempt = 0; attempt < 5; attempt++) {
      table.take()
      table.fire(2, 'birth/propose')
    }
    expect(table.events(2, 'unavailable')).toMatchObject([{ reason: 'no-majority' }])
  })

  it('two that configure at once agree', () => {
    const table = Table.founded({ first: 1 })
    table.configure(2, 'two', wme(3, 5_000))
    table.configure(3, 'three', wme(3, 6_000))
    table.deliver()
    table.settle(6)
    expect(table.chosen()).toHaveLength(1)
    const answers = [...table.events(2, 'configured'), ...table.events(3, 'configured')]
    expect(answers).toHaveLength(2)
    expect(answers.filter(event => event.type === 'configured' && event.created)).toHaveLength(1)
  })
})

describe('G9: generations', () => {
  it('a message of an earlier generation is answered with the present one, which is adopted', () => {
    const table = Table.founded({ first: 1 })
    table.enter(1, 'a')
    table.deliver()
    table.step(1, { type: 'end', now: table.now, epoch: 4, length: 2_500 })
    expect(table.birth(1)).toMatchObject({ generation: 2, startEpoch: 4 + 2 + 2, chosen: null, core: null })
    table.acquire(2, 'b')
    table.deliver()
    expect(table.birth(2)).toMatchObject({ generation: 2, startEpoch: 8 })
  })
})

describe('configurations', () => {
  it('more participants than processes are refused where processes are apart', () => {
    const apart = configurationOf('wme-2', 3, 1, true).participants
    expect(refusalOf(configurationOf('wme-2', 5, 1, true), apart)).toContain('3 processes')
    expect(refusalOf(configurationOf('wme-2', 3, 1, false), apart)).not.toBeNull()
    expect(refusalOf(configurationOf('wme-2', 2, 1, true), apart)).toBeNull()
    expect(refusalOf(wme(7), wme().participants)).toBeNull()
  })

  it('the machine refuses them', () => {
    const table = Table.founded({ hasLedger: true })
    table.configure(1, 'put', configurationOf('wme-2', 5, 1, true))
    table.deliver()
    expect(table.events(1, 'configuration-refused')).toMatchObject([{ why: 'impossible' }])
    expect(table.chosen()).toEqual([])
  })

  it('the machine refuses the next one for now while 64 wait', () => {
    const table = Table.founded({ first: 2 })
    for (let number = 1; number <= 65; number++) table.configure(1, `put-${number}`, wme())
    expect(table.events(1, 'configuration-refused')).toMatchObject([{ request: 'put-65', why: 'too-many' }])
    table.deliver()
    expect(table.events(1, 'configured')).toHaveLength(64)
  })
})
