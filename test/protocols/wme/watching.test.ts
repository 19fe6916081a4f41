/**
 * Who watches the owner, for how long, and what silence costs. The rules T1-T5 stand in shared/detector.ts.
 */
import { describe, expect, it } from 'vitest'
import { isSuspected, timeoutOf } from '../../../shared/detector.ts'
import { DEFAULT_TIMING } from '../../../shared/protocols/protocol.ts'
import { Cluster } from './cluster.ts'
import { all, among, bodies, from, ofType, to } from './matchers.ts'
import {
  enter,
  epochOf,
  eventsOf,
  exit,
  isIn,
  isSealed,
  issue,
  ownerAt,
  protocols,
  suspectOwner,
  TERMINATION_MS,
} from './scenes.ts'

/** Long enough to have measured round trips. */
const WARM_MS = 5_000
const LEASE_MS = 2 * DEFAULT_TIMING.repeatMaxMs

describe.each(protocols)('watching the owner %s', (_name, protocol) => {
  const createCluster = (participants = 3) => new Cluster(protocol, { participants, checkRecovery: true })

  const timeoutAt = (cluster: Cluster, id: number, owner = 1) =>
    timeoutOf(cluster.state(id).soft.detector, owner, DEFAULT_TIMING, cluster.now)

  /** The time until the user is in, in steps of a few milliseconds. */
  function timeUntilIn(cluster: Cluster, participant: number, user: string): number {
    const began = cluster.now
    while (!isIn(cluster, participant, user)) {
      cluster.run(5)
      if (cluster.now - began > 60_000) throw new Error(`${user} is not in after a minute`)
    }
    return cluster.now - began
  }

  it.each([3, 5])('T4: silence costs one time-out, with %i participants', participants => {
    const cluster = createCluster(participants)
    enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.try(3, 'b')
    cluster.run(WARM_MS)
    const timeoutMs = timeoutAt(cluster, 3)
    expect(timeoutMs).toBe(DEFAULT_TIMING.timeoutMinMs)
    cluster.isolate(1)
    // The next ping comes after one time-out at most, and its answer has one.
    expect(timeUntilIn(cluster, 3, 'b')).toBeLessThanOrEqual(2 * timeoutMs + 10)
  })

  it('T4: and one configured time-out where no round trip is known', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.isolate(1)
    cluster.try(3, 'b')
    const firstPingMs = cluster.timerAt(3, 'heartbeat')! - cluster.now
    expect(timeUntilIn(cluster, 3, 'b')).toBeLessThanOrEqual(firstPingMs + DEFAULT_TIMING.timeoutMs + 10)
  })

  it('T4: the pre-vote finds the silence already known', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.try(3, 'b')
    cluster.run(WARM_MS)
    cluster.isolate(1)
    cluster.lose(ofType('pre-vote'))
    cluster.run(2 * timeoutAt(cluster, 3))
    expect([2, 3].map(id => cluster.view(id).suspects)).toEqual([[1], [1]])
    cluster.lose(() => false)
    cluster.fire(3, 'repeat')
    cluster.deliver(ofType('pre-vote', 'pre-vote-reply'))
    expect(isSealed(cluster, 3)).toBe(true)
  })

  it('T4: a participant that missed the grant stops watching by itself', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.try(3, 'b')
    cluster.deliver()
    expect(cluster.timers(2)).toEqual(['heartbeat', 'suspect'])
    cluster.lose(all(to(2), ofType('invoke', 'do-invoke', 'alive', 'catch-up')))
    exit(cluster, by)
    cluster.deliver()
    expect(isIn(cluster, 3, 'b')).toBe(true)
    cluster.run(LEASE_MS + DEFAULT_TIMING.heartbeatMs)
    expect(cluster.timers(2)).toEqual([])
    expect(epochOf(cluster, 2)).toBe(0)
  })

  it('T4: a user that goes on waiting goes on being watched for', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.try(3, 'b')
    for (let passed = 0; passed < 3 * LEASE_MS; passed += 1_000) {
      cluster.run(1_000)
      expect(cluster.hasTimer(2, 'heartbeat')).toBe(true)
    }
  })

  it('T4: a grant that came ends the watch at once', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.try(3, 'b')
    cluster.deliver()
    exit(cluster, by)
    cluster.deliver()
    expect(cluster.timers(2)).toEqual([])
  })

  it('a participant that found the owner silent for another asks the others once it needs it itself', () => {
    const cluster = createCluster(5)
    enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.try(3, 'b')
    cluster.run(WARM_MS)
    cluster.isolate(1, 3)
    cluster.run(2 * timeoutAt(cluster, 2))
    expect(cluster.view(2).suspects).toEqual([1])
    expect(cluster.sent.filter(all(from(2), ofType('pre-vote')))).toEqual([])
    cluster.try(2, 'c')
    expect(cluster.network.filter(all(from(2), ofType('pre-vote')))).toHaveLength(2)
    cluster.run(TERMINATION_MS)
    expect(isIn(cluster, 2, 'c')).toBe(true)
  })

  it('T2: a suspicion outlives the epoch, and counts as a mistake once its owner is heard again', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.try(3, 'b')
    cluster.run(WARM_MS)
    cluster.isolate(1)
    cluster.run(TERMINATION_MS)
    expect(epochOf(cluster, 3)).toBe(1)
    expect(isSuspected(cluster.state(3).soft.detector, 1)).toBe(true)
    cluster.reconnect(1)
    // The old owner learns that it is over, and speaks in the new epoch.
    issue(cluster, by, 'x')
    cluster.deliver()
    cluster.try(1, 'c')
    cluster.deliver()
    expect(isSuspected(cluster.state(3).soft.detector, 1)).toBe(false)
    expect(cluster.state(3).soft.detector[1]!.mistakes).toBe(1)
  })

  it('T3: a ping is answered by its name', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a')
    cluster.try(3, 'b')
    cluster.fire(3, 'heartbeat')
    const [ping] = bodies(cluster.deliver(all(ofType('ping'), from(3))), 'ping')
    const [alive] = bodies(cluster.network.filter(to(3)), 'alive')
    expect(alive!.ping).toBe(ping!.ping)
    expect(ping!.ping).toBe(cluster.now)
  })

  it('T5: an owner that stood still for a moment has a round trip for its NEWEP, and keeps the token', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.try(2, 'b')
    cluster.deliver()
    for (const id of [2, 3]) knowRoundTrip(cluster, id, 20)
    suspectOwner(cluster, 2, [3])
    cluster.deliver(among(2, 3))
    expect(epochOf(cluster, 2)).toBe(0)
    expect(cluster.timerAt(2, 'propose')! - cluster.now).toBe(20)
    cluster.run(1)
    cluster.run(DEFAULT_TIMING.proposeMs)
    expect([1, 2, 3].map(id => epochOf(cluster, id))).toEqual([1, 1, 1])
    expect([1, 2, 3].map(id => ownerAt(cluster, id))).toEqual([1, 1, 1])
    expect(isIn(cluster, 1, 'a')).toBe(true)
    expect(eventsOf(cluster, 1, 'ejected')).toEqual([])
  })

  it('T5: one that does not come, or cannot be reached at all, is not waited for any longer', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.try(2, 'b')
    cluster.deliver()
    for (const id of [2, 3]) knowRoundTrip(cluster, id, 20)
    cluster.isolate(1)
    cluster.unreachable(2, 1)
    cluster.unreachable(3, 1)
    cluster.deliver()
    expect([2, 3].map(id => ownerAt(cluster, id))).toEqual([2, 2])
  })

  it('T5: a participant that itself stood still gives the owner its time again, but only once', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.try(3, 'b')
    cluster.run(WARM_MS)
    cluster.isolate(1)
    cluster.fire(3, 'heartbeat')
    for (const suspects of [[], [1]]) {
      cluster.now = cluster.timerAt(3, 'suspect')! + 5_000
      cluster.fire(3, 'suspect')
      expect(cluster.view(3).suspects).toEqual(suspects)
    }
  })

  it('a ping that leaves late leaves the owner its whole time', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.try(3, 'b')
    cluster.run(WARM_MS)
    cluster.now = cluster.timerAt(3, 'suspect')! + 5_000
    cluster.fire(3, 'heartbeat')
    expect(cluster.timerAt(3, 'suspect')! - cluster.now).toBe(timeoutAt(cluster, 3))
  })
})

/** As if round trips to the first owner had been measured. */
function knowRoundTrip(cluster: Cluster, participant: number, smoothedMs: number): void {
  const peer = cluster.state(participant).soft.detector[1]!
  peer.roundTrip = { smoothedMs, variationMs: 0, samples: 4 }
  peer.answeredAt = cluster.now
}
