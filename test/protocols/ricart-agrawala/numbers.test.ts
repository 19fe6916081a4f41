/** Sections 6.4, 6.5 and 7.1: which number comes first, and which is chosen next. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isEarlierModulo, scatter } from '../../../shared/protocols/ricart-agrawala/section-6-4-numbers.ts'
import { Cluster } from './cluster.ts'

describe('6.4: modulo M', () => {
  it('compares as the numbers themselves do, if they are less than N apart and M is at least 2N-1', () => {
    for (let n = 2; n <= 9; n++) {
      for (const modulus of [2 * n - 1, 2 * n, 3 * n]) {
        for (let a = 0; a < 2 * modulus; a++) {
          for (let b = Math.max(0, a - n + 1); b < a + n; b++)
            expect(isEarlierModulo(a % modulus, b % modulus, modulus, n)).toBe(a < b)
        }
      }
    }
  })

  it('M = 2N-2 is too small', () => {
    for (let n = 2; n <= 9; n++) {
      const modulus = 2 * n - 2
      const wrong = [...Array(modulus).keys()].filter(a => {
        const b = a + n - 1
        return !isEarlierModulo(a % modulus, b % modulus, modulus, n)
      })
      expect(wrong.length).toBeGreaterThan(0)
    }
  })

  it('gives the same order of entries as unbounded numbers, whatever the schedule', () => {
    const play = (choices: readonly number[], n: number, modulus?: number): number[] => {
      const cluster = new Cluster({
        participants: n,
        localHandoffs: 0,
        ...(modulus && { options: { modulus } }),
      })
      for (const choice of choices) {
        const node = (choice % n) + 1
        const { own, localQueue } = cluster.state(node).durable
        if (localQueue.holders.length > 0) cluster.exit(node)
        else if (choice % 3 === 0 && own.phase === 'idle') cluster.try(node)
        else if (cluster.network.length > 0)
          cluster.deliverAt(Math.floor(choice / 3) % cluster.network.length)
      }
      return cluster.grants.all.map(({ participant }) => participant)
    }
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 4 }),
        fc.array(fc.nat(9_999), { minLength: 200, maxLength: 400 }),
        (n, choices) => {
          expect(play(choices, n, 2 * n - 1)).toEqual(play(choices, n))
        },
      ),
      { numRuns: 25, seed: 1 },
    )
  })

  it('a request is not given up: the numbers must not run away from one that waits', () => {
    const cluster = new Cluster({ participants: 2, localHandoffs: 0, options: { modulus: 3 } })
    cluster.try(1)
    cluster.deliver()
    for (let round = 0; round < 5; round++) {
      cluster.try(2)
      cluster.user(2, { type: 'withdraw', user: 'u' })
    }
    expect(cluster.state(2).durable.own).toMatchObject({ phase: 'requesting', request: 2 })
    cluster.exit(1)
    cluster.run(10_000)
    expect(cluster.state(2).durable.own.phase).toBe('idle')
    expect(cluster.inside()).toEqual([])
  })

  it('a request that comes again when it is long over is not taken for a new one', () => {
    const cluster = new Cluster({ participants: 2, localHandoffs: 0, options: { modulus: 3 } })
    cluster.try(2)
    const [late] = cluster.network
    cluster.deliver()
    cluster.exit(2)
    for (let round = 0; round < 3; round++) {
      cluster.try(1)
      cluster.deliver()
      cluster.exit(1)
    }
    // Number 1 has the same residue as number 4, which node 1 used last: it would be taken for the next one.
    cluster.try(1)
    cluster.hand(late!)
    expect(cluster.state(1).durable.deferred).toEqual({})
    expect(cluster.network.filter(sent => sent.from === 1 && sent.message.body.type === 'reply')).toEqual([])
  })

  it('there are no readers, and nobody leaves or comes back', () => {
    const cluster = new Cluster({ participants: 2, options: { modulus: 3 } })
    const refusal = { code: 'not-supported' }
    expect(cluster.try(1, 'u', { mode: 'shared' })).toMatchObject([{ type: 'refused', refusal }])
    const left = cluster.user(1, { type: 'membership', request: 'r', wish: 'leave' })
    expect(left).toMatchObject([{ type: 'refused', user: 'r', refusal }])
    cluster.wipe(2)
    cluster.start(2)
    cluster.run(10_000)
    expect(cluster.view(2).membership).toBe('joining')
  })
})

describe('6.5: increments', () => {
  it('random ones lie between 1 and the most, differ between nodes, and are the same after a restart', () => {
    const most = 10
    const steps = (node: number) => {
      const seen: number[] = []
      for (let highest = 0; highest < 2_000; highest++) seen.push(1 + (scatter(highest, node) % most))
      return seen
    }
    const [first, second] = [steps(1), steps(2)]
    expect(new Set(first)).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))
    const isLower = first.filter((step, place) => step < second[place]!).length
    const isHigher = first.filter((step, place) => step > second[place]!).length
    expect(Math.abs(isLower - isHigher)).toBeLessThan(200)

    const cluster = new Cluster({ participants: 2, options: { increment: { type: 'random', most } } })
    cluster.try(1)
    expect(cluster.state(1).durable.own.request).toBe(first[0])
  })

  it('nodes with priority take small ones, and win against those that asked at the same time', () => {
    const options = { increment: { type: 'priority', by: [10, 10, 1] } } as const
    const cluster = new Cluster({ participants: 3, localHandoffs: 0, options })
    for (const node of [1, 2, 3]) cluster.try(node)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['3:u'])
    // Without it, the lowest number wins.
    const plain = new Cluster({ participants: 3, localHandoffs: 0 })
    for (const node of [1, 2, 3]) plain.try(node)
    plain.deliver()
    expect(plain.inside()).toEqual(['1:u'])
  })
})

describe('7.1: names', () => {
  it('break ties instead of numbers, and order the fences', () => {
    const cluster = new Cluster({ participants: 3, localHandoffs: 0, options: { names: [900, 30, 500] } })
    for (const node of [1, 2, 3]) cluster.try(node)
    for (let entry = 0; entry < 3; entry++) {
      cluster.deliver()
      cluster.exit(Number(cluster.inside()[0]![0]))
    }
    expect(cluster.grants.all.map(({ participant }) => participant)).toEqual([2, 3, 1])
  })
})
