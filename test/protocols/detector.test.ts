/** ◇P: completeness at once, accuracy in the end. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDetector, heard, isSuspected, suspect, timeoutOf } from '../../shared/detector.ts'
import { DEFAULT_TIMING } from '../../shared/protocols/protocol.ts'
import { wme1 } from '../../shared/protocols/wme/wme.ts'
import { Cluster } from './cluster.ts'
import { all, from, ofType } from './matchers.ts'
import { enter, epochOf, exit, isIn } from './scenes.ts'

describe('detector', () => {
  it('suspects nobody at first', () => {
    const detector = createDetector(3, DEFAULT_TIMING)
    expect([1, 2, 3].map(peer => isSuspected(detector, peer))).toEqual([false, false, false])
    expect([1, 2, 3].map(peer => timeoutOf(detector, peer))).toEqual([2_000, 2_000, 2_000])
  })

  it('a refuted suspicion makes it more patient, with this peer alone', () => {
    const detector = createDetector(3, DEFAULT_TIMING)
    suspect(detector, 2)
    expect(isSuspected(detector, 2)).toBe(true)
    heard(detector, 2, DEFAULT_TIMING)
    expect(isSuspected(detector, 2)).toBe(false)
    expect([1, 2, 3].map(peer => timeoutOf(detector, peer))).toEqual([2_000, 3_000, 2_000])
  })

  it('a sign of life without a suspicion changes nothing', () => {
    const detector = createDetector(3, DEFAULT_TIMING)
    heard(detector, 2, DEFAULT_TIMING)
    expect(detector).toEqual(createDetector(3, DEFAULT_TIMING))
  })

  it('eventual accuracy: with bounded delays, wrong suspicions of a peer that is up come to an end', () => {
    const delays = fc.integer({ min: 1, max: DEFAULT_TIMING.timeoutMaxMs })
    fc.assert(
      fc.property(delays, boundMs => {
        const detector = createDetector(2, DEFAULT_TIMING)
        let mistakes = 0
        for (let i = 0; i < 100; i++) {
          // The answer comes after the longest delay; the timer fires before it if its time is shorter.
          if (timeoutOf(detector, 2) >= boundMs) continue
          suspect(detector, 2)
          mistakes++
          heard(detector, 2, DEFAULT_TIMING)
        }
        const needed = Math.ceil(Math.log(boundMs / DEFAULT_TIMING.timeoutMs) / Math.log(1.5))
        expect(mistakes).toBeLessThanOrEqual(Math.max(0, needed))
        expect(isSuspected(detector, 2)).toBe(false)
      }),
    )
  })

  it('patience has an end, so that a crash is noticed in bounded time', () => {
    const detector = createDetector(2, DEFAULT_TIMING)
    for (let i = 0; i < 100; i++) {
      suspect(detector, 2)
      heard(detector, 2, DEFAULT_TIMING)
    }
    expect(timeoutOf(detector, 2)).toBe(DEFAULT_TIMING.timeoutMaxMs)
  })
})

describe('detector in use', () => {
  it('completeness: a crashed owner is suspected by those that need it, and replaced', () => {
    const cluster = new Cluster(wme1, { participants: 3 })
    enter(cluster, 1, 'a')
    cluster.crash(1)
    cluster.try(3, 'b')
    cluster.run(12_000)
    expect(isIn(cluster, 3, 'b')).toBe(true)
  })

  it('an owner that is there is not suspected, however long it keeps the token', () => {
    const cluster = new Cluster(wme1, { participants: 3 })
    enter(cluster, 1, 'a', { ttlMs: 3_600_000 })
    cluster.try(3, 'b')
    cluster.run(600_000)
    expect(epochOf(cluster, 3)).toBe(0)
  })

  it('the timeout grows when a suspected owner speaks, and the watch goes on', () => {
    const cluster = new Cluster(wme1, { participants: 3 })
    const by = enter(cluster, 1, 'a')
    cluster.try(3, 'b')
    cluster.lose(from(1))
    cluster.fire(3, 'suspect')
    expect(isSuspected(cluster.state(3).soft.detector, 1)).toBe(true)
    expect(cluster.hasTimer(3, 'suspect')).toBe(false)
    cluster.lose(() => false)
    cluster.fire(3, 'heartbeat')
    cluster.deliver(ofType('ping', 'alive'))
    expect(isSuspected(cluster.state(3).soft.detector, 1)).toBe(false)
    expect(timeoutOf(cluster.state(3).soft.detector, 1)).toBe(3_000)
    expect(cluster.hasTimer(3, 'suspect')).toBe(true)
    expect(cluster.state(3).soft.preVote).toBeNull()
    exit(cluster, by)
    cluster.deliver()
    expect(isIn(cluster, 3, 'b')).toBe(true)
  })

  it('a hint of the transport counts only for the owner that is watched', () => {
    const cluster = new Cluster(wme1, { participants: 3 })
    cluster.unreachable(3, 1)
    expect(cluster.network).toEqual([])
    cluster.try(3, 'b')
    cluster.take(() => true)
    cluster.unreachable(3, 2)
    expect(cluster.network).toEqual([])
    cluster.unreachable(3, 1)
    expect(cluster.network.filter(all(from(3), ofType('pre-vote')))).toHaveLength(2)
  })
})
