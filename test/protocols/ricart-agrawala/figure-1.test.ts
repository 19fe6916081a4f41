/** Section 2.3: the paper's example of three nodes, message by message, as in Figure 1 (a) to (j). */
import { describe, expect, it } from 'vitest'
import { Cluster, type Sent } from './cluster.ts'
import { along, ofType } from './matchers.ts'

const describeSent = ({ from, to, message: { body } }: Sent): string =>
  `${body.type}${'request' in body ? `(${body.request})` : ''} ${from}->${to}`

function deliverOne(cluster: Cluster, type: 'request' | 'reply', from: number, to: number): string[] {
  const before = cluster.network.length
  const index = cluster.network.findIndex(sent => along(from, to)(sent) && ofType(type)(sent))
  expect(index, `a ${type} from ${from} to ${to} is on its way`).toBeGreaterThanOrEqual(0)
  cluster.deliverAt(index)
  return cluster.network.slice(before - 1).map(describeSent)
}

const inFlight = (cluster: Cluster): string[] => cluster.network.map(describeSent)

describe('Figure 1', () => {
  it('goes as the paper tells it, with a REQUEST that overtakes a REPLY', () => {
    const cluster = new Cluster({ participants: 3, localHandoffs: 0 })
    expect([1, 2, 3].map(node => cluster.state(node).durable.highest.request)).toEqual([0, 0, 0])

    // (a) Node 3 is the first to attempt to invoke mutual exclusion.
    cluster.try(3)
    expect(inFlight(cluster)).toEqual(['request(1) 3->1', 'request(1) 3->2'])

    // (b) Before either message can arrive, node 2 chooses sequence number 1, too.
    cluster.try(2)
    expect(inFlight(cluster).slice(2)).toEqual(['request(1) 2->1', 'request(1) 2->3'])

    // (c) Node 2's messages have arrived: node 1 replies, node 3 loses the tie and replies. At node 2, node
    // 3's is deferred.
    expect(deliverOne(cluster, 'request', 2, 1)).toEqual(['reply(1) 1->2'])
    expect(deliverOne(cluster, 'request', 2, 3)).toEqual(['reply(1) 3->2'])
    expect(deliverOne(cluster, 'request', 3, 2)).toEqual([])
    expect(Object.keys(cluster.state(2).durable.deferred)).toEqual(['3'])

    // (d) Node 1 uses sequence number 2. Its REQUEST overtakes its REPLY to node 2; no reply.
    cluster.try(1)
    expect(inFlight(cluster).slice(-2)).toEqual(['request(2) 1->2', 'request(2) 1->3'])
    expect(deliverOne(cluster, 'request', 1, 2)).toEqual([])
    expect(Object.keys(cluster.state(2).durable.deferred)).toEqual(['1', '3'])
    expect(cluster.inside()).toEqual([])

    // (e) Node 2 has both replies. Node 1's REQUEST has arrived at node 3 and is deferred.
    deliverOne(cluster, 'reply', 1, 2)
    expect(cluster.inside()).toEqual([])
    deliverOne(cluster, 'reply', 3, 2)
    expect(cluster.inside()).toEqual(['2:u'])
    expect(deliverOne(cluster, 'request', 1, 3)).toEqual([])

    // (f) Node 2 has finished: REPLY messages to both.
    cluster.exit(2)
    expect(inFlight(cluster)).toEqual(['request(1) 3->1', 'reply(2) 2->1', 'reply(1) 2->3'])

    // (g) Both have received them, but none from each other. Node 3's request arrives at node 1: a REPLY.
    deliverOne(cluster, 'reply', 2, 1)
    deliverOne(cluster, 'reply', 2, 3)
    expect(cluster.inside()).toEqual([])
    expect(deliverOne(cluster, 'request', 3, 1)).toEqual(['reply(1) 1->3'])

    // (h) Node 3 enters.
    deliverOne(cluster, 'reply', 1, 3)
    expect(cluster.inside()).toEqual(['3:u'])

    // (i) It returns the deferred REPLY to node 1.
    cluster.exit(3)
    expect(inFlight(cluster)).toEqual(['reply(2) 3->1'])

    // (j) Node 1 enters, and at the end does nothing: it knows of no other.
    deliverOne(cluster, 'reply', 3, 1)
    expect(cluster.inside()).toEqual(['1:u'])
    cluster.exit(1)
    expect(inFlight(cluster)).toEqual([])
    expect(cluster.sent).toHaveLength(3 * 2 * 2)
    expect([1, 2, 3].map(node => cluster.timers(node))).toEqual([[], [], []])
  })

  it('goes the same way to the end when the REPLY is not overtaken', () => {
    const cluster = new Cluster({ participants: 3, localHandoffs: 0 })
    cluster.try(3)
    cluster.try(2)
    deliverOne(cluster, 'request', 2, 1)
    deliverOne(cluster, 'reply', 1, 2)
    cluster.try(1)
    cluster.deliver()
    const order: string[] = []
    for (let grants = 0; grants < 3; grants++) {
      const [inside] = cluster.inside()
      order.push(inside!)
      cluster.exit(Number(inside![0]))
      cluster.deliver()
    }
    expect(order).toEqual(['2:u', '3:u', '1:u'])
    expect(cluster.sent).toHaveLength(12)
  })
})
