/** Section 4, and what 6.1, 6.2 and 6.3 say about the number of messages, for two to nine nodes. */
import { describe, expect, it } from 'vitest'
import { broadcastCounts } from '../../../bench/tables/broadcast-counts.ts'
import type { ProtocolOptions } from '../../../shared/protocols/protocol.ts'
import { Cluster } from './cluster.ts'
import { countByType } from './matchers.ts'

const SIZES = [2, 3, 4, 5, 6, 7, 8, 9]
const implicitReply = { roundTripMs: 100, assumeNothingIsLostOrLate: true } as const

/** One node wants in, and nobody else. Messages take no time. */
function runAlone(participants: number, options?: ProtocolOptions): Cluster {
  const cluster = new Cluster({ participants, ...(options && { options }) })
  cluster.try(2)
  cluster.deliver()
  if (options?.implicitReply !== undefined) cluster.run(options.implicitReply.roundTripMs)
  expect(cluster.inside()).toEqual(['2:u'])
  cluster.exit(2)
  cluster.run(60_000)
  return cluster
}

/** All nodes want in at once; none waits long enough to ask again. */
function runContended(participants: number, options?: ProtocolOptions): Cluster {
  const cluster = new Cluster({
    participants,
    localHandoffs: 0,
    ...(options && { options }),
    timing: { repeatMs: 5_000 },
  })
  for (let node = 1; node <= participants; node++) cluster.try(node)
  for (let entries = 1; entries <= participants; entries++) {
    cluster.deliver()
    if (options?.implicitReply !== undefined && cluster.inside().length === 0) cluster.run(100)
    expect(cluster.inside()).toHaveLength(1)
    cluster.exit(Number(cluster.inside()[0]!.split(':')[0]))
  }
  cluster.deliver()
  expect(cluster.grants.all).toHaveLength(participants)
  return cluster
}

describe.each(SIZES)('N = %i', n => {
  it('2(N-1) messages for each entry, alone or not', () => {
    expect(countByType(runAlone(n).sent)).toEqual({ request: n - 1, reply: n - 1 })
    expect(countByType(runContended(n).sent)).toEqual({ request: n * (n - 1), reply: n * (n - 1) })
  })

  it('6.1: 1(N-1) if nobody defers, and at most 3(N-1)', () => {
    expect(countByType(runAlone(n, { implicitReply }).sent)).toEqual({ request: n - 1 })
    // Of each pair of nodes one defers, says so, and replies in the end.
    const pairs = (n * (n - 1)) / 2
    expect(countByType(runContended(n, { implicitReply }).sent)).toEqual({
      request: 2 * pairs,
      deferred: pairs,
      reply: pairs,
    })
  })

  it('6.1: 3(N-1) for one that everybody else defers', () => {
    const cluster = new Cluster({ participants: n, localHandoffs: 0, options: { implicitReply } })
    // They do not know of one another yet, and all have a lower name than the last node.
    for (let node = 1; node < n; node++) cluster.try(node)
    cluster.try(n)
    for (let entries = 1; entries <= n; entries++) {
      cluster.deliver()
      if (cluster.inside().length === 0) cluster.run(100)
      cluster.exit(Number(cluster.inside()[0]!.split(':')[0]))
    }
    const ofTheLast = cluster.sent.filter(({ from, to, message: { body } }) =>
      body.type === 'request' ? from === n : to === n,
    )
    expect(ofTheLast).toHaveLength(3 * (n - 1))
  })

  it('6.3: N on a ring that waits, alone or not', () => {
    expect(countByType(runAlone(n, { ring: 'waiting' }).sent)).toEqual({ 'ring-request': n })
    expect(countByType(runContended(n, { ring: 'waiting' }).sent)).toEqual({ 'ring-request': n * n })
  })

  it('6.3: N on a ring that marks, and one for each node that defers', () => {
    expect(countByType(runAlone(n, { ring: 'marking' }).sent)).toEqual({ 'ring-request': n })
    expect(countByType(runContended(n, { ring: 'marking' }).sent)).toEqual({
      'ring-request': n * n,
      reply: (n * (n - 1)) / 2,
    })
  })

  it('6.2: on a medium with broadcast N, or one with implicit replies', () => {
    const { sent } = runAlone(n)
    expect(broadcastCounts(sent)).toMatchObject({ requests: 1, replies: n - 1, total: n })
    expect(broadcastCounts(runAlone(n, { implicitReply }).sent).total).toBe(1)
    // 6.2.2: what a node sends to all that it deferred is one message; N nodes broadcast N requests.
    const contended = broadcastCounts(runContended(n).sent)
    expect(contended.requests).toBe(n)
    expect(contended.total).toBeLessThanOrEqual(n * n)
    expect(contended.totalWithBroadcastReplies).toBeLessThanOrEqual(contended.total)
  })
})

it('an entry that follows another at the same node costs nothing while nobody else waits', () => {
  const cluster = new Cluster({ participants: 3 })
  cluster.try(1, 'a')
  cluster.try(1, 'b')
  cluster.deliver()
  cluster.exit(1, 'a')
  expect(cluster.inside()).toEqual(['1:b'])
  expect(cluster.sent).toHaveLength(4)
})
