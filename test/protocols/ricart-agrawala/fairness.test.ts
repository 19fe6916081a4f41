/**
 * "No other node may enter its critical section twice" (section 5) once a request has been processed by all
 * others: also with the modifications of sections 6 and 7, and for a node that used the lock often while the
 * others did not.
 */
import { describe, expect, it } from 'vitest'
import type { ProtocolOptions } from '../../../shared/protocols/protocol.ts'
import { Cluster } from './cluster.ts'

const PARTICIPANTS = 5

const VARIANTS: { readonly [name: string]: ProtocolOptions } = {
  'as printed': {},
  'with implicit replies (6.1)': { implicitReply: { roundTripMs: 50, assumeNothingIsLostOrLate: true } },
  'on a ring, waiting (6.3)': { ring: 'waiting' },
  'on a ring, marking (6.3)': { ring: 'marking' },
  'with a modulus (6.4)': { modulus: 2 * PARTICIPANTS - 1 },
  'with random increments (6.5)': { increment: { type: 'random', most: 5 } },
  'with less priority for the one that waits (6.5)': { increment: { type: 'priority', by: [9, 1, 1, 1, 1] } },
  'with a late name (7.1)': { names: [90, 1, 2, 3, 4] },
  'where silent nodes are declared dead (7.4)': { declareDeadAfterMs: 10_000 },
}

const nodeOf = (inside: string): number => Number.parseInt(inside, 10)

describe.each(Object.entries(VARIANTS))('%s', (_name, options) => {
  it('each other node goes first at most once', () => {
    const cluster = new Cluster({ participants: PARTICIPANTS, localHandoffs: 0, options })
    const settle = () => {
      cluster.deliver()
      // With implicit replies the round-trip time must pass.
      while (cluster.inside().length === 0) cluster.run(60)
    }
    for (let use = 0; use < 30; use++) {
      cluster.try(1)
      settle()
      cluster.exit(1)
      cluster.deliver()
    }
    for (const node of [5, 4, 3, 2, 1]) cluster.try(node)
    settle()
    const first: number[] = []
    for (let node = nodeOf(cluster.inside()[0]!); node !== 1; node = nodeOf(cluster.inside()[0]!)) {
      first.push(node)
      cluster.exit(node)
      cluster.try(node)
      settle()
      if (first.length > 100) break
    }
    expect(first.length).toBeLessThanOrEqual(PARTICIPANTS - 1)
    expect(new Set(first).size).toBe(first.length)
  })
})
