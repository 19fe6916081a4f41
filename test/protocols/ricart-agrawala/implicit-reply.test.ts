/**
 * Section 6.1: silence is a reply, as long as it can be trusted. The numbers of messages are in
 * messages.test.ts.
 */
import { describe, expect, it } from 'vitest'
import { randomFrom } from './chaos.ts'
import { Cluster } from './cluster.ts'
import { along, countByType, ofType, to } from './matchers.ts'

const create = (participants: number) =>
  new Cluster({
    participants,
    localHandoffs: 0,
    options: { implicitReply: { roundTripMs: 100, assumeNothingIsLostOrLate: true } },
  })

describe('implicit replies', () => {
  it('the node enters when the round-trip time is over, and not before', () => {
    const cluster = create(3)
    cluster.try(1)
    cluster.run(99)
    expect(cluster.inside()).toEqual([])
    cluster.run(1)
    expect(cluster.inside()).toEqual(['1:u'])
    expect(cluster.timers(1)).toEqual(['ttl'])
  })

  it('a node that defers says DEFERRED, and REPLY in the end', () => {
    const cluster = create(2)
    cluster.try(1)
    cluster.run(100)
    cluster.try(2)
    cluster.run(10_000)
    expect(cluster.inside()).toEqual(['1:u'])
    expect(cluster.sent.filter(ofType('deferred'))).toHaveLength(1)
    cluster.exit(1)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['2:u'])
  })

  it('a tie is broken by DEFERRED', () => {
    const cluster = create(3)
    for (const node of [1, 2, 3]) cluster.try(node)
    cluster.run(100)
    expect(cluster.inside()).toEqual(['1:u'])
    expect(countByType(cluster.sent)).toEqual({ request: 6, deferred: 3 })
  })

  it('a node that the transport did not reach has not replied: it is asked until it does', () => {
    const cluster = create(3)
    cluster.try(1)
    cluster.take(to(3))
    cluster.unreachable(1, 3)
    cluster.lose(to(3))
    cluster.run(10_000)
    expect(cluster.inside()).toEqual([])
    cluster.lose(() => false)
    cluster.run(10_000)
    expect(cluster.inside()).toEqual(['1:u'])
    expect(cluster.sent.filter(ofType('are-you-there')).every(to(3))).toBe(true)
  })

  it('a node that was restarted does not trust the silence: it asks, and is answered', () => {
    const cluster = create(2)
    cluster.try(1)
    cluster.take(() => true)
    cluster.crash(1)
    cluster.start(1)
    expect(cluster.timers(1)).not.toContain('silence')
    cluster.run(10_000)
    expect(countByType(cluster.sent)).toMatchObject({ 'are-you-there': 1, reply: 1 })
    expect(cluster.inside()).toEqual(['1:u'])
  })

  it('is safe while its assumption holds, whatever the order of messages', () => {
    let grants = 0
    for (let seed = 1; seed <= 20; seed++) {
      const random = randomFrom(seed)
      const cluster = create(4)
      for (let turn = 0; turn < 150; turn++) {
        const node = 1 + Math.floor(random() * 4)
        if (cluster.state(node).durable.localQueue.holders.length > 0) cluster.exit(node)
        else if (random() < 0.5) cluster.try(node)
        else cluster.user(node, { type: 'withdraw', user: 'u' })
        // Each message takes less than half of the round-trip time: those of one turn arrive before the next
        // begins.
        while (cluster.network.length > 0) cluster.deliverAt(Math.floor(random() * cluster.network.length))
        cluster.run(Math.floor(random() * 50))
      }
      grants += cluster.grants.all.length
    }
    expect(grants).toBeGreaterThan(200)
  })

  it('is unsafe when a message is lost: that is what the option has to admit', () => {
    const cluster = create(2)
    cluster.try(1)
    cluster.run(100)
    cluster.try(2)
    cluster.take(along(2, 1))
    expect(() => cluster.run(100)).toThrow('inside together')
  })
})
