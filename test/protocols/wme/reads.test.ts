/**
 * Linearizable reads without the token: a replica answers once it has everything that was committed before
 * the read began.
 */
import { describe, expect, it } from 'vitest'
import { Cluster, type ClusterOptions } from './cluster.ts'
import { all, among, bodies, from, ofType, to } from './matchers.ts'
import { enter, epochOf, eventsOf, issue, protocols, replaceOwner, suspectOwner, valueAt } from './scenes.ts'

describe.each(protocols)('reads %s', (_name, protocol) => {
  const createCluster = (options: Partial<ClusterOptions> = {}) =>
    new Cluster(protocol, { participants: 3, ...options })

  const read = (cluster: Cluster, participant: number, request = 'r') =>
    cluster.user(participant, { type: 'read', request })

  const isReadable = (cluster: Cluster, participant: number, request = 'r') =>
    eventsOf(cluster, participant, 'readable').some(event => event.request === request)

  it('waits for a majority, oneself included', () => {
    const cluster = createCluster({ participants: 5 })
    read(cluster, 3)
    cluster.deliver(among(2, 3))
    expect(isReadable(cluster, 3)).toBe(false)
    cluster.deliver(among(3, 4))
    expect(isReadable(cluster, 3)).toBe(true)
  })

  it('alone, it is answered at once', () => {
    const cluster = createCluster({ participants: 1 })
    expect(read(cluster, 1)).toEqual([{ type: 'readable', request: 'r', sequence: 0 }])
  })

  it('sees an operation whose outcome was delivered before it began', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver(among(1, 2))
    cluster.take(() => true)
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    // Participant 3 has not heard of it, and only participant 2 answers, which holds it.
    cluster.isolate(1)
    read(cluster, 3)
    cluster.deliver()
    cluster.reconnect(1)
    cluster.run(6_000)
    expect(isReadable(cluster, 3)).toBe(true)
    const place = cluster.emitted.findIndex(({ event }) => event.type === 'readable')
    const applied = cluster.emitted.findIndex(
      ({ participant, event }) => participant === 3 && event.type === 'applied',
    )
    expect(applied).toBeGreaterThan(-1)
    expect(applied).toBeLessThan(place)
    expect(valueAt(cluster, 3)).toBe(1)
  })

  it('does not wait for a grant, which changes nothing that can be read', () => {
    const cluster = createCluster()
    cluster.try(1, 'a')
    read(cluster, 1)
    cluster.deliver(all(among(1, 2), ofType('read-index', 'read-index-reply')))
    expect(isReadable(cluster, 1)).toBe(true)
  })

  it('an answer that was given to an earlier life of the reader does not count', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    read(cluster, 3, 'before')
    cluster.deliver(all(ofType('read-index'), to(2)))
    const [late] = cluster.take(all(ofType('read-index-reply'), from(2)))
    cluster.take(() => true)
    issue(cluster, by, 'x')
    cluster.deliver(among(1, 2))
    cluster.take(() => true)
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    cluster.crash(3)
    cluster.start(3)
    read(cluster, 3, 'after')
    cluster.hand(late!)
    expect(isReadable(cluster, 3, 'after') && valueAt(cluster, 3) !== 1).toBe(false)
  })

  it('an epoch that ends makes the answers worthless: it is asked again', () => {
    const cluster = createCluster({ participants: 5 })
    const by = enter(cluster, 1, 'a')
    read(cluster, 5)
    cluster.deliver(all(ofType('read-index'), to(4)))
    cluster.deliver(all(ofType('read-index-reply'), from(4)))
    cluster.take(() => true)
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    cluster.deliver()
    expect(epochOf(cluster, 5)).toBe(1)
    cluster.run(1_000)
    expect(isReadable(cluster, 5)).toBe(true)
    issue(cluster, by, 'x')
    cluster.run(1_000)
    expect(valueAt(cluster, 5)).toBe(1)
  })

  it('is repeated, and a dead owner is replaced for it', () => {
    const cluster = createCluster()
    issue(cluster, enter(cluster, 1, 'a'), 'x')
    // Participant 2 holds the operation; whether it is committed, only the next epoch tells.
    cluster.deliver(all(ofType('invoke'), to(2)))
    cluster.take(() => true)
    cluster.crash(1)
    read(cluster, 3)
    cluster.take(() => true)
    cluster.run(12_000)
    expect(isReadable(cluster, 3)).toBe(true)
    expect(valueAt(cluster, 3)).toBe(1)
  })

  it('without a majority it is never answered', () => {
    const cluster = createCluster()
    cluster.isolate(3)
    read(cluster, 3)
    cluster.run(60_000)
    expect(isReadable(cluster, 3)).toBe(false)
    cluster.reconnect(3)
    cluster.run(6_000)
    expect(isReadable(cluster, 3)).toBe(true)
  })

  it('one behind by whole epochs catches up first', () => {
    const cluster = createCluster({ participants: 5 })
    enter(cluster, 1, 'a')
    cluster.isolate(5)
    const next = replaceOwner(cluster, [1], 2, 'b')
    issue(cluster, next, 'x')
    cluster.deliver()
    cluster.reconnect(5)
    read(cluster, 5)
    cluster.run(1_000)
    expect(isReadable(cluster, 5)).toBe(true)
    expect(valueAt(cluster, 5)).toBe(1)
  })

  it('said again it is the same read; cancelled it is none; there is a limit', () => {
    const cluster = createCluster({ limits: { waiters: 2 } })
    read(cluster, 3)
    read(cluster, 3)
    expect(bodies(cluster.network, 'read-index')).toHaveLength(2)
    read(cluster, 3, 's')
    expect(read(cluster, 3, 't')).toMatchObject([{ refusal: { code: 'too-many-waiters' } }])
    cluster.user(3, { type: 'cancel-read', request: 'r' })
    cluster.deliver()
    expect(eventsOf(cluster, 3, 'readable').map(event => event.request)).toEqual(['s'])
  })
})
