/**
 * wme-2: an operation goes at once to just as many as make a majority, the quickest ones. The rest lags for a
 * little while, and must be of as much use as before: to commit with, to read at, to vote, to have the token.
 */
import { describe, expect, it } from 'vitest'
import { checkOptions } from '../../../shared/protocols/all.ts'
import { DEFAULT_TIMING, MESSAGE_FORMAT } from '../../../shared/protocols/protocol.ts'
import { majority } from '../../../shared/protocols/quorum.ts'
import { wme1, wme2 } from '../../../shared/protocols/wme/wme.ts'
import { Cluster, type ClusterOptions } from './cluster.ts'
import { all, bodies, countByType, from, not, ofType, to } from './matchers.ts'
import {
  appliedAt,
  enter,
  epochOf,
  eventsOf,
  exit,
  type Holder,
  holder,
  isIn,
  issue,
  logAt,
  valueAt,
} from './scenes.ts'

const { flushMs } = DEFAULT_TIMING
const invokes = ofType('invoke')

const receivers = (cluster: Cluster) => cluster.network.filter(invokes).map(sent => sent.to)
const outcomes = (cluster: Cluster) => eventsOf(cluster, 1, 'outcome').map(({ opId }) => opId)

/**
 * Participant 1 is inside, and has measured how long the others take: 1 ms each, unless `delays` says more.
 */
function measured(
  options: Partial<ClusterOptions> = {},
  delays: { readonly [participant: number]: number } = {},
): [Cluster, Holder] {
  const participants = options.participants ?? 3
  // The first operation takes the grant along, and goes to all.
  const cluster = new Cluster(wme2, { participants, options: {}, timing: { confirmMs: 1_000 }, ...options })
  const by = enter(cluster, 1, 'a')
  issue(cluster, by, 'first')
  cluster.deliver(invokes)
  for (let ms = 1; ms <= Math.max(1, ...Object.values(delays)); ms++) {
    cluster.now++
    cluster.deliver(sent => (delays[sent.from] ?? 1) === ms)
  }
  cluster.run(1_000)
  expect(cluster.network).toEqual([])
  return [cluster, by]
}

/** An operation that the quick participant alone gets. */
function commitQuickly(cluster: Cluster, by: Holder, opId: string): void {
  issue(cluster, by, opId)
  expect(receivers(cluster)).toHaveLength(majority(cluster.participants) - 1)
  cluster.deliver()
  expect(outcomes(cluster)).toContain(opId)
}

