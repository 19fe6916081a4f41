/** Section 6.3, both forms. The numbers of messages are in messages.test.ts. */
import { describe, expect, it } from 'vitest'
import { Cluster } from './cluster.ts'
import { along, countByType, ofType, to } from './matchers.ts'

const create = (ring: 'waiting' | 'marking', participants = 4) =>
  new Cluster({ participants, localHandoffs: 0, options: { ring } })

const ringRequests = (cluster: Cluster) =>
  cluster.network.flatMap(({ from, to: receiver, message: { body } }) =>
    body.type === 'ring-request'
      ? [{ from, to: receiver, passed: body.passed, deferredBy: body.deferredBy }]
      : [],
  )

describe.each(['waiting', 'marking'] as const)('%s', ring => {
  it('the request travels from node to node and opens when it is back', () => {
    const cluster = create(ring)
    cluster.try(3)
    for (const [from, receiver, passed] of [
      [3, 4, []],
      [4, 1, [4]],
      [1, 2, [4, 1]],
      [2, 3, [4, 1, 2]],
    ] as const) {
      expect(ringRequests(cluster)).toEqual([{ from, to: receiver, passed, deferredBy: [] }])
      expect(cluster.inside()).toEqual([])
      cluster.deliverAt(0)
    }
    expect(cluster.inside()).toEqual(['3:u'])
  })

  it('lost on its way, those that are missing are asked one by one', () => {
    const cluster = create(ring)
    cluster.try(1)
    cluster.deliver(to(2))
    cluster.take(() => true)
    cluster.run(1_000)
    expect(cluster.inside()).toEqual(['1:u'])
    expect(countByType(cluster.sent)).toMatchObject({ 'are-you-there': 3, reply: 3 })
  })

  it('one that comes around twice opens nothing twice', () => {
    const cluster = create(ring)
    cluster.try(1)
    const [request] = cluster.take(() => true)
    cluster.hand(request!)
    cluster.hand(request!)
    cluster.deliver()
    cluster.exit(1)
    cluster.deliver()
    cluster.try(2)
    cluster.hand(request!)
    cluster.run(10_000)
    expect(cluster.inside()).toEqual(['2:u'])
  })
})

describe('waiting', () => {
  it('the request stays where it is deferred, and goes on from there', () => {
    const cluster = create('waiting')
    cluster.try(2)
    cluster.deliver()
    cluster.try(1)
    cluster.deliver()
    expect(cluster.network).toEqual([])
    expect(cluster.state(2).durable.deferred).toMatchObject({ 1: { request: 2, passed: [] } })
    cluster.exit(2)
    expect(ringRequests(cluster)).toEqual([{ from: 2, to: 3, passed: [2], deferredBy: [] }])
    cluster.deliver()
    expect(cluster.inside()).toEqual(['1:u'])
    expect(cluster.sent).toHaveLength(8)
  })

  it('and survives a crash of the node that keeps it', () => {
    const cluster = create('waiting')
    cluster.try(2)
    cluster.deliver()
    cluster.try(1)
    cluster.deliver()
    cluster.crash(2)
    cluster.start(2)
    cluster.exit(2)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['1:u'])
  })
})

describe('marking', () => {
  it('the request goes on, marked, and a REPLY follows from each node that marked it', () => {
    const cluster = create('marking')
    cluster.try(2)
    cluster.deliver()
    cluster.try(1)
    cluster.deliver(along(1, 2))
    expect(ringRequests(cluster)).toEqual([{ from: 2, to: 3, passed: [], deferredBy: [2] }])
    cluster.deliver()
    expect(cluster.inside()).toEqual(['2:u'])
    expect(cluster.state(1).soft.replies).toEqual({ 3: true, 4: true })
    cluster.exit(2)
    expect(cluster.network.map(({ from, to: receiver }) => [from, receiver])).toEqual([[2, 1]])
    expect(cluster.network.every(ofType('reply'))).toBe(true)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['1:u'])
  })
})
