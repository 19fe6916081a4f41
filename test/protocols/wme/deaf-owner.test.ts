/** An owner that sends but hears nobody is of no use: what it says does not show that it hears. */
import { describe, expect, it } from 'vitest'
import { Cluster, type ClusterOptions } from './cluster.ts'
import { all, from, ofType, to } from './matchers.ts'
import { enter, epochOf, isIn, issue, ownerAt, protocols, TERMINATION_MS } from './scenes.ts'

describe.each(protocols)('a deaf owner %s', (_name, protocol) => {
  const createCluster = (options: Partial<ClusterOptions> = {}) =>
    new Cluster(protocol, { participants: 3, checkRecovery: true, ...options })

  it('the others go on although its repeats still arrive', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.lose(to(1))
    // It waits for acknowledgements that it does not hear, and repeats its message forever.
    issue(cluster, by, 'x')
    cluster.try(2, 'b')
    cluster.run(TERMINATION_MS)
    expect(cluster.sent.filter(all(from(1), to(2), ofType('invoke'))).length).toBeGreaterThan(5)
    expect(isIn(cluster, 2, 'b')).toBe(true)
  })

  it('so they do although it speaks more often than it could be suspected', () => {
    const cluster = createCluster({ participants: 5 })
    const by = enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.lose(to(1))
    issue(cluster, by, 'x')
    cluster.try(2, 'b')
    const [said] = cluster.sent.filter(all(from(1), ofType('invoke')))
    for (let ms = 0; ms < TERMINATION_MS; ms += 100) {
      for (const peer of [2, 3, 4, 5]) if (epochOf(cluster, peer) === 0) cluster.hand({ ...said!, to: peer })
      cluster.run(100)
    }
    expect(isIn(cluster, 2, 'b')).toBe(true)
  })

  it('once it hears again it learns that it is over', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.lose(to(1))
    issue(cluster, by, 'x')
    cluster.try(2, 'b')
    cluster.run(TERMINATION_MS)
    cluster.lose(() => false)
    cluster.run(TERMINATION_MS)
    expect([1, 2, 3].map(id => ownerAt(cluster, id))).toEqual([2, 2, 2])
    expect(isIn(cluster, 1, 'a')).toBe(false)
  })

  it('one that hears and answers is not suspected, however long its user stays', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.try(2, 'b')
    cluster.run(300_000)
    expect([1, 2, 3].map(id => epochOf(cluster, id))).toEqual([0, 0, 0])
    expect(isIn(cluster, 1, 'a')).toBe(true)
  })

  it('not even where it is asked more seldom than it would be suspected', () => {
    const cluster = createCluster({ timing: { heartbeatMs: 60_000, timeoutMs: 100 } })
    enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.try(2, 'b')
    cluster.run(300_000)
    expect(epochOf(cluster, 2)).toBe(0)
    expect(isIn(cluster, 1, 'a')).toBe(true)
  })

  it('a suspicion of an earlier watch is not reported to a participant that asks now', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.try(3, 'c', { waitMs: 3_000 })
    cluster.lose(all(from(3), to(1)))
    cluster.run(4_000)
    expect(cluster.view(3).suspects).toEqual([1])
    cluster.lose(all(from(2), to(1)))
    cluster.try(2, 'b')
    cluster.unreachable(2, 1)
    cluster.run(300)
    expect(epochOf(cluster, 2)).toBe(0)
  })
})
