/** T3: what the detector goes by as long as it has measured no ping of a peer. */
import { describe, expect, it } from 'vitest'
import {
  answerMs,
  createDetector,
  type Detector,
  heard,
  isOverdue,
  noteAnswered,
  noteAsked,
  noteHeard,
  noteUsual,
  pauseOf,
  suspect,
  timeoutOf,
} from '../../../shared/detector.ts'
import { DEFAULT_TIMING, type Timing } from '../../../shared/protocols/protocol.ts'
import { Cluster } from './cluster.ts'
import { enter, exit, isIn, issue, protocols } from './scenes.ts'

const now = 1_000_000

const timeoutAt = (detector: Detector, at: number, timing: Timing = DEFAULT_TIMING) =>
  timeoutOf(detector, 2, timing, at)

describe('T3: a peer whose round trips are not known', () => {
  const QUARTER_MS = DEFAULT_TIMING.timeoutMs / 4

  it.each([
    ['was never heard', null, DEFAULT_TIMING.timeoutMs],
    ['was heard just now', 0, QUARTER_MS],
    ['was heard ten seconds ago', 10_000, QUARTER_MS],
    ['was heard before that, and may have been put away since', 10_001, DEFAULT_TIMING.timeoutMs],
  ] as const)('%s', (_title, agoMs, expectedMs) => {
    const detector = createDetector(3)
    if (agoMs !== null) noteHeard(detector, 2, now - agoMs)
    expect(timeoutAt(detector, now)).toBe(expectedMs)
    expect(timeoutOf(detector, 3, DEFAULT_TIMING, now)).toBe(DEFAULT_TIMING.timeoutMs)
  })

  it.each([
    [2_000, 500],
    [10_000, 2_500],
    [600, 250],
    [100, 100],
    [600_000, 150_000],
  ])('with %i ms configured it has %i ms, between the least and that', (timeoutMs, expectedMs) => {
    const detector = createDetector(3)
    noteHeard(detector, 2, now)
    expect(timeoutAt(detector, now, { ...DEFAULT_TIMING, timeoutMs })).toBe(expectedMs)
  })

  it('has longer than any round trip on earth, and a pause of one that is well', () => {
    const detector = createDetector(3)
    noteHeard(detector, 2, now)
    expect(timeoutAt(detector, now)).toBeGreaterThanOrEqual(300 + 200)
  })

  it('has more with each mistake (T1)', () => {
    const detector = createDetector(3)
    for (let mistakes = 0; mistakes < 4; mistakes++) {
      noteHeard(detector, 2, now)
      expect(timeoutAt(detector, now)).toBe(Math.ceil(QUARTER_MS * 1.5 ** mistakes))
      suspect(detector, 2, 'late')
      heard(detector, 2, DEFAULT_TIMING)
    }
  })

  it('keeps the time that it had when it was asked, however long that is', () => {
    const detector = createDetector(3)
    noteHeard(detector, 2, now)
    noteAsked(detector, 2, now + 9_900)
    expect(isOverdue(detector, 2, DEFAULT_TIMING, now + 9_900 + QUARTER_MS - 1)).toBe(false)
    expect(isOverdue(detector, 2, DEFAULT_TIMING, now + 9_900 + QUARTER_MS)).toBe(true)
  })

  it.each([
    [2, DEFAULT_TIMING.timeoutMinMs],
    [60, 4 * (60 + 4 * 30)],
    [220, DEFAULT_TIMING.timeoutMs],
  ])('is known to acknowledge entries in %i ms: that stands for its round trip', (usualMs, expectedMs) => {
    const detector = createDetector(3)
    noteUsual(detector, 2, usualMs)
    expect(timeoutAt(detector, now)).toBe(DEFAULT_TIMING.timeoutMs)
    noteHeard(detector, 2, now)
    expect(timeoutAt(detector, now)).toBe(expectedMs)
    expect(answerMs(detector, 2)).toBe(3 * usualMs)
  })

  it('acknowledgements count until a ping is measured, and no longer', () => {
    const detector = createDetector(3)
    noteHeard(detector, 2, now)
    for (const usualMs of [400, 60]) noteUsual(detector, 2, usualMs)
    expect(answerMs(detector, 2)).toBe(180)
    noteAnswered(detector, 2, noteAsked(detector, 2, now + 100), now + 105)
    noteUsual(detector, 2, 60)
    expect(answerMs(detector, 2)).toBe(15)
  })

  it('what another than a member says is nobody’s', () => {
    const detector = createDetector(3)
    noteHeard(detector, 9, now)
    expect(detector).toEqual(createDetector(3))
  })

  it('is not asked before it could have answered, though it was heard', () => {
    const detector = createDetector(3)
    noteHeard(detector, 2, now)
    expect(pauseOf(detector, 2, DEFAULT_TIMING, now)).toBe(DEFAULT_TIMING.timeoutMinMs / 2)
    noteUsual(detector, 2, 100)
    expect(pauseOf(detector, 2, DEFAULT_TIMING, now)).toBe(300)
  })
})

describe.each(protocols)('in use %s', (_name, protocol) => {
  it('an owner that was heard, and falls silent before it is asked', () => {
    const cluster = new Cluster(protocol, { participants: 3 })
    const holder = enter(cluster, 1, 'a', { ttlMs: 600_000 })
    issue(cluster, holder, 'x')
    cluster.run(1_000)
    cluster.isolate(1)
    cluster.try(3, 'b')
    expect(cluster.timerAt(3, 'suspect')! - cluster.now).toBe(125 + 500)
    cluster.run(700)
    expect(isIn(cluster, 3, 'b')).toBe(true)
  })

  it('one that has acknowledged entries in time is left behind sooner', () => {
    const cluster = new Cluster(protocol, { participants: 3 })
    exit(cluster, enter(cluster, 3, 'a'))
    enter(cluster, 1, 'b', { ttlMs: 600_000 })
    cluster.run(1_000)
    cluster.isolate(1)
    cluster.try(3, 'c')
    expect(cluster.timerAt(3, 'suspect')! - cluster.now).toBe(125 + DEFAULT_TIMING.timeoutMinMs)
  })

  it('one that was not heard for long has the configured time', () => {
    const cluster = new Cluster(protocol, { participants: 3 })
    enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.run(20_000)
    cluster.isolate(1)
    cluster.try(3, 'b')
    expect(cluster.timerAt(3, 'suspect')! - cluster.now).toBe(125 + DEFAULT_TIMING.timeoutMs)
  })
})