describe('majority first', () => {
  it('goes to all as long as nobody is known to be quick', () => {
    const cluster = new Cluster(wme2, { participants: 5, options: {}, timing: { confirmMs: 1_000 } })
    issue(cluster, enter(cluster, 1, 'a'), 'x')
    expect(receivers(cluster)).toEqual([2, 3, 4, 5])
  })

  it.each([3, 4, 5, 7])('asks just as many as make a majority (N = %i)', participants => {
    const [cluster, by] = measured({ participants })
    commitQuickly(cluster, by, 'x')
  })

  it('asks the quickest', () => {
    const [cluster, by] = measured({ participants: 5 }, { 2: 9, 3: 2, 4: 7, 5: 3 })
    issue(cluster, by, 'x')
    expect(receivers(cluster).sort()).toEqual([3, 5])
  })

  it('asks the same ones again though another one seems a little quicker', () => {
    const [cluster, by] = measured({}, { 2: 4, 3: 5 })
    issue(cluster, by, 'x')
    expect(receivers(cluster)).toEqual([2])
    cluster.now += 20
    cluster.deliver()
    issue(cluster, by, 'y')
    expect(receivers(cluster)).toEqual([2])
  })

  it('tells the rest after the flush time, several operations in one message, with what is committed', () => {
    const [cluster, by] = measured()
    for (const opId of ['x', 'y', 'z']) commitQuickly(cluster, by, opId)
    expect(appliedAt(cluster, 3)).toEqual(['first'])
    cluster.fire(1, 'spread')
    expect(receivers(cluster)).toEqual([3])
    expect(bodies(cluster.network, 'invoke')[0]?.entries).toHaveLength(3)
    cluster.deliver()
    expect(appliedAt(cluster, 3)).toEqual(['first', 'x', 'y', 'z'])
    expect(cluster.hasTimer(1, 'spread')).toBe(false)
  })

  it('Q5 does not put the rest off while operations follow one another', () => {
    const [cluster, by] = measured()
    const start = cluster.now
    for (let count = 0; logAt(cluster, 3).length < logAt(cluster, 1).length || count < 2; count++) {
      issue(cluster, by, `x${count}`)
      cluster.run(1)
      expect(cluster.now - start).toBeLessThanOrEqual(flushMs + 1)
    }
  })

  it('Q5 tells the rest also when nothing follows', () => {
    const [cluster, by] = measured()
    commitQuickly(cluster, by, 'x')
    exit(cluster, by)
    cluster.run(flushMs)
    expect(appliedAt(cluster, 3)).toEqual(['first', 'x'])
    cluster.run(10_000)
    expect(cluster.timers(1)).toEqual([])
  })

  it('Q2 the rest lags by no more than fits one message with a grant behind it', () => {
    const [cluster, by] = measured({ limits: { entriesPerMessage: 4 } })
    for (const opId of ['x', 'y', 'z']) commitQuickly(cluster, by, opId)
    issue(cluster, by, 'w')
    expect(receivers(cluster)).toEqual([2, 3])
  })

  it('Q4 sends the DOINVOKE only to those who have the operation', () => {
    const [cluster, by] = measured()
    commitQuickly(cluster, by, 'x')
    cluster.fire(1, 'flush')
    expect(cluster.network.map(sent => [sent.message.body.type, sent.to])).toEqual([['do-invoke', 2]])
  })

  it('regression: no DOINVOKE goes to one that lags, though the last that it has is an operation', () => {
    const cluster = new Cluster(wme2, { participants: 3, options: {}, timing: { confirmMs: 1_000 } })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'first')
    cluster.deliver()
    issue(cluster, by, 'x')
    cluster.deliver()
    cluster.fire(1, 'flush')
    expect(cluster.network.map(sent => [sent.message.body.type, sent.to])).toEqual([['do-invoke', 2]])
  })

  it('a run of operations costs one message each, and one for the rest now and then', () => {
    const [cluster, by] = measured()
    const delivered = []
    const operations = 40
    for (let count = 0; count < operations; count++) {
      issue(cluster, by, `x${count}`)
      cluster.now++
      delivered.push(...cluster.deliver())
      const due = cluster.nextTimer()
      if (due !== null && due.at <= cluster.now) cluster.fire(due.participant, due.timer)
    }
    const { invoke, ...others } = countByType(delivered)
    expect(others).toEqual({ 'invoke-ack': invoke })
    expect(invoke).toBeLessThanOrEqual(operations + Math.ceil(operations / flushMs) + 1)
  })

  it.each([
    ['wme-2 that is told not to', wme2, { majorityFirst: false }],
    ['wme-1', wme1, {}],
  ] as const)('is not done by %s', (_, protocol, options) => {
    const cluster = new Cluster(protocol, { participants: 3, options })
    const by = enter(cluster, 1, 'a')
    for (const opId of ['x', 'y']) {
      issue(cluster, by, opId)
      expect(receivers(cluster)).toEqual([2, 3])
      cluster.deliver()
    }
    expect(cluster.hasTimer(1, 'spread')).toBe(false)
  })

  it('is an option of wme-2 alone', () => {
    expect(checkOptions('wme-2', { majorityFirst: false }, 3)).toBeNull()
    expect(checkOptions('wme-1', { majorityFirst: true }, 3)).toBe('wme-1 has no option majorityFirst.')
    expect(checkOptions('wme-consensus', { majorityFirst: true }, 3)).not.toBeNull()
  })
})

