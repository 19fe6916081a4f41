/**
 * Traps D1-D4 and D6: a participant comes back with what it wrote. (D5 is about the Durable Object.) The
 * rules W1 to W8 are in traps-recovery-durable.test.ts.
 */
import { describe, expect, it } from 'vitest'
import { Cluster } from './cluster.ts'
import { all, among, ofType, to } from './matchers.ts'
import {
  enter,
  epochOf,
  eventsOf,
  exit,
  isIn,
  issue,
  logAt,
  ownerAt,
  phaseAt,
  protocols,
  replaceOwner,
  replaceOwnerByHand,
  valueAt,
} from './scenes.ts'

describe.each(protocols)('traps D %s', (_name, protocol) => {
  const createCluster = (participants = 3) => new Cluster(protocol, { participants })

  function restart(cluster: Cluster, participant: number): void {
    cluster.crash(participant)
    cluster.start(participant)
  }

  it('D1 an owner that restarts still knows that it owns, and who is in', () => {
    const cluster = createCluster()
    const by = enter(cluster, 2, 'a')
    restart(cluster, 2)
    expect([ownerAt(cluster, 2), phaseAt(cluster, 2)]).toEqual([2, 'cs-idle'])
    expect(cluster.hasTimer(2, 'ttl')).toBe(true)
    issue(cluster, by, 'x')
    cluster.deliver()
    expect(eventsOf(cluster, 2, 'outcome')).toHaveLength(1)
    exit(cluster, by)
    restart(cluster, 2)
    expect(cluster.try(2, 'b')).toContainEqual(expect.objectContaining({ type: 'crit', user: 'b' }))
  })

  it('D1 what was granted away before the restart is not granted again', () => {
    const cluster = createCluster()
    cluster.try(2, 'b')
    cluster.deliver(all(ofType('request'), to(1)))
    cluster.take(() => true)
    restart(cluster, 1)
    expect(cluster.try(1, 'a')).toEqual([])
    cluster.run(1_000)
    expect(isIn(cluster, 2, 'b')).toBe(true)
  })

  it('D2 a participant whose storage is gone neither acknowledges nor votes', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    // Participants 1 and 3 hold the operation, and its user has the outcome.
    cluster.deliver(among(1, 3))
    cluster.take(() => true)
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    cluster.wipe(3)
    cluster.start(3)
    cluster.crash(1)
    cluster.try(2, 'b')
    cluster.run(60_000)
    // If 3 behaved as if it had never acknowledged anything, 2 and 3 would decide that there was no
    // operation.
    expect(epochOf(cluster, 2)).toBe(0)
    cluster.start(1)
    cluster.run(60_000)
    expect([1, 2, 3].map(id => valueAt(cluster, id))).toEqual([1, 1, 1])
    expect(eventsOf(cluster, 2, 'crit')).toHaveLength(1)
  })

  it('D3 the first owner of the token is written once', () => {
    const cluster = createCluster()
    exit(cluster, enter(cluster, 1, 'a'))
    replaceOwnerByHand(cluster, 2, [3], 'b')
    cluster.deliver()
    cluster.crash(1)
    const before = new Map(cluster.storage(1))
    // Whoever starts it may keep saying that the lock is born with it.
    cluster.start(1, true)
    expect(cluster.storage(1)).toEqual(before)
    expect([epochOf(cluster, 1), ownerAt(cluster, 1)]).toEqual([1, 2])
    expect(cluster.try(1, 'c')).toEqual([])
    cluster.wipe(1)
    cluster.start(1)
    expect(cluster.try(1, 'c')).toMatchObject([{ type: 'refused', refusal: { code: 'not-a-member' } }])
  })

  it('D4 results are kept by operation id in the transaction that applies', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver()
    restart(cluster, 1)
    expect(issue(cluster, by, 'x')).toMatchObject([{ type: 'outcome', opId: 'x', sequence: 2 }])
    cluster.run(1_000)
    expect([1, 2, 3].map(id => valueAt(cluster, id))).toEqual([1, 1, 1])
    expect(logAt(cluster, 1)).toHaveLength(2)
  })

  it('D6 a step is synchronous', () => {
    const cluster = createCluster()
    const event = { type: 'try', user: 'a', ttlMs: 1_000 } as const
    const input = { type: 'user', now: 0, event } as const
    const effects: unknown = protocol.step(cluster.context(1), cluster.state(1), input)
    expect(Array.isArray(effects)).toBe(true)
  })

  it('I20 at every step of an eventful run, the durable state is what storage gives back', () => {
    const limits = { logKept: 4, resultsKept: 3, endingsKept: 2 }
    const cluster = new Cluster(protocol, { participants: 5, limits, checkRecovery: true })
    const by = enter(cluster, 2, 'a', { confirm: true, waitMs: 10_000 })
    for (let i = 0; i < 9; i++) {
      issue(cluster, by, `x${i}`, [{ put: `k${i % 3}`, value: i }, { delete: `k${(i + 1) % 3}` }])
      cluster.deliver()
    }
    const third = replaceOwner(cluster, [2], 3, 'b')
    cluster.wipe(5)
    cluster.start(5)
    cluster.reconnect(2)
    // The user of participant 3 keeps its grant for 30 seconds.
    cluster.run(15_000)
    for (let i = 0; i < 9; i++) {
      issue(cluster, third, `y${i}`)
      cluster.deliver()
    }
    replaceOwnerByHand(cluster, 4, [1, 5], 'c')
    cluster.run(20_000)
    expect([1, 2, 3, 4, 5].map(id => valueAt(cluster, id))).toEqual([9, 9, 9, 9, 9])
    expect(epochOf(cluster, 5)).toBeGreaterThanOrEqual(2)
  })
})
