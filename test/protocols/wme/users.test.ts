/** The users of a stub beyond the paper's events: the local queue and giving up. */
import { describe, expect, it } from 'vitest'
import { Cluster, type ClusterOptions } from './cluster.ts'
import {
  enter,
  eventsOf,
  eventTypes,
  exit,
  holder,
  isIn,
  ownerAt,
  phaseAt,
  protocols,
  suspectOwner,
  withdraw,
} from './scenes.ts'

describe.each(protocols)('users %s', (_name, protocol) => {
  const createCluster = (options: Partial<ClusterOptions> = {}) =>
    new Cluster(protocol, { participants: 3, ...options })

  /** Users enter and leave until nobody waits. Returns who was in, in order. */
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
    it('withdraw: a user that is not the first leaves the queue, and nothing else changes', () => {
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

    it('waitMs: a user that asks again may wait longer, and keeps its place', () => {
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
})
