/** A lock that nobody waits for costs nothing: no timer is set and nothing is sent. */
import { describe, expect, it } from 'vitest'
import { Cluster } from './cluster.ts'
import { from, ofType, to } from './matchers.ts'
import {
  ejectHolder,
  enter,
  epochOf,
  eventsOf,
  exit,
  holder,
  issue,
  protocols,
  replaceOwner,
  suspectOwner,
  upAt,
  withdraw,
} from './scenes.ts'

/**
 * Longer than anything that is repeated, or watched for another participant, only for a while; shorter than a
 * grant.
 */
const SETTLING_MS = 12_000

describe.each(protocols)('quiescence %s', (_name, protocol) => {
  const createCluster = (participants = 5) => new Cluster(protocol, { participants })

  const timersOf = (cluster: Cluster) => upAt(cluster).flatMap(id => cluster.timers(id))

  /**
   * Without a timer and a message in flight nothing can ever happen again. `expected`: timers that must be
   * left.
   */
  function expectQuiet(cluster: Cluster, expected: string[] = []): void {
    cluster.run(SETTLING_MS)
    expect(timersOf(cluster)).toEqual(expected)
    expect(cluster.network.filter(sent => cluster.isUp(sent.to))).toEqual([])
  }

  it('the check can fail: a user that waits for a live owner makes its stub ask for signs of life', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    cluster.run(SETTLING_MS)
    expect(new Set(timersOf(cluster))).toEqual(new Set(['ttl', 'repeat', 'heartbeat', 'suspect']))
    expect(epochOf(cluster, 2)).toBe(0)
  })

  it('whoever has given the token to one that is cut off, though another one asked for it once', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.try(4, 'd')
    cluster.deliver()
    cluster.try(5, 'e')
    cluster.deliver()
    cluster.isolate(4, 5)
    withdraw(cluster, 4, 'd')
    withdraw(cluster, 5, 'e')
    exit(cluster, by)
    cluster.run(SETTLING_MS)
    expect([1, 2, 3].flatMap(id => cluster.timers(id))).toEqual([])
  })

  it('at birth', () => {
    const cluster = createCluster()
    expect(timersOf(cluster)).toEqual([])
    expect(cluster.network).toEqual([])
  })

  it('alone', () => {
    const cluster = createCluster(1)
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    exit(cluster, by)
    expect(timersOf(cluster)).toEqual([])
  })

  it('while a user is in and nobody waits, but for its time to live', () => {
    const cluster = createCluster()
    issue(cluster, enter(cluster, 2, 'a'), 'x')
    expectQuiet(cluster, ['ttl'])
  })

  it('at once after acquire and release, if every message arrives', () => {
    const cluster = createCluster()
    exit(cluster, enter(cluster, 1, 'a'))
    exit(cluster, enter(cluster, 3, 'b', { waitMs: 5_000, confirm: true }))
    cluster.deliver()
    expect(timersOf(cluster)).toEqual([])
  })

  it('after operations of several users', () => {
    const cluster = createCluster()
    for (const id of [1, 4, 2]) {
      const by = enter(cluster, id, 'a')
      issue(cluster, by, `op of ${id}`)
      cluster.deliver()
      exit(cluster, by)
    }
    expectQuiet(cluster)
  })

  it('with a dead minority, after a while', () => {
    const cluster = createCluster()
    cluster.crash(4)
    cluster.crash(5)
    const by = enter(cluster, 2, 'a')
    issue(cluster, by, 'x')
    cluster.deliver()
    exit(cluster, by)
    expect(cluster.hasTimer(2, 'repeat')).toBe(true)
    expectQuiet(cluster)
  })

  it('when the dead come back', () => {
    const cluster = createCluster()
    cluster.crash(5)
    const by = enter(cluster, 2, 'a')
    issue(cluster, by, 'x')
    cluster.deliver()
    exit(cluster, by)
    cluster.run(SETTLING_MS)
    cluster.start(5)
    expectQuiet(cluster)
  })

  it('when everybody restarts', () => {
    const cluster = createCluster()
    const by = enter(cluster, 2, 'a')
    issue(cluster, by, 'x')
    cluster.deliver()
    exit(cluster, by)
    for (let id = 1; id <= 5; id++) cluster.crash(id)
    cluster.take(() => true)
    for (let id = 1; id <= 5; id++) cluster.start(id)
    expectQuiet(cluster)
  })

  it('after an epoch change that kept the owner', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    cluster.deliver()
    expect(epochOf(cluster, 5)).toBe(1)
    exit(cluster, by)
    cluster.deliver()
    exit(cluster, holder(cluster, 2, 'b'))
    expectQuiet(cluster)
  })

  it('after an epoch change that replaced a dead owner', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a')
    cluster.crash(1)
    exit(cluster, replaceOwner(cluster, [], 2, 'b'))
    expectQuiet(cluster)
    // The old owner comes back and hears nothing, until it speaks.
    cluster.start(1)
    cluster.run(60_000)
    expect(timersOf(cluster)).toEqual([])
  })

  it('after an epoch that nobody needs any more', () => {
    const cluster = createCluster()
    cluster.crash(1)
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    withdraw(cluster, 2, 'b')
    expectQuiet(cluster)
    expect(epochOf(cluster, 2)).toBe(1)
  })

  it('after a suspicion that nobody shared', () => {
    const cluster = createCluster()
    cluster.lose(to(2))
    cluster.try(2, 'b')
    cluster.run(SETTLING_MS)
    withdraw(cluster, 2, 'b')
    // Its request was granted although it did not hear of it, so the granter tells it for a while.
    expectQuiet(cluster)
  })

  it('after a withdrawal, at all participants', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    cluster.run(3_000)
    withdraw(cluster, 2, 'b')
    expectQuiet(cluster, ['ttl'])
  })

  it('after a wait that ended', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a')
    cluster.try(2, 'b', { waitMs: 1_000 })
    expectQuiet(cluster, ['ttl'])
    expect(eventsOf(cluster, 2, 'withdrawn')).toHaveLength(1)
  })

  it('after a grant expired', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a', { ttlMs: 1_000 })
    expectQuiet(cluster)
  })

  it('after an operator', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a')
    ejectHolder(cluster, 4, 'now')
    expectQuiet(cluster)
  })

  it('after a catch-up', () => {
    const cluster = new Cluster(protocol, { participants: 5, limits: { logKept: 3 } })
    const by = enter(cluster, 1, 'a')
    cluster.isolate(5)
    for (let i = 0; i < 9; i++) {
      issue(cluster, by, `op ${i}`)
      cluster.deliver()
    }
    cluster.reconnect(5)
    cluster.run(6_000)
    exit(cluster, by)
    expectQuiet(cluster)
    expect(eventsOf(cluster, 5, 'restored')).toHaveLength(1)
  })

  it('after a catch-up whose answer was lost', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.isolate(5)
    issue(cluster, by, 'x')
    cluster.deliver()
    cluster.reconnect(5)
    cluster.lose(ofType('catch-up'))
    issue(cluster, by, 'y')
    cluster.deliver()
    exit(cluster, by)
    expectQuiet(cluster)
  })

  it('after a readmission', () => {
    const cluster = createCluster()
    exit(cluster, enter(cluster, 1, 'a'))
    cluster.wipe(3)
    cluster.start(3)
    expectQuiet(cluster)
    expect(cluster.state(3).durable.membership.status).toBe('member')
  })

  it('after a read', () => {
    const cluster = createCluster()
    cluster.lose(from(5))
    cluster.user(3, { type: 'read', request: 'r' })
    expectQuiet(cluster)
    expect(eventsOf(cluster, 3, 'readable')).toHaveLength(1)
  })

  it('after a read that was cancelled', () => {
    const cluster = createCluster()
    cluster.isolate(3)
    cluster.user(3, { type: 'read', request: 'r' })
    cluster.run(3_000)
    cluster.user(3, { type: 'cancel-read', request: 'r' })
    expectQuiet(cluster)
  })
})
