/** What users say again, what they are refused, and what is remembered of the past, within bounds. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../shared/json.ts'
import { Cluster, type ClusterOptions } from './cluster.ts'
import {
  appliedAt,
  ejectHolder,
  enter,
  eventsOf,
  eventTypes,
  exit,
  holder,
  INCREMENT,
  isIn,
  issue,
  keepAlive,
  logAt,
  protocols,
  replaceOwner,
  replaceOwnerByHand,
  valueAt,
  withdraw,
} from './scenes.ts'

describe.each(protocols)('users again %s', (_name, protocol) => {
  const createCluster = (options: Partial<ClusterOptions> = {}) =>
    new Cluster(protocol, { participants: 3, ...options })

  describe('the same event said again is answered again and changes nothing', () => {
    it('try, while waiting: one place in the queue', () => {
      const cluster = createCluster()
      cluster.try(2, 'a')
      cluster.try(2, 'a')
      expect(cluster.state(2).durable.waiters).toHaveLength(1)
      cluster.deliver()
      exit(cluster, holder(cluster, 2, 'a'))
      expect(eventTypes(cluster, 2).filter(type => type === 'crit')).toHaveLength(1)
    })

    it('try, once in: the same crit', () => {
      const cluster = createCluster()
      const by = enter(cluster, 1, 'a')
      const again = cluster.try(1, 'a')
      expect(again).toMatchObject([{ type: 'crit', user: 'a', fence: by.fence, confirmed: true }])
      expect(cluster.network).toEqual([])
    })

    it('issue, while pending: nothing, and one entry in the log', () => {
      const cluster = createCluster()
      const by = enter(cluster, 1, 'a')
      issue(cluster, by, 'x')
      expect(issue(cluster, by, 'x')).toEqual([])
      expect(logAt(cluster, 1)).toHaveLength(2)
    })

    it('issue, once applied: the same outcome', () => {
      const cluster = createCluster()
      const by = enter(cluster, 1, 'a')
      issue(cluster, by, 'x')
      cluster.deliver()
      const [outcome] = eventsOf(cluster, 1, 'outcome')
      expect(issue(cluster, by, 'x')).toEqual([outcome])
      exit(cluster, by)
      // Also after the grant has ended: the user missed the answer.
      expect(issue(cluster, by, 'x')).toEqual([outcome])
      expect(cluster.state(1).durable.log).toHaveLength(2)
    })

    it('exit: rem again, even after another user is in', () => {
      const cluster = createCluster()
      const by = enter(cluster, 1, 'a')
      const rem = [{ type: 'rem', user: 'a', fence: by.fence }]
      expect(exit(cluster, by)).toEqual(rem)
      expect(exit(cluster, by)).toEqual(rem)
      enter(cluster, 1, 'b')
      expect(exit(cluster, by)).toEqual(rem)
      expect(isIn(cluster, 1, 'b')).toBe(true)
    })

    it('keep-alive: kept again', () => {
      const cluster = createCluster()
      const by = enter(cluster, 1, 'a')
      expect(keepAlive(cluster, by, 9_000)).toEqual(keepAlive(cluster, by, 9_000))
    })

    it('withdraw: no longer waiting', () => {
      const cluster = createCluster()
      cluster.try(2, 'a')
      withdraw(cluster, 2, 'a')
      expect(withdraw(cluster, 2, 'a')).toMatchObject([{ refusal: { code: 'not-waiting' } }])
    })

    it('eject: done again', () => {
      const cluster = createCluster()
      const done = [{ type: 'eject-done', request: 'now', epoch: 0 }]
      expect(ejectHolder(cluster, 1, 'now')).toEqual(done)
      expect(ejectHolder(cluster, 1, 'now')).toEqual(done)
    })
  })

  describe('refusals', () => {
    it('too many waiters', () => {
      const cluster = createCluster({ limits: { waiters: 2 } })
      enter(cluster, 1, 'in')
      for (const user of ['a', 'b']) expect(cluster.try(1, user)).toEqual([])
      const refusal = { code: 'too-many-waiters' }
      expect(cluster.try(1, 'c')).toEqual([{ type: 'refused', user: 'c', event: 'try', refusal }])
      expect(cluster.try(1, 'a')).toEqual([])
      withdraw(cluster, 1, 'a')
      expect(cluster.try(1, 'c')).toEqual([])
    })

    it('too many operators', () => {
      const cluster = createCluster({ limits: { waiters: 2 } })
      enter(cluster, 1, 'in')
      for (const request of ['a', 'b']) expect(ejectHolder(cluster, 2, request)).toEqual([])
      expect(ejectHolder(cluster, 2, 'c')).toMatchObject([{ refusal: { code: 'too-many-waiters' } }])
    })

    it('exit while an operation is pending is busy', () => {
      const cluster = createCluster()
      const by = enter(cluster, 1, 'a')
      issue(cluster, by, 'x')
      const refusal = { code: 'busy' }
      expect(exit(cluster, by)).toEqual([{ type: 'refused', user: 'a', event: 'exit', refusal }])
      expect(isIn(cluster, 1, 'a')).toBe(true)
    })

    it('an operation that is too large is not taken into the log', () => {
      const cluster = createCluster({ limits: { operationWeight: 100 } })
      const by = enter(cluster, 1, 'a')
      const large: Json = [{ put: 'k', value: 'x'.repeat(101) }]
      expect(issue(cluster, by, 'x', large)).toMatchObject([{ refusal: { code: 'too-large' } }])
      expect(logAt(cluster, 1)).toHaveLength(1)
      issue(cluster, by, 'x')
      cluster.deliver()
      expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    })

    it('another user of the stub cannot use the grant', () => {
      const cluster = createCluster()
      const by = { ...enter(cluster, 1, 'a'), user: 'thief' }
      const refusal = { code: 'grant-over', ending: null }
      expect(issue(cluster, by, 'x')).toMatchObject([{ user: 'thief', event: 'issue', refusal }])
      expect(exit(cluster, by)).toMatchObject([{ user: 'thief', event: 'exit', refusal }])
      expect(keepAlive(cluster, by, 1_000)).toMatchObject([{ event: 'keep-alive', refusal }])
    })
  })

  describe('endings', () => {
    it('how a grant ended is told to the user that missed it', () => {
      const cluster = createCluster()
      const by = enter(cluster, 1, 'a')
      issue(cluster, by, 'x')
      cluster.isolate(1)
      cluster.take(() => true)
      replaceOwner(cluster, [1], 2, 'b')
      cluster.reconnect(1)
      cluster.run(6_000)
      const pending = { opId: 'x', outcome: 'not-applied' }
      const ending = { user: 'a', fence: by.fence, reason: 'suspected', pending }
      expect(issue(cluster, by, 'x')).toMatchObject([{ refusal: { code: 'grant-over', ending } }])
    })

    it('only the last ones are remembered', () => {
      const cluster = createCluster({ limits: { endingsKept: 2 } })
      const grants = []
      for (const user of ['a', 'b', 'c']) {
        const by = enter(cluster, 1, user)
        grants.push(by)
        exit(cluster, by)
      }
      expect(cluster.state(1).durable.endings).toHaveLength(2)
      expect(exit(cluster, grants[0]!)).toMatchObject([{ refusal: { code: 'grant-over', ending: null } }])
      expect(exit(cluster, grants[1]!)).toMatchObject([{ type: 'rem' }])
    })

    const endingKeys = (cluster: Cluster) =>
      [...cluster.storage(1).keys()].filter(key => key.startsWith('ending/'))

    it('each is a record of its own, and survives a crash', () => {
      const cluster = createCluster({ limits: { endingsKept: 2 }, checkRecovery: true })
      const grants = ['a', 'b', 'c'].map(user => {
        const by = enter(cluster, 1, user)
        exit(cluster, by)
        return by
      })
      expect(endingKeys(cluster)).toEqual(grants.slice(1).map(({ fence }) => `ending/${fence}`))
      expect(cluster.storage(1).get('stub')).not.toHaveProperty('endings')
      cluster.crash(1)
      cluster.start(1)
      for (const by of grants.slice(1)) expect(exit(cluster, by)).toMatchObject([{ type: 'rem' }])
    })

    it('storage from before that has them in the record of the stub, which is taken apart', () => {
      const cluster = createCluster()
      const grants = ['a', 'b'].map(user => {
        const by = enter(cluster, 1, user)
        exit(cluster, by)
        return by
      })
      const storage = cluster.storage(1)
      const endings = endingKeys(cluster).map(key => storage.get(key)!)
      for (const key of endingKeys(cluster)) storage.delete(key)
      storage.set('stub', { ...(storage.get('stub') as object), endings })
      for (let starts = 0; starts < 2; starts++) {
        cluster.crash(1)
        cluster.start(1)
        expect(cluster.view(1).endings).toEqual(endings)
        expect(endingKeys(cluster)).toEqual(grants.map(({ fence }) => `ending/${fence}`))
        expect(storage.get('stub')).not.toHaveProperty('endings')
      }
      for (const by of grants) expect(exit(cluster, by)).toMatchObject([{ type: 'rem' }])
    })
  })

  describe('opId: exactly once', () => {
    it('under another grant, at another participant, in another epoch', () => {
      const cluster = createCluster()
      const first = enter(cluster, 1, 'a')
      issue(cluster, first, 'x')
      cluster.deliver()
      exit(cluster, first)
      const second = enter(cluster, 2, 'b')
      expect(issue(cluster, second, 'x')).toMatchObject([
        { type: 'outcome', user: 'b', fence: second.fence, opId: 'x', sequence: 2 },
      ])
      const third = replaceOwner(cluster, [2], 3, 'c')
      expect(issue(cluster, third, 'x')).toMatchObject([{ type: 'outcome', sequence: 2 }])
      cluster.run(1_000)
      expect([1, 3].map(id => valueAt(cluster, id))).toEqual([1, 1])
    })

    it('if two participants write it before either knows of the other, it is applied once', () => {
      const cluster = createCluster({ participants: 5 })
      const first = enter(cluster, 1, 'a')
      issue(cluster, first, 'x')
      cluster.take(() => true)
      replaceOwnerByHand(cluster, 2, [3, 4], 'b')
      // The client of the silent participant 1 tries again at participant 2.
      issue(cluster, holder(cluster, 2, 'b'), 'x')
      cluster.run(6_000)
      expect(eventsOf(cluster, 2, 'outcome')).toHaveLength(1)
      expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(0)
      for (let id = 1; id <= 5; id++) expect(valueAt(cluster, id)).toBe(1)
    })

    it('one that was reported failed may be issued again and is then applied', () => {
      const cluster = createCluster()
      issue(cluster, enter(cluster, 1, 'a'), 'x')
      cluster.take(() => true)
      const second = replaceOwner(cluster, [1], 2, 'b')
      cluster.reconnect(1)
      cluster.run(6_000)
      expect(eventsOf(cluster, 1, 'ejected')[0]?.pending?.outcome).toBe('not-applied')
      exit(cluster, second)
      issue(cluster, enter(cluster, 1, 'c'), 'x')
      cluster.run(100)
      expect([1, 2, 3].map(id => appliedAt(cluster, id))).toEqual([['x'], ['x'], ['x']])
    })

    it('with another operation it is a conflict', () => {
      const cluster = createCluster()
      const by = enter(cluster, 1, 'a')
      issue(cluster, by, 'x')
      cluster.deliver()
      expect(issue(cluster, by, 'x', [{ increment: 'n', by: 2 }])).toMatchObject([
        { type: 'refused', refusal: { code: 'conflict' } },
      ])
      // The order of keys is not part of an operation.
      issue(cluster, by, 'y', [{ increment: 'n', by: 2 }])
      cluster.deliver()
      expect(issue(cluster, by, 'y', [{ by: 2, increment: 'n' }])).toMatchObject([{ type: 'outcome' }])
      expect(valueAt(cluster, 1)).toBe(3)
    })
  })

  describe('the table of results', () => {
    it('is bounded, in the same way everywhere, also after a restart', () => {
      const cluster = createCluster({ limits: { resultsKept: 3 } })
      const by = enter(cluster, 1, 'a')
      for (let i = 1; i <= 5; i++) {
        issue(cluster, by, `op ${i}`)
        cluster.deliver()
      }
      cluster.run(100)
      cluster.crash(3)
      cluster.start(3)
      for (const id of [1, 2, 3]) {
        const { order, droppedThrough } = cluster.state(id).durable.replica
        expect([order, droppedThrough]).toEqual([['op 3', 'op 4', 'op 5'], 3])
        expect([...cluster.storage(id).keys()].filter(key => key.startsWith('result/'))).toHaveLength(3)
      }
      expect(issue(cluster, by, 'op 5', INCREMENT)).toMatchObject([{ type: 'outcome' }])
    })

    /**
     * An operation was applied, its answer lost, the grant released; since then this many others were
     * applied.
     */
    function retriedAfter(count: number) {
      const cluster = createCluster({ limits: { resultsKept: 3 } })
      const by = enter(cluster, 1, 'a')
      issue(cluster, by, 'x')
      cluster.deliver()
      exit(cluster, by)
      const next = enter(cluster, 2, 'b')
      for (let i = 1; i <= count; i++) {
        issue(cluster, next, `op ${i}`)
        cluster.deliver()
      }
      cluster.run(100)
      return { cluster, by, retried: issue(cluster, by, 'x') }
    }

    it('an operation of a grant that is over is answered while it is remembered', () => {
      expect(retriedAfter(2).retried).toMatchObject([{ type: 'outcome', opId: 'x' }])
    })

    it('once it is forgotten it is unknown, never not-applied', () => {
      const { retried, cluster, by } = retriedAfter(3)
      expect(retried).toMatchObject([
        { type: 'refused', opId: 'x', refusal: { code: 'grant-over', outcome: 'unknown' } },
      ])
      cluster.crash(1)
      cluster.start(1)
      expect(issue(cluster, by, 'x')).toMatchObject([{ refusal: { outcome: 'unknown' } }])
    })

    it('an operation never issued under a grant that is over is not applied, as far as can be known', () => {
      const { cluster, by } = retriedAfter(2)
      expect(issue(cluster, by, 'y')).toMatchObject([
        { refusal: { code: 'grant-over', outcome: 'not-applied' } },
      ])
      expect(exit(cluster, { ...by, user: 'nobody' })).not.toMatchObject([
        { refusal: { outcome: expect.anything() } },
      ])
    })

    it('one that was never issued before an ejection is not applied: an epoch forgets nothing', () => {
      const cluster = createCluster({ participants: 3 })
      const first = enter(cluster, 1, 'a', { ttlMs: 600_000 })
      issue(cluster, first, 'x')
      cluster.deliver()
      replaceOwner(cluster, [1], 2, 'b')
      cluster.reconnect(1)
      issue(cluster, first, 'pending')
      cluster.run(6_000)
      expect(eventsOf(cluster, 1, 'ejected')).toHaveLength(1)
      expect(issue(cluster, first, 'y')).toMatchObject([
        { refusal: { code: 'grant-over', outcome: 'not-applied' } },
      ])
    })

    it('an operation repeated under a later grant, and applied there, is reported to the old one', () => {
      const cluster = createCluster({ participants: 5 })
      const first = enter(cluster, 1, 'a', { ttlMs: 600_000 })
      issue(cluster, first, 'x')
      // Nobody has heard of it: the others go on without it.
      cluster.take(() => true)
      const second = replaceOwner(cluster, [1], 2, 'b')
      issue(cluster, second, 'x')
      cluster.deliver()
      replaceOwner(cluster, [1, 2], 3, 'c')
      cluster.reconnect(1)
      const before = eventTypes(cluster, 1).length
      cluster.run(6_000)
      const [outcome] = eventsOf(cluster, 1, 'outcome')
      expect(outcome).toMatchObject({ opId: 'x', fence: first.fence })
      expect(outcome!.sequence).toBeGreaterThan(second.sequence)
      const told = eventTypes(cluster, 1).slice(before)
      expect(told.filter(type => type === 'outcome' || type === 'ejected')).toEqual(['outcome', 'ejected'])
      expect(eventsOf(cluster, 1, 'ejected')[0]).not.toHaveProperty('pending')
      expect(valueAt(cluster, 1)).toBe(1)
    })

    it('how a grant ended is forgotten: what became of its operations is unknown', () => {
      const cluster = createCluster({ limits: { endingsKept: 1 } })
      const first = enter(cluster, 1, 'a')
      exit(cluster, first)
      exit(cluster, enter(cluster, 1, 'b'))
      expect(issue(cluster, first, 'x')).toMatchObject([
        { refusal: { code: 'grant-over', ending: null, outcome: 'unknown' } },
      ])
    })

    it('the fate of an operation that is older than the table is unknown, and reported so', () => {
      const cluster = createCluster({ participants: 5, limits: { resultsKept: 1 } })
      issue(cluster, enter(cluster, 1, 'a', { ttlMs: 600_000 }), 'x')
      cluster.take(() => true)
      const second = replaceOwner(cluster, [1], 2, 'b')
      for (let i = 1; i <= 5; i++) {
        issue(cluster, second, `op ${i}`)
        cluster.deliver()
      }
      replaceOwner(cluster, [1, 2], 3, 'c')
      cluster.reconnect(1)
      cluster.run(6_000)
      expect(eventsOf(cluster, 1, 'ejected')[0]?.pending).toEqual({ opId: 'x', outcome: 'unknown' })
    })
  })
})
