/**
 * 7.2.1: nothing that an earlier life of a node asked for, was promised or was owed has a meaning in the next
 * one.
 */
import { expect, it } from 'vitest'
import { Cluster } from './cluster.ts'
import { along, from, ofType } from './matchers.ts'

const membershipOf = (cluster: Cluster, node: number): string => cluster.view(node).membership

it('a REPLY to a request of the same number that an earlier life made does not count', () => {
  const cluster = new Cluster({ participants: 3, localHandoffs: 0 })
  // Only node 2 hears of node 3's first request, and answers; then both lose their storage.
  cluster.try(3)
  cluster.take(along(3, 1))
  cluster.deliver(along(3, 2))
  const [late] = cluster.take(ofType('reply'))
  for (const node of [2, 3]) cluster.wipe(node)
  cluster.take(() => true)
  for (const node of [2, 3]) cluster.start(node)
  cluster.run(60_000)
  expect([2, 3].map(node => membershipOf(cluster, node))).toEqual(['member', 'member'])
  // Node 2 is inside. The late REPLY is made to name the number that node 3 uses again, whichever that is.
  cluster.try(2)
  cluster.deliver()
  expect(cluster.inside()).toEqual(['2:u'])
  cluster.try(3)
  cluster.deliver()
  const { request } = cluster.state(3).durable.own
  expect(cluster.state(3).soft.replies).toEqual({ 1: true })
  cluster.hand({ ...late!, message: { ...late!.message, body: { type: 'reply', request, incarnation: 0 } } })
  expect(cluster.inside()).toEqual(['2:u'])
  expect(cluster.state(3).soft.replies).toEqual({ 1: true })
  cluster.exit(2)
  cluster.deliver()
  expect(cluster.inside()).toEqual(['3:u'])
})

it('nobody waits for an earlier life: the next local user follows without a message', () => {
  const cluster = new Cluster({ participants: 3, localHandoffs: 0 })
  cluster.try(3, 'a')
  cluster.try(3, 'b')
  cluster.deliver(along(3, 2))
  cluster.try(2)
  cluster.deliver(along(2, 3))
  expect(Object.keys(cluster.state(3).durable.deferred)).toEqual(['2'])
  // Node 1, which has not heard of node 3's request yet, takes the next life of node 2 in.
  const held = cluster.take(along(3, 1))
  cluster.wipe(2)
  cluster.take(from(2))
  cluster.start(2)
  cluster.deliver()
  expect(membershipOf(cluster, 2)).toBe('member')
  expect(cluster.state(3).durable).toMatchObject({ own: { phase: 'requesting' }, deferred: {} })
  for (const request of held) cluster.hand(request)
  cluster.deliver()
  expect(cluster.inside()).toEqual(['3:a'])
  cluster.exit(3, 'a')
  expect(cluster.inside()).toEqual(['3:b'])
  expect(cluster.network).toEqual([])
})

it('a node whose clock went back takes a life after the one that is known, not the same again', () => {
  const cluster = new Cluster({ participants: 3, localHandoffs: 0 })
  const incarnationOf3 = () => (cluster.state(3).durable.membership as { incarnation: number }).incarnation
  cluster.wipe(3)
  cluster.start(3)
  cluster.take(ofType('join'))
  const known = incarnationOf3() + 1_000
  cluster.hand({
    from: 1,
    to: 3,
    message: {
      format: 1,
      configuration: 1,
      body: { type: 'not-a-member', incarnation: incarnationOf3(), known },
    },
  })
  expect(incarnationOf3()).toBe(known + 1)
  cluster.run(60_000)
  expect(membershipOf(cluster, 3)).toBe('member')
  expect(cluster.state(1).durable.group.members[3]!.incarnation).toBe(known + 1)
})
