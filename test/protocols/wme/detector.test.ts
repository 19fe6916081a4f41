/** ◇P: completeness at once, accuracy in the end. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  answerMs,
  createDetector,
  type Detector,
  heard,
  isOverdue,
  isSuspected,
  noteAnswered,
  noteAsked,
  noteHeard,
  pauseOf,
  suspect,
  suspectsOf,
  timeoutOf,
} from '../../../shared/detector.ts'
import { DEFAULT_TIMING, type Timing } from '../../../shared/protocols/protocol.ts'
import { wme1 } from '../../../shared/protocols/wme/wme.ts'
import { Cluster } from './cluster.ts'
import { all, from, ofType } from './matchers.ts'
import { enter, epochOf, exit, isIn } from './scenes.ts'

const now = 1_000_000

/** The peer answers a ping after this time. Returns when. */
function roundTrip(detector: Detector, peer: number, at: number, takesMs: number): number {
  const ping = noteAsked(detector, peer, at)
  noteAnswered(detector, peer, ping, at + takesMs)
  heard(detector, peer, DEFAULT_TIMING)
  return at + takesMs
}

/** A detector that has measured this many round trips, the last of which ended at `at`. */
function measured(takesMs: readonly number[]): { detector: Detector; at: number } {
  const detector = createDetector(3)
  // The first answer wakes the peer, and its time does not count.
  let at = roundTrip(detector, 2, now, 900)
  for (const time of takesMs) at = roundTrip(detector, 2, at + 100, time)
  return { detector, at }
}

const timeoutAt = (detector: Detector, at: number, timing: Timing = DEFAULT_TIMING) =>
  timeoutOf(detector, 2, timing, at)

