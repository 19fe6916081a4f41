/** Traps A1-A7: what the printed pseudo-code does to tokens, operations and outcomes when an epoch ends. */
import { describe, expect, it } from 'vitest'
import { Cluster } from './cluster.ts'
import { all, among, from, not, ofType, to } from './matchers.ts'
import {
  appliedAt,
  enter,
  epochOf,
  eventsOf,
  eventTypes,
  exit,
  type Holder,
  holder,
  isIn,
  isSealed,
  issue,
  logAt,
  ownerAt,
  phaseAt,
  protocols,
  replaceOwner,
  replaceOwnerByHand,
  suspectOwner,
  valueAt,
} from './scenes.ts'

describe.each(protocols)('traps A1-A7 %s', (_name, protocol) => {
  const createCluster = (participants = 5) => new Cluster(protocol, { participants })

  /** A user at 1 has a pending operation that only 1 and 5 hold, and nobody has applied. */
  function pendingAt1And5(cluster: Cluster): Holder {
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver(all(ofType('invoke'), to(5)))
    cluster.take(() => true)
    expect(appliedAt(cluster, 5)).toEqual([])
    return by
  }

  /** 2, 3 and 5 end the epoch without 1; 4 has agreed, and its NEWEP is lost. */
  function endEpochWith5(cluster: Cluster): void {
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    cluster.deliver(among(2, 3, 5))
    expect(epochOf(cluster, 5)).toBe(1)
  }

  it('A1 an old owner that held the token has none in the new epoch', () => {
    const cluster = createCluster(3)
    replaceOwnerByHand(cluster, 2, [3], 'b')
    cluster.deliver(all(ofType('decision'), to(1)))
    expect(epochOf(cluster, 1)).toBe(1)
    expect(ownerAt(cluster, 1)).toBe(2)
    expect(cluster.try(1, 'a')).toEqual([])
    expect(phaseAt(cluster, 1)).toBe('requesting')
    cluster.deliver()
    expect(isIn(cluster, 2, 'b')).toBe(true)
    expect(isIn(cluster, 1, 'a')).toBe(false)
  })

  it('A1 an old owner in the critical section does not pass a second token on when it is ejected', () => {
    const cluster = createCluster(3)
    enter(cluster, 1, 'a')
    cluster.try(3, 'c')
    cluster.deliver(to(1))
    cluster.take(() => true)
    replaceOwnerByHand(cluster, 2, [3], 'b')
    cluster.deliver(all(ofType('decision'), to(1)))
    expect(eventTypes(cluster, 1)).toContain('ejected')
    expect(cluster.network.filter(all(from(1), ofType('invoke')))).toEqual([])
    expect(ownerAt(cluster, 1)).toBe(2)
  })

  it('A2 an operation that was acknowledged but not yet invoked here is applied with the decision', () => {
    const cluster = createCluster()
    pendingAt1And5(cluster)
    endEpochWith5(cluster)
    expect([2, 3, 5].map(id => appliedAt(cluster, id))).toEqual([['x'], ['x'], ['x']])
    expect([2, 3, 5].map(id => valueAt(cluster, id))).toEqual([1, 1, 1])
  })

  it('A3 an operation that the decision contains is not issued again', () => {
    const cluster = createCluster()
    const by = pendingAt1And5(cluster)
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    cluster.deliver()
    expect(epochOf(cluster, 1)).toBe(1)
    expect(isIn(cluster, 1, 'a')).toBe(true)
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    expect(logAt(cluster, 1).filter(entry => entry.kind === 'operation')).toHaveLength(1)
    issue(cluster, by, 'y')
    cluster.run(1_000)
    for (let id = 1; id <= 5; id++) expect(appliedAt(cluster, id)).toEqual(['x', 'y'])
  })

  it('A3 an operation that the decision does not contain is issued again, and applied once', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    cluster.deliver(all(ofType('new-epoch'), to(1)))
    issue(cluster, by, 'x')
    cluster.run(1_000)
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    for (let id = 1; id <= 5; id++) expect(appliedAt(cluster, id)).toEqual(['x'])
  })

  it('A4 an ejected owner whose operation was decided gets the outcome first, then the ejection', () => {
    const cluster = createCluster()
    const by = pendingAt1And5(cluster)
    endEpochWith5(cluster)
    cluster.deliver(all(ofType('decision'), to(1)))
    expect(eventTypes(cluster, 1)).toEqual(['crit', 'confirmed', 'applied', 'outcome', 'ejected'])
    expect(eventsOf(cluster, 1, 'ejected')).toEqual([
      { type: 'ejected', user: 'a', fence: by.fence, reason: 'suspected' },
    ])
  })

  it('A4 an operation that was reported failed is never applied, by anybody', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    const lateInvokes = cluster.take(ofType('invoke'))
    replaceOwnerByHand(cluster, 2, [3, 4], 'b')
    cluster.deliver()
    expect(eventsOf(cluster, 1, 'ejected')[0]?.pending).toEqual({ opId: 'x', outcome: 'not-applied' })
    for (const invoke of lateInvokes) cluster.hand(invoke)
    cluster.run(10_000)
    for (let id = 1; id <= 5; id++) expect(appliedAt(cluster, id)).toEqual([])
  })

  it('A5 an acknowledgement that comes after the next entry still counts', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a', {})
    exit(cluster, by)
    cluster.try(1, 'b')
    cluster.deliver(ofType('invoke'))
    const forTheGrant = cluster.take(ofType('invoke-ack'))
    issue(cluster, holder(cluster, 1, 'b'), 'x')
    cluster.take(ofType('invoke'))
    expect(eventsOf(cluster, 1, 'confirmed')).toHaveLength(1)
    for (const ack of forTheGrant) cluster.hand(ack)
    expect(eventsOf(cluster, 1, 'confirmed')).toHaveLength(2)
    expect(eventsOf(cluster, 1, 'outcome')).toEqual([])
  })

  it('A5 the next entry proves that the operation before it is committed, if every ACK is lost', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver(ofType('invoke'))
    cluster.take(not(to(1)))
    cluster.deliver()
    cluster.take(ofType('do-invoke'))
    expect(appliedAt(cluster, 4)).toEqual([])
    issue(cluster, by, 'y')
    const [invoke] = cluster.take(to(4))
    const { message } = invoke!
    if (message.body.type !== 'invoke') throw new Error('the entry comes in an invoke')
    // Not even what rides along is needed: an owner that has just restarted may know less than its log
    // proves.
    cluster.hand({ ...invoke!, message: { ...message, body: { ...message.body, committed: 0 } } })
    expect(appliedAt(cluster, 4)).toEqual(['x'])
  })

  it('A6 an outcome answers only the operation that it belongs to', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.isolate(1)
    issue(cluster, by, 'x')
    const second = replaceOwner(cluster, [1], 2, 'b')
    issue(cluster, second, 'y')
    cluster.deliver()
    replaceOwner(cluster, [1, 2], 3, 'c')
    cluster.reconnect(1)
    cluster.run(6_000)
    // Participant 1 learns of two epochs at once, and applies `y` while its own `x` is pending.
    expect(appliedAt(cluster, 1)).toEqual(['y'])
    expect(eventsOf(cluster, 1, 'outcome')).toEqual([])
    expect(eventsOf(cluster, 1, 'ejected')[0]?.pending).toEqual({ opId: 'x', outcome: 'not-applied' })
  })

  it('A6 an operation is answered once, although it is acknowledged by all and said again', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    issue(cluster, by, 'x')
    const messages = cluster.deliver()
    for (const sent of messages) cluster.hand(sent)
    cluster.run(1_000)
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    for (let id = 1; id <= 5; id++) expect(appliedAt(cluster, id)).toEqual(['x'])
  })

  it('A7 exit is answered at once, even while blocked, and no token leaves', () => {
    const cluster = createCluster(3)
    const by = enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3])
    cluster.deliver(all(ofType('new-epoch'), to(1)))
    expect(isSealed(cluster, 1)).toBe(true)
    expect(exit(cluster, by)).toEqual([{ type: 'rem', user: 'a', fence: by.fence }])
    expect(cluster.network.filter(ofType('invoke'))).toEqual([])
    cluster.deliver()
    expect(eventTypes(cluster, 1)).not.toContain('ejected')
    expect(isIn(cluster, 2, 'b')).toBe(true)
    const inEpoch1 = logAt(cluster, 2).filter(entry => entry.epoch === 1)
    expect(inEpoch1.map(entry => entry.kind === 'grant' && entry.to)).toEqual([2])
  })

  it('A7 events of a grant that is over are answered, not run', () => {
    const cluster = createCluster(3)
    const old = enter(cluster, 1, 'a')
    replaceOwnerByHand(cluster, 2, [3], 'b')
    cluster.deliver()
    exit(cluster, holder(cluster, 2, 'b'))
    const next = enter(cluster, 1, 'next')
    // The old user, which has not heard of its ejection, goes on.
    const ending = { user: 'a', fence: old.fence, reason: 'suspected' }
    expect(exit(cluster, old)).toMatchObject([{ refusal: { code: 'grant-over', ending } }])
    expect(issue(cluster, old, 'x')).toMatchObject([{ refusal: { code: 'grant-over', ending } }])
    cluster.deliver()
    expect(isIn(cluster, 1, 'next')).toBe(true)
    expect(appliedAt(cluster, 1)).toEqual([])
    // Nor can the new user get in with the old fence.
    expect(exit(cluster, { ...next, fence: old.fence })).toMatchObject([{ type: 'refused' }])
    expect(issue(cluster, { ...next, fence: old.fence }, 'y')).toMatchObject([{ type: 'refused' }])
    expect(phaseAt(cluster, 1)).toBe('cs-idle')
  })
})
