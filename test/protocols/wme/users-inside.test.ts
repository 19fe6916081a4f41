/**
 * What happens to a user that is in, or about to be: its time runs out, an operator forces it out, its grant
 * is confirmed.
 */
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
  protocols,
  replaceOwnerByHand,
  valueAt,
} from './scenes.ts'

describe.each(protocols)('users inside %s', (_name, protocol) => {
  const createCluster = (options: Partial<ClusterOptions> = {}) =>
    new Cluster(protocol, { participants: 3, ...options })

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

    it('TTL: a clock that was set back before a restart does not make it longer', () => {
      const cluster = createCluster()
      enter(cluster, 1, 'a', { ttlMs: 1_000 })
      cluster.crash(1)
      cluster.now -= 3_600_000
      cluster.start(1)
      cluster.run(999)
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

    it('eject: it means the user that is in when the owner hears of it, and nobody after that', () => {
      const cluster = createCluster()
      const first = enter(cluster, 1, 'a')
      ejectHolder(cluster, 3, 'now')
      const late = cluster.take(all(ofType('eject'), from(3), to(1)))
      exit(cluster, first)
      enter(cluster, 1, 'b')
      cluster.hand(late[0]!)
      cluster.deliver()
      expect(eventsOf(cluster, 1, 'ejected')).toMatchObject([{ user: 'b', reason: 'operator' }])
      expect(eventsOf(cluster, 3, 'eject-done')).toHaveLength(1)
      enter(cluster, 1, 'c')
      cluster.hand(late[0]!)
      cluster.deliver()
      expect(isIn(cluster, 1, 'c')).toBe(true)
      expect(eventsOf(cluster, 3, 'eject-done')).toHaveLength(1)
    })

    it('eject of a fence: a holder that nobody had heard of yet has another one, and stays', () => {
      const cluster = createCluster()
      const first = enter(cluster, 1, 'a')
      cluster.run(5_000)
      exit(cluster, first)
      enter(cluster, 1, 'b')
      cluster.user(3, { type: 'eject', request: 'now', fence: first.fence })
      cluster.deliver(ofType('eject', 'eject-done'))
      expect(isIn(cluster, 1, 'b')).toBe(true)
      expect(eventsOf(cluster, 3, 'eject-done')).toEqual([])
      expect(eventsOf(cluster, 3, 'refused')).toMatchObject([{ refusal: { code: 'conflict' } }])
    })

    describe.each(['eject', 'eject of a fence'])('%s: another user waits at the same participant', name => {
      function ejected() {
        const cluster = createCluster()
        const by = enter(cluster, 1, 'a')
        const { fence } = by
        issue(cluster, by, 'x')
        cluster.run(5_000)
        cluster.try(1, 'b')
        const named = name === 'eject' ? {} : { fence }
        cluster.user(3, { type: 'eject', request: 'now', ...named })
        cluster.deliver(ofType('eject'))
        expect(isIn(cluster, 1, 'b')).toBe(true)
        return cluster
      }

      function isDone(cluster: ReturnType<typeof createCluster>): void {
        expect(eventsOf(cluster, 3, 'eject-done')).toHaveLength(1)
        expect(eventsOf(cluster, 3, 'refused')).toEqual([])
        expect(eventsOf(cluster, 1, 'ejected')).toMatchObject([{ user: 'a', reason: 'operator' }])
        expect(isIn(cluster, 1, 'b')).toBe(true)
      }

      it('it comes in, and stays', () => {
        const cluster = ejected()
        cluster.run(3_000)
        isDone(cluster)
      })

      it('also if the answer got lost (seed 260002423)', () => {
        const cluster = ejected()
        cluster.take(ofType('eject-done'))
        cluster.run(3_000)
        isDone(cluster)
      })

      it('but who asks anew means the present holder', () => {
        const cluster = ejected()
        cluster.run(3_000)
        const { fence } = eventsOf(cluster, 1, 'ejected')[0]!
        cluster.user(3, { type: 'eject', request: 'again', ...(name === 'eject' ? {} : { fence }) })
        cluster.run(3_000)
        if (name === 'eject') expect(isIn(cluster, 1, 'b')).toBe(false)
        else expect(eventsOf(cluster, 3, 'refused')).toMatchObject([{ refusal: { code: 'conflict' } }])
      })
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