describe('detector', () => {
  it('suspects nobody at first, and takes the configured time', () => {
    const detector = createDetector(3)
    expect([1, 2, 3].map(peer => isSuspected(detector, peer))).toEqual([false, false, false])
    expect([1, 2, 3].map(peer => timeoutOf(detector, peer, DEFAULT_TIMING, now))).toEqual([
      2_000, 2_000, 2_000,
    ])
  })

  it('a refuted suspicion makes it more patient, with this peer alone', () => {
    const detector = createDetector(3)
    suspect(detector, 2, 'late')
    expect(suspectsOf(detector)).toEqual([2])
    heard(detector, 2, DEFAULT_TIMING)
    expect(suspectsOf(detector)).toEqual([])
    expect([1, 2, 3].map(peer => timeoutOf(detector, peer, DEFAULT_TIMING, now))).toEqual([
      2_000, 3_000, 2_000,
    ])
  })

  it('what the transport says wrongly is no reason to wait longer', () => {
    const detector = createDetector(3)
    suspect(detector, 2, 'unreachable')
    heard(detector, 2, DEFAULT_TIMING)
    expect(detector).toEqual(createDetector(3))
  })

  it('a sign of life without a suspicion changes nothing', () => {
    const detector = createDetector(3)
    heard(detector, 2, DEFAULT_TIMING)
    expect(detector).toEqual(createDetector(3))
  })

  it('eventual accuracy: with bounded delays, wrong suspicions of a peer that is up come to an end', () => {
    const delays = fc.integer({ min: 1, max: DEFAULT_TIMING.timeoutMaxMs })
    fc.assert(
      fc.property(delays, boundMs => {
        const detector = createDetector(2)
        let mistakes = 0
        for (let i = 0; i < 100; i++) {
          // The answer comes after the longest delay; the timer fires before it if its time is shorter.
          if (timeoutAt(detector, now) >= boundMs) continue
          suspect(detector, 2, 'late')
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
    const detector = createDetector(2)
    for (let i = 0; i < 100; i++) {
      suspect(detector, 2, 'late')
      heard(detector, 2, DEFAULT_TIMING)
    }
    expect(timeoutAt(detector, now)).toBe(DEFAULT_TIMING.timeoutMaxMs)
    expect(pauseOf(detector, 2, DEFAULT_TIMING, now)).toBe(DEFAULT_TIMING.heartbeatMs)
  })

  it('a configured time beyond the longest is kept', () => {
    const timing = { ...DEFAULT_TIMING, timeoutMs: 600_000 }
    const detector = createDetector(2)
    expect(timeoutAt(detector, now, timing)).toBe(600_000)
    suspect(detector, 2, 'late')
    heard(detector, 2, timing)
    expect(timeoutAt(detector, now, timing)).toBe(600_000)
  })
})

describe('T1: the time-out follows the round trips, above a floor that only grows', () => {
  it('on one machine it comes down to the least, and no further', () => {
    const { detector, at } = measured([3, 2, 4, 3])
    expect(timeoutAt(detector, at)).toBe(DEFAULT_TIMING.timeoutMinMs)
    const steady = measured(new Array(200).fill(0))
    expect(timeoutAt(steady.detector, steady.at)).toBe(DEFAULT_TIMING.timeoutMinMs)
  })

  it('it is four times the round trip and four times its variation', () => {
    const { detector, at } = measured([100])
    expect(timeoutAt(detector, at)).toBe(4 * (100 + 4 * 50))
    const next = roundTrip(detector, 2, at + 100, 180)
    expect(timeoutAt(detector, next)).toBe(4 * (110 + 4 * 57.5))
  })

  it('between continents it stays above every answer, and is longer where they vary more', () => {
    const even = measured(new Array(50).fill(220))
    const uneven = measured(Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? 160 : 280)))
    expect(timeoutAt(even.detector, even.at)).toBeGreaterThan(3 * 220)
    expect(timeoutAt(uneven.detector, uneven.at)).toBeGreaterThan(timeoutAt(even.detector, even.at))
  })

  it('it never exceeds the configured time and what mistakes have made of it, up to the longest', () => {
    const { detector, at } = measured([30_000, 9_000])
    expect(timeoutAt(detector, at)).toBe(DEFAULT_TIMING.timeoutMs)
    suspect(detector, 2, 'late')
    heard(detector, 2, DEFAULT_TIMING)
    expect(timeoutAt(detector, at)).toBe(1.5 * DEFAULT_TIMING.timeoutMs)
    expect(timeoutAt(detector, at, { ...DEFAULT_TIMING, timeoutMaxMs: 2_500 })).toBe(2_500)
  })

  it('each mistake raises the floor by half, and no number of quick answers lowers it', () => {
    const { detector, at } = measured([3])
    let end = at
    for (let mistakes = 1; mistakes <= 3; mistakes++) {
      suspect(detector, 2, 'late')
      end = roundTrip(detector, 2, end + 100, 600)
      for (let i = 0; i < 300; i++) end = roundTrip(detector, 2, end + 100, 3)
      expect(timeoutAt(detector, end)).toBe(Math.ceil(DEFAULT_TIMING.timeoutMinMs * 1.5 ** mistakes))
    }
  })

  it('a peer whose answers take up to some time is wrongly suspected a limited number of times', () => {
    const pause = fc.integer({ min: 0, max: 400 })
    fc.assert(
      fc.property(fc.array(pause, { minLength: 50, maxLength: 400 }), times => {
        const { detector, at } = measured([3])
        let end = at
        let mistakes = 0
        for (const takesMs of times) {
          if (timeoutAt(detector, end + 100) < takesMs) {
            suspect(detector, 2, 'late')
            mistakes++
          }
          end = roundTrip(detector, 2, end + 100, takesMs)
        }
        expect(mistakes).toBeLessThanOrEqual(Math.ceil(Math.log(400 / 250) / Math.log(1.5)))
      }),
    )
  })

  it('the least is an eighth of a long configured time, and never more than a short one', () => {
    const { detector, at } = measured([3, 3])
    expect(timeoutAt(detector, at, { ...DEFAULT_TIMING, timeoutMs: 10_000 })).toBe(1_250)
    expect(timeoutAt(detector, at, { ...DEFAULT_TIMING, timeoutMs: 100 })).toBe(100)
  })

  it('an answer that came after the suspicion says nothing about round trips', () => {
    const { detector, at } = measured([3, 3, 3])
    suspect(detector, 2, 'late')
    const end = roundTrip(detector, 2, at + 100, 9_000)
    expect(timeoutAt(detector, end)).toBe(Math.ceil(DEFAULT_TIMING.timeoutMinMs * 1.5))
  })
})

describe('T3: what counts as a round trip', () => {
  it('an answer counts for its own ping and once: one that comes again, or names no ping, does not', () => {
    const { detector, at } = measured([3, 3, 3])
    const before = structuredClone(detector)
    const ping = noteAsked(detector, 2, at + 100)
    noteAnswered(detector, 2, ping, at + 103)
    const after = structuredClone(detector)
    noteAnswered(detector, 2, ping, at + 5_000)
    noteAnswered(detector, 2, at + 1, at + 5_000)
    expect(detector).toEqual(after)
    expect(after[2]!.roundTrip).not.toEqual(before[2]!.roundTrip)
  })

  it('round trips that are longer than the pause between two pings are measured all the same', () => {
    const detector = createDetector(2)
    let at = roundTrip(detector, 2, now, 900)
    for (let i = 0; i < 20; i++, at += 100) {
      noteAsked(detector, 2, at)
      noteAnswered(detector, 2, at - 300, at)
    }
    expect(answerMs(detector, 2)).toBeGreaterThanOrEqual(300)
    expect(answerMs(detector, 2)).toBeLessThan(320)
  })

  it('the answer that wakes a peer is no sample, and until it has come the configured time applies', () => {
    const { detector, at } = measured([3, 3, 3])
    const later = at + 10_001
    expect(timeoutAt(detector, at + 10_000)).toBe(DEFAULT_TIMING.timeoutMinMs)
    expect(timeoutAt(detector, later)).toBe(DEFAULT_TIMING.timeoutMs)
    const awake = roundTrip(detector, 2, later, 1_500)
    expect(timeoutAt(detector, awake)).toBe(DEFAULT_TIMING.timeoutMinMs)
  })

  it('an answer to what was asked before the peer was heard to be awake is no sample', () => {
    const detector = createDetector(3)
    // The peer has to be loaded. The request that came with the ping is granted first, and that is heard.
    const ping = noteAsked(detector, 2, now)
    noteHeard(detector, 2, now + 1_500)
    noteAnswered(detector, 2, ping, now + 1_501)
    expect(detector[2]!.roundTrip).toBeNull()
    roundTrip(detector, 2, now + 1_600, 3)
    expect(answerMs(detector, 2)).toBe(9)
  })

  it('the answer of a peer that was heard before it was asked is a sample, the first one too', () => {
    const detector = createDetector(3)
    noteHeard(detector, 2, now)
    roundTrip(detector, 2, now + 100, 3)
    expect(timeoutAt(detector, now + 103)).toBe(DEFAULT_TIMING.timeoutMinMs)
    expect(answerMs(detector, 2)).toBe(9)
  })

  it('a clock that is set back makes no negative round trip, and round trips are measured after it', () => {
    const { detector, at } = measured([3])
    noteAnswered(detector, 2, noteAsked(detector, 2, at + 100), at - 60_000)
    expect(detector[2]!.roundTrip!.smoothedMs).toBeGreaterThanOrEqual(0)
    const before = detector[2]!.roundTrip!.samples
    roundTrip(detector, 2, at - 59_000, 3)
    expect(detector[2]!.roundTrip!.samples).toBeGreaterThan(before)
  })

  it('remembers few unanswered pings, among them the first', () => {
    const detector = createDetector(2)
    for (let i = 0; i < 1_000; i++) noteAsked(detector, 2, now + i)
    expect(detector[2]!.asked.length).toBeLessThanOrEqual(16)
    expect(detector[2]!.asked[0]).toBe(now)
    expect(isOverdue(detector, 2, DEFAULT_TIMING, now + 1_999)).toBe(false)
    expect(isOverdue(detector, 2, DEFAULT_TIMING, now + 2_000)).toBe(true)
  })
})

describe('how often it asks', () => {
  it('a peer is asked several times before its time is over', () => {
    const { detector, at } = measured([3, 3, 3, 3])
    noteAsked(detector, 2, at)
    const timeoutMs = timeoutAt(detector, at)
    expect(timeoutMs / pauseOf(detector, 2, DEFAULT_TIMING, at)).toBeGreaterThan(3)
  })

  it('a peer that answers is asked as often as it can be suspected, and at least every heartbeat', () => {
    const near = measured([3, 3, 3, 3])
    expect(pauseOf(near.detector, 2, DEFAULT_TIMING, near.at)).toBe(DEFAULT_TIMING.timeoutMinMs)
    const far = measured([220, 220, 220, 220])
    expect(pauseOf(far.detector, 2, DEFAULT_TIMING, far.at)).toBe(DEFAULT_TIMING.heartbeatMs)
  })

  it('a peer of which few round trips are known is asked quickly, until they are enough', () => {
    for (const [known, isQuick] of [
      [0, true],
      [1, true],
      [3, true],
      [4, false],
    ] as const) {
      const { detector, at } = measured(new Array(known).fill(3))
      expect(pauseOf(detector, 2, DEFAULT_TIMING, at) < DEFAULT_TIMING.timeoutMinMs / 2).toBe(isQuick)
    }
  })

  it('a suspected one is asked every heartbeat', () => {
    const { detector, at } = measured([3, 3, 3, 3])
    suspect(detector, 2, 'late')
    noteAsked(detector, 2, at)
    expect(pauseOf(detector, 2, DEFAULT_TIMING, at)).toBe(DEFAULT_TIMING.heartbeatMs)
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
    expect(timeoutOf(cluster.state(3).soft.detector, 1, DEFAULT_TIMING, cluster.now)).toBe(750)
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