describe('majority first, and the quick one', () => {
  it('Q6 dies right then: the rest is asked after the flush time, and is the quick one from then on', () => {
    const [cluster, by] = measured()
    cluster.crash(2)
    issue(cluster, by, 'x')
    expect(receivers(cluster)).toEqual([2])
    cluster.run(flushMs)
    expect(outcomes(cluster)).toEqual(['first', 'x'])
    issue(cluster, by, 'y')
    expect(receivers(cluster)).toEqual([3])
    cluster.deliver()
    expect(outcomes(cluster)).toEqual(['first', 'x', 'y'])
  })

  it('Q6 cannot be reached: the rest is asked at once', () => {
    const [cluster, by] = measured()
    cluster.isolate(2)
    issue(cluster, by, 'x')
    cluster.unreachable(1, 2)
    cluster.deliver()
    expect(outcomes(cluster)).toEqual(['first', 'x'])
  })

  it('is far away: it is not late by the flush time, but by its own round trip', () => {
    const [cluster, by] = measured({}, { 2: 100, 3: 150 })
    cluster.crash(2)
    issue(cluster, by, 'x')
    cluster.run(flushMs)
    issue(cluster, by, 'y')
    expect(receivers(cluster)).toEqual([2])
    cluster.run(400)
    issue(cluster, by, 'z')
    expect(receivers(cluster)).toEqual([3])
  })

  it('comes back: it gets what it missed, and is measured again', () => {
    const [cluster, by] = measured()
    cluster.crash(2)
    issue(cluster, by, 'x')
    cluster.run(flushMs)
    cluster.start(2)
    issue(cluster, by, 'y')
    cluster.run(1_000)
    expect(cluster.state(1).soft.roundTrips[2]).not.toBeNull()
    expect(logAt(cluster, 2)).toEqual(logAt(cluster, 1))
  })

  it('was gone for an hour: that is not how long its answers take', () => {
    const [cluster, by] = measured()
    cluster.crash(2)
    issue(cluster, by, 'x')
    cluster.run(flushMs)
    cluster.now += 3_600_000
    cluster.start(2)
    for (const opId of ['y', 'z']) {
      issue(cluster, by, opId)
      cluster.run(1_000)
    }
    expect(cluster.state(1).soft.roundTrips[2]).toBeLessThan(1_000)
  })

  it('and the owner die together with an operation that no majority held: it never happened', () => {
    const [cluster, by] = measured({ participants: 5 })
    issue(cluster, by, 'x')
    cluster.deliver(all(invokes, to(2)))
    cluster.crash(1)
    cluster.crash(2)
    cluster.take(() => true)
    cluster.try(3, 'c')
    cluster.run(20_000)
    expect(isIn(cluster, 3, 'c')).toBe(true)
    expect(valueAt(cluster, 3)).toBe(1)
    cluster.start(1)
    cluster.run(5_000)
    expect(eventsOf(cluster, 1, 'ejected')).toMatchObject([
      { pending: { opId: 'x', outcome: 'not-applied' } },
    ])
  })
})

