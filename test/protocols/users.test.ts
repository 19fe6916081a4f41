/** The users of a stub beyond the paper's events: the local queue, giving up, the life of a grant, operators. */
import { describe, expect, it } from 'vitest'
import { Cluster, type ClusterOptions } from './cluster.ts'
import { all, among, from, ofType, to } from './matchers.ts'
import {
  ejectHolder,
  enter,
  epochOf,
  eventsOf,
  eventTypes,
  exit,
  holder,
  isIn,
  isSealed,
  issue,
  keepAlive,
  ownerAt,
  phaseAt,
  protocols,
  replaceOwnerByHand,
  suspectOwner,
  valueAt,
  withdraw,
} from './scenes.ts'

describe.each(protocols)('users %s', (_name, protocol) => {
  const createCluster = (options: Partial<ClusterOptions> = {}) =>
    new Cluster(protocol, { participants: 3, ...options })

  /** Users enter and leave until nobody waits; who was in, in order. */
  function enterInTurn(cluster: Cluster, users: { [user: string]: number }): string[] {
    const order: string[] = []
    for (;;) {
      const inside = Object.keys(users).find(user => isIn(cluster, users[user]!, user))
      if (inside === undefined) return order
      order.push(inside)
      exit(cluster, holder(cluster, users[inside]!, inside))
      cluster.deliver()
    }
  }

  describe('the local queue', () => {
    it('users of one stub enter in the order in which they came', () => {
      const cluster = createCluster()
      for (const user of ['a', 'b', 'c']) cluster.try(2, user)
      cluster.deliver()
      expect(enterInTurn(cluster, { c: 2, b: 2, a: 2 })).toEqual(['a', 'b', 'c'])
    })

    it('keeps its order over a restart', () => {
      const cluster = createCluster()
      for (const user of ['a', 'b', 'c']) cluster.try(2, user)
      cluster.crash(2)
      cluster.start(2)
      cluster.deliver()
      expect(enterInTurn(cluster, { c: 2, b: 2, a: 2 })).toEqual(['a', 'b', 'c'])
    })

    it.each([0, 1, 2])('at most %i local users follow each other while a remote one waits', localHandoffs => {
      const cluster = createCluster({ localHandoffs })
      const users = { l1: 1, l2: 1, l3: 1, l4: 1, l5: 1, r1: 2, r2: 3 }
      for (const user of ['l1', 'l2', 'l3', 'l4', 'l5']) cluster.try(1, user)
      cluster.try(2, 'r1')
      cluster.deliver()
      cluster.try(3, 'r2')
      cluster.deliver()
      const order = enterInTurn(cluster, users)
      expect(order.slice(0, localHandoffs + 3)).toEqual([
        ...['l1', 'l2', 'l3', 'l4'].slice(0, localHandoffs + 1),
        'r1',
        'r2',
      ])
      expect(order).toHaveLength(7)
    })

    it('nobody starves, though everybody comes back at once', () => {
      const cluster = createCluster({ localHandoffs: 2 })
      const turns: { [participant: number]: number } = { 1: 0, 2: 0, 3: 0 }
      for (const id of [1, 2, 3]) for (const user of ['a', 'b', 'c', 'd']) cluster.try(id, `${id}${user}`)
      cluster.deliver()
      for (let i = 0; i < 90; i++) {
        const owner = ownerAt(cluster, 1)
        const { user } = cluster.state(owner).durable.stub.grant!
        turns[owner]!++
        cluster.try(owner, `${user}'`.slice(0, 20))
        exit(cluster, holder(cluster, owner, user))
        cluster.deliver()
      }
      for (const id of [1, 2, 3]) expect(turns[id]).toBeGreaterThanOrEqual(28)
    })
  })

  describe('giving up', () => {
    it('withdraw: one who is not the first leaves the queue, and nothing else changes', () => {
      const cluster = createCluster()
      for (const user of ['a', 'b', 'c']) cluster.try(2, user)
      expect(withdraw(cluster, 2, 'b')).toEqual([{ type: 'withdrawn', user: 'b', reason: 'asked' }])
      expect(phaseAt(cluster, 2)).toBe('requesting')
      cluster.deliver()
      expect(enterInTurn(cluster, { a: 2, b: 2, c: 2 })).toEqual(['a', 'c'])
    })

    it('withdraw: in a sealed epoch, too', () => {
      const cluster = createCluster()
      cluster.try(2, 'b')
      suspectOwner(cluster, 2, [3])
      expect(withdraw(cluster, 2, 'b')).toMatchObject([{ type: 'withdrawn' }])
      cluster.run(6_000)
      expect(eventTypes(cluster, 2)).toEqual(['withdrawn'])
    })

    it('withdraw: a user that is entering leaves the token to the next', () => {
      const cluster = createCluster({ participants: 5 })
      cluster.try(1, 'a', { confirm: true })
      cluster.try(1, 'b')
      expect(phaseAt(cluster, 1)).toBe('entering')
      withdraw(cluster, 1, 'a')
      cluster.deliver()
      expect(eventsOf(cluster, 1, 'crit').map(({ user }) => user)).toEqual(['b'])
    })

    it('withdraw: one that is in, or never came, is not waiting', () => {
      const cluster = createCluster()
      enter(cluster, 1, 'a')
      for (const user of ['a', 'nobody']) {
        const refusal = { code: 'not-waiting' }
        expect(withdraw(cluster, 1, user)).toEqual([{ type: 'refused', user, event: 'withdraw', refusal }])
      }
      expect(isIn(cluster, 1, 'a')).toBe(true)
    })

    it('waitMs: the time to wait ends, for each at its own time', () => {
      const cluster = createCluster()
      enter(cluster, 1, 'a')
      cluster.try(1, 'late', { waitMs: 3_000 })
      cluster.try(1, 'soon', { waitMs: 1_000 })
      cluster.try(1, 'patient')
      cluster.run(999)
      expect(eventsOf(cluster, 1, 'withdrawn')).toEqual([])
      cluster.run(1)
      expect(eventsOf(cluster, 1, 'withdrawn')).toEqual([
        { type: 'withdrawn', user: 'soon', reason: 'timeout' },
      ])
      cluster.run(2_000)
      expect(eventsOf(cluster, 1, 'withdrawn').map(({ user }) => user)).toEqual(['soon', 'late'])
      expect(cluster.hasTimer(1, 'wait')).toBe(false)
    })

    it('waitMs: survives a restart', () => {
      const cluster = createCluster()
      enter(cluster, 1, 'a')
      cluster.try(1, 'b', { waitMs: 1_000 })
      cluster.run(600)
      cluster.crash(1)
      cluster.start(1)
      cluster.run(400)
      expect(eventsOf(cluster, 1, 'withdrawn')).toHaveLength(1)
    })

    it('waitMs: who asks again may wait longer, and keeps its place', () => {
      const cluster = createCluster()
      const first = enter(cluster, 1, 'a')
      cluster.try(1, 'b', { waitMs: 1_000 })
      cluster.try(1, 'c')
      cluster.run(900)
      cluster.try(1, 'b', { waitMs: 1_000 })
      cluster.run(900)
      exit(cluster, first)
      expect(isIn(cluster, 1, 'b')).toBe(true)
      expect(cluster.hasTimer(1, 'wait')).toBe(false)
    })
  })

  describe('the life of a grant', () => {
    it('TTL: a user that is issuing gets its outcome before it is out', () => {
      const cluster = createCluster()
      const by = enter(cluster, 1, 'a', { ttlMs: 1_000 })
      issue(cluster, by, 'x')
      cluster.isolate(1)
      cluster.run(2_000)
      expect(eventTypes(cluster, 1)).toEqual(['crit', 'confirmed'])
      expect(keepAlive(cluster, by, 60_000)).toMatchObject([{ type: 'refused' }])
      cluster.reconnect(1)
      cluster.run(5_000)
      expect(eventTypes(cluster, 1).slice(2)).toEqual(['refused', 'applied', 'outcome', 'ejected'])
      expect(eventsOf(cluster, 1, 'ejected')).toEqual([
        { type: 'ejected', user: 'a', fence: by.fence, reason: 'expired' },
      ])
    })

    it('TTL: it goes on over a restart', () => {
      const cluster = createCluster()
      enter(cluster, 1, 'a', { ttlMs: 1_000 })
      cluster.run(500)
      cluster.crash(1)
      cluster.start(1)
      cluster.run(499)
      expect(isIn(cluster, 1, 'a')).toBe(true)
      cluster.run(1)
      expect(eventsOf(cluster, 1, 'ejected')).toHaveLength(1)
    })

    it('TTL: counts from crit, not from try', () => {
      const cluster = createCluster()
      const first = enter(cluster, 1, 'a')
      cluster.try(2, 'b', { ttlMs: 1_000 })
      cluster.run(5_000)
      exit(cluster, first)
      cluster.deliver()
      cluster.run(999)
      expect(isIn(cluster, 2, 'b')).toBe(true)
      cluster.run(1)
      expect(isIn(cluster, 2, 'b')).toBe(false)
    })

    it('keep-alive moves the end, also while issuing, and not with another fence', () => {
      const cluster = createCluster()
      const by = enter(cluster, 1, 'a', { ttlMs: 1_000 })
      cluster.run(900)
      issue(cluster, by, 'x')
      expect(keepAlive(cluster, by, 5_000)).toEqual([
        { type: 'kept', user: 'a', fence: by.fence, expiresAt: 5_900 },
      ])
      expect(keepAlive(cluster, { ...by, fence: by.fence + 1 }, 60_000)).toMatchObject([{ type: 'refused' }])
      cluster.run(4_999)
      expect(isIn(cluster, 1, 'a')).toBe(true)
      cluster.run(1)
      expect(isIn(cluster, 1, 'a')).toBe(false)
    })
  })

  describe('operators', () => {
    it('eject: a holder at the same participant is out at once', () => {
      const cluster = createCluster()
      const by = enter(cluster, 1, 'a')
      expect(ejectHolder(cluster, 1, 'now')).toEqual([
        { type: 'ejected', user: 'a', fence: by.fence, reason: 'operator' },
        { type: 'eject-done', request: 'now', epoch: 0 },
      ])
    })

    it('eject: a holder elsewhere is out once its participant is told, which is repeated', () => {
      const cluster = createCluster()
      enter(cluster, 1, 'a')
      expect(ejectHolder(cluster, 3, 'now')).toEqual([])
      cluster.take(() => true)
      cluster.run(1_000)
      expect(eventsOf(cluster, 1, 'ejected')).toMatchObject([{ reason: 'operator' }])
      expect(eventsOf(cluster, 3, 'eject-done')).toEqual([{ type: 'eject-done', request: 'now', epoch: 0 }])
    })

    it('eject: a pending operation is settled first', () => {
      const cluster = createCluster()
      const by = enter(cluster, 1, 'a')
      issue(cluster, by, 'x')
      const invokes = cluster.take(ofType('invoke'))
      ejectHolder(cluster, 3, 'now')
      cluster.deliver(ofType('eject', 'eject-done'))
      expect(isIn(cluster, 1, 'a')).toBe(true)
      expect(eventsOf(cluster, 3, 'eject-done')).toEqual([])
      for (const sent of invokes) cluster.hand(sent)
      cluster.run(1_000)
      expect(eventTypes(cluster, 1).slice(-2)).toEqual(['outcome', 'ejected'])
      expect(eventsOf(cluster, 3, 'eject-done')).toHaveLength(1)
      expect(valueAt(cluster, 2)).toBe(1)
    })

    it('eject: if nobody is in, it is done, and the token stays usable', () => {
      const cluster = createCluster()
      ejectHolder(cluster, 2, 'now')
      cluster.deliver()
      expect(eventsOf(cluster, 2, 'eject-done')).toHaveLength(1)
      expect(enter(cluster, 1, 'a').sequence).toBe(1)
    })

    it('eject: the next holder is not meant', () => {
      const cluster = createCluster()
      const first = enter(cluster, 1, 'a')
      ejectHolder(cluster, 3, 'now')
      const late = cluster.take(all(ofType('eject'), from(3), to(1)))
      exit(cluster, first)
      const next = enter(cluster, 1, 'b')
      cluster.hand(late[0]!)
      cluster.deliver()
      expect(next.fence).toBeGreaterThan(first.fence)
      expect(isIn(cluster, 1, 'b')).toBe(true)
      expect(eventsOf(cluster, 3, 'eject-done')).toHaveLength(1)
    })

    it('eject: if the holder is gone with its participant, it is replaced', () => {
      const cluster = createCluster()
      enter(cluster, 1, 'a')
      cluster.crash(1)
      ejectHolder(cluster, 3, 'now')
      cluster.run(12_000)
      expect(epochOf(cluster, 3)).toBe(1)
      expect(eventsOf(cluster, 3, 'eject-done')).toEqual([{ type: 'eject-done', request: 'now', epoch: 1 }])
    })
  })

  describe('confirm: true', () => {
    it('the user is let in once a majority holds the grant', () => {
      const cluster = createCluster({ participants: 5 })
      expect(cluster.try(1, 'a', { confirm: true })).toEqual([])
      cluster.deliver(among(1, 2))
      expect(eventTypes(cluster, 1)).toEqual([])
      cluster.deliver(among(1, 3))
      expect(eventsOf(cluster, 1, 'crit')).toMatchObject([{ user: 'a', confirmed: true }])
      expect(eventsOf(cluster, 1, 'confirmed')).toEqual([])
    })

    it('of three, granter and grantee already are the majority', () => {
      const cluster = createCluster()
      cluster.try(2, 'a', { confirm: true })
      cluster.deliver(among(1, 2))
      expect(eventsOf(cluster, 2, 'crit')).toMatchObject([{ confirmed: true }])
    })

    it('a user whose grant was rolled back goes on waiting, and enters later', () => {
      const cluster = createCluster({ participants: 5 })
      cluster.try(2, 'a', { confirm: true })
      cluster.deliver(all(ofType('request'), to(1)))
      cluster.deliver(all(ofType('invoke'), to(2)))
      cluster.take(() => true)
      replaceOwnerByHand(cluster, 3, [4, 5], 'b')
      cluster.deliver()
      expect(isSealed(cluster, 2)).toBe(false)
      expect(eventTypes(cluster, 2)).toEqual([])
      exit(cluster, holder(cluster, 3, 'b'))
      cluster.run(1_000)
      expect(eventsOf(cluster, 2, 'crit')).toMatchObject([{ user: 'a', epoch: 1, confirmed: true }])
    })
  })
})
