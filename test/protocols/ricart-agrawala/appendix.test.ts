/**
 * The Appendix: how often others may enter between the moment a node chooses its number and the moment it
 * enters. At most 2(N-1) times if messages come in the order in which they were sent, N(N+1)/2 - 1 times if
 * they do not.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Cluster } from './cluster.ts'
import { along, from, ofType, to } from './matchers.ts'

const boundInOrder = (n: number): number => 2 * (n - 1)
const boundInAnyOrder = (n: number): number => (n * (n + 1)) / 2 - 1

/** Every node wants in again and again. Remembers the longest that any node waited, in entries of others. */
class Contest {
  readonly cluster: Cluster
  readonly n: number
  longestWait = 0
  /** By node: how many entries there were, of all nodes, when it chose its number. */
  private readonly choseAt = new Map<number, number>()
  private users = 0

  constructor(n: number) {
    this.n = n
    this.cluster = new Cluster({ participants: n, localHandoffs: 0 })
  }

  want(node: number): void {
    const { own } = this.cluster.state(node).durable
    if (own.phase !== 'idle') return
    this.choseAt.set(node, this.cluster.grants.all.length)
    this.cluster.try(node, `u${++this.users}`)
    this.noteEntries()
  }

  leave(node: number): void {
    const [holder] = this.cluster.state(node).durable.localQueue.holders
    if (holder !== undefined) this.cluster.exit(node, holder.user)
  }

  deliverAt(index: number): void {
    this.cluster.deliverAt(index)
    this.noteEntries()
  }

  deliver(matches: Parameters<Cluster['deliver']>[0]): void {
    this.cluster.deliver(matches)
    this.noteEntries()
  }

  private noteEntries(): void {
    const { all } = this.cluster.grants
    for (const [node, start] of this.choseAt) {
      const entry = all.findIndex((grant, place) => place >= start && grant.participant === node)
      this.longestWait = Math.max(this.longestWait, (entry === -1 ? all.length : entry) - start)
      if (entry !== -1) this.choseAt.delete(node)
    }
  }

  /** Plays as the numbers say: each chooses among what can happen. */
  play(choices: readonly number[], isInOrder: boolean): void {
    for (const choice of choices) {
      const { network } = this.cluster
      const deliverable = network.flatMap((sent, index) => {
        const isFirst = network.findIndex(other => along(sent.from, sent.to)(other)) === index
        return isInOrder && !isFirst ? [] : [index]
      })
      // Often a node acts; otherwise something is delivered.
      const node = (choice % this.n) + 1
      if (choice % 3 === 0 || deliverable.length === 0) {
        this.leave(node)
        this.want(node)
      } else this.deliverAt(deliverable[Math.floor(choice / 3) % deliverable.length]!)
    }
  }
}

const schedules = fc.array(fc.nat(9_999), { minLength: 100, maxLength: 300 })

describe.each([2, 3, 4])('the bounds, N = %i', n => {
  it('2(N-1) in order', () => {
    let longest = 0
    fc.assert(
      fc.property(schedules, choices => {
        const contest = new Contest(n)
        contest.play(choices, true)
        longest = Math.max(longest, contest.longestWait)
        expect(contest.longestWait).toBeLessThanOrEqual(boundInOrder(n))
      }),
      { numRuns: 60, seed: n },
    )
    // Random runs come close to the bound, so the check can fail.
    expect(longest).toBeGreaterThanOrEqual(boundInOrder(n) - 1)
  })

  it('N(N+1)/2 - 1 in any order', () => {
    fc.assert(
      fc.property(schedules, choices => {
        const contest = new Contest(n)
        contest.play(choices, false)
        expect(contest.longestWait).toBeLessThanOrEqual(boundInAnyOrder(n))
      }),
      { numRuns: 60, seed: n },
    )
  })
})

describe('the worst case', () => {
  /**
   * Nodes 1 to N-1 have chosen the numbers 1 to N-1, and node N has chosen N. Its REQUESTs travel last of
   * all. Every other node enters with each number from its own up to N, because it chooses the next one
   * before it hears of any other node's.
   */
  function playWorstCase(n: number): number {
    const contest = new Contest(n)
    const { cluster } = contest
    for (let node = 1; node <= n; node++) {
      if (node > 1) contest.deliver(sent => along(node - 1, node)(sent) && ofType('request')(sent))
      contest.want(node)
      expect(cluster.state(node).durable.own.request).toBe(node)
    }
    for (let number = 1; number <= n; number++) {
      for (let node = 1; node <= Math.min(number, n - 1); node++) {
        expect(cluster.state(node).durable.own.request).toBe(number)
        contest.deliver(sent => from(node)(sent) && ofType('request')(sent))
        contest.deliver(sent => to(node)(sent) && ofType('reply')(sent))
        expect(cluster.inside()).toHaveLength(1)
        contest.leave(node)
        contest.want(node)
      }
    }
    const waited = cluster.grants.all.length
    expect(cluster.grants.all.some(({ participant }) => participant === n)).toBe(false)
    contest.deliver(() => true)
    expect(cluster.grants.all[waited]).toMatchObject({ participant: n })
    expect(contest.longestWait).toBe(waited)
    return waited
  }

  it.each([2, 3, 4, 5, 6, 7])('is reached, N = %i', n => {
    expect(playWorstCase(n)).toBe(boundInAnyOrder(n))
  })

  it('is more than what ordered delivery allows, so both checks can fail', () => {
    for (const n of [3, 4, 5, 6, 7]) expect(boundInAnyOrder(n)).toBeGreaterThan(boundInOrder(n))
  })
})