describe('majority first, and one that lags', () => {
  /** Participant 3 lacks two committed operations. */
  function lagging(options: Partial<ClusterOptions> = {}): [Cluster, Holder] {
    const [cluster, by] = measured(options)
    for (const opId of ['x', 'y']) commitQuickly(cluster, by, opId)
    expect(appliedAt(cluster, 3)).toEqual(['first'])
    return [cluster, by]
  }

  it('Q7 is asked to read: the read has all that was committed before it', () => {
    const [cluster] = lagging()
    cluster.user(3, { type: 'read', request: 'r' })
    cluster.deliver()
    expect(eventsOf(cluster, 3, 'readable')).toHaveLength(1)
    expect(valueAt(cluster, 3)).toBe(3)
  })

  it('is asked to read while the owner is cut off: it waits rather than miss anything', () => {
    const [cluster] = lagging()
    cluster.isolate(1)
    cluster.user(3, { type: 'read', request: 'r' })
    cluster.run(20_000)
    expect(eventsOf(cluster, 3, 'readable')).toHaveLength(1)
    expect(valueAt(cluster, 3)).toBe(3)
  })

  it('Q1 gets the token, with everything before it', () => {
    const [cluster, by] = lagging()
    cluster.try(3, 'c')
    cluster.deliver()
    exit(cluster, by)
    expect(receivers(cluster)).toEqual([2, 3])
    cluster.deliver()
    expect(isIn(cluster, 3, 'c')).toBe(true)
    expect(valueAt(cluster, 3)).toBe(3)
  })

  it('Q1 knows of a grant to another one as soon as all do, and what lies before it', () => {
    const [cluster, by] = lagging()
    cluster.try(2, 'b')
    cluster.deliver()
    exit(cluster, by)
    cluster.deliver()
    expect(isIn(cluster, 2, 'b')).toBe(true)
    expect(logAt(cluster, 3)).toEqual(logAt(cluster, 1))
  })

  it('Q3 votes at once that the owner is silent, though its log is shorter', () => {
    const [cluster] = lagging()
    cluster.crash(1)
    cluster.try(2, 'b')
    cluster.deliver()
    cluster.fire(2, 'suspect')
    cluster.deliver()
    cluster.fire(3, 'suspect')
    cluster.deliver()
    expect(epochOf(cluster, 2)).toBe(1)
    expect(isIn(cluster, 2, 'b')).toBe(true)
    expect(valueAt(cluster, 2)).toBe(3)
  })

  it('asks another one to vote, though its log is shorter', () => {
    const [cluster] = lagging()
    cluster.crash(1)
    cluster.try(3, 'c')
    cluster.deliver()
    cluster.fire(3, 'suspect')
    cluster.deliver()
    cluster.fire(2, 'suspect')
    cluster.deliver()
    expect(isIn(cluster, 3, 'c')).toBe(true)
    expect(valueAt(cluster, 3)).toBe(3)
  })

  it('Q6 lets one that can enter the next epoch propose', () => {
    const [cluster] = measured({}, { 2: 9, 3: 2 })
    const by = holder(cluster, 1, 'a')
    for (const opId of ['x', 'y']) commitQuickly(cluster, by, opId)
    cluster.fire(1, 'flush')
    cluster.deliver()
    expect(appliedAt(cluster, 2)).toEqual(['first'])
    cluster.crash(1)
    cluster.try(2, 'b')
    cluster.deliver()
    cluster.fire(2, 'suspect')
    cluster.deliver()
    cluster.fire(3, 'suspect')
    const prepared = cluster.deliver(not(ofType('prepare')))
    expect(countByType(prepared)).toHaveProperty('new-epoch')
    expect(cluster.network.filter(all(ofType('prepare'), from(2)))).toEqual([])
    cluster.deliver()
    expect(isIn(cluster, 2, 'b')).toBe(true)
    expect(valueAt(cluster, 2)).toBe(3)
  })

  it('Q4 does not ask for what it lacks unless somebody waits there', () => {
    const [cluster] = lagging()
    const { epoch } = cluster.state(1).durable.epoch
    const alive = { type: 'alive', epoch, length: logAt(cluster, 1).length } as const
    const message = { format: MESSAGE_FORMAT, configuration: 1, body: alive }
    cluster.hand({ from: 1, to: 3, message })
    expect(cluster.network).toEqual([])
    cluster.try(3, 'c')
    cluster.take(() => true)
    cluster.hand({ from: 1, to: 3, message })
    expect(countByType(cluster.network)).toEqual({ 'catch-up-request': 1 })
  })

  it('is told by an owner that restarts', () => {
    const [cluster] = lagging()
    cluster.crash(1)
    cluster.start(1)
    cluster.run(1_000)
    expect(logAt(cluster, 3)).toEqual(logAt(cluster, 1))
    expect(valueAt(cluster, 3)).toBe(3)
  })
})
