/** Traps B1-B11 (there is no B6): what the printed pseudo-code waits for in vain. */
import { describe, expect, it } from 'vitest'
import { Cluster } from './cluster.ts'
import { all, among, bodies, countByType, from, ofType, to } from './matchers.ts'
import {
  appliedAt,
  enter,
  epochOf,
  eventsOf,
  eventTypes,
  exit,
  holder,
  isIn,
  isSealed,
  issue,
  logAt,
  ownerAt,
  protocols,
  replaceOwner,
  replaceOwnerByHand,
  suspectOwner,
  valueAt,
  withdraw,
} from './scenes.ts'

describe.each(protocols)('traps B %s', (_name, protocol) => {
  const createCluster = (participants = 5) => new Cluster(protocol, { participants })

  it('B1 one counts the NEWEP of oneself: with one of three gone, two suffice', () => {
    const cluster = createCluster(3)
    cluster.crash(1)
    replaceOwnerByHand(cluster, 2, [3], 'b')
    expect([2, 3].map(id => epochOf(cluster, id))).toEqual([1, 1])
    expect(isIn(cluster, 2, 'b')).toBe(true)
  })

  it('B1 the NEWEP that started the termination is counted', () => {
    const cluster = createCluster()
    exit(cluster, enter(cluster, 5, 'a'))
    cluster.crash(5)
    cluster.try(4, 'b')
    suspectOwner(cluster, 4, [2, 3])
    cluster.deliver(all(ofType('new-epoch'), from(4), to(1, 2)))
    cluster.crash(4)
    cluster.deliver(all(ofType('new-epoch'), from(2), to(1)))
    expect(bodies(cluster.network.filter(from(1)), 'prepare')).toHaveLength(4)
  })

  it('B2 suspicion alone starts the termination, without anybody else speaking first', () => {
    const cluster = createCluster(3)
    cluster.crash(1)
    cluster.try(2, 'b')
    cluster.run(10_000)
    expect(isIn(cluster, 2, 'b')).toBe(true)
  })

  it('B2 a message of the consensus alone starts it, too, and again changes nothing', () => {
    const cluster = createCluster(3)
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3])
    cluster.deliver(all(ofType('new-epoch'), among(2, 3)))
    const [prepare] = cluster.take(all(ofType('prepare'), to(1)))
    expect(isSealed(cluster, 1)).toBe(false)
    cluster.hand(prepare!)
    expect(isSealed(cluster, 1)).toBe(true)
    expect(countByType(cluster.network.filter(from(1)))).toEqual({ 'new-epoch': 2, promise: 1 })
    cluster.hand(prepare!)
    expect(countByType(cluster.network.filter(from(1)))).toEqual({ 'new-epoch': 2, promise: 2 })
  })

  it('B2 a new epoch with the same silent owner is suspected again', () => {
    const cluster = createCluster(3)
    exit(cluster, enter(cluster, 2, 'a'))
    cluster.try(3, 'c')
    cluster.try(1, 'b')
    cluster.take(ofType('request'))
    suspectOwner(cluster, 1, [3])
    // Owner and proposer keep the owner among themselves; participant 3 learns of it only from the decision.
    cluster.take(all(ofType('new-epoch'), to(3)))
    const consensus = ofType('new-epoch', 'prepare', 'promise', 'accept', 'accepted', 'decision')
    cluster.deliver(all(among(1, 2), consensus))
    withdraw(cluster, 1, 'b')
    cluster.deliver(all(ofType('decision'), to(3)))
    cluster.take(() => true)
    expect([epochOf(cluster, 3), ownerAt(cluster, 3)]).toEqual([1, 2])
    cluster.crash(2)
    cluster.run(20_000)
    expect(isIn(cluster, 3, 'c')).toBe(true)
  })

  it('B3 a request that counts as granted but was never delivered is asked again under a new number', () => {
    const cluster = createCluster()
    const first = enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    cluster.deliver()
    cluster.isolate(2)
    exit(cluster, first)
    cluster.deliver()
    cluster.crash(1)
    const third = replaceOwner(cluster, [2], 3, 'c')
    expect(logAt(cluster, 3).filter(entry => entry.kind === 'grant' && entry.to === 2)).toHaveLength(1)
    cluster.reconnect(2)
    cluster.run(6_000)
    expect(epochOf(cluster, 2)).toBe(1)
    expect(cluster.state(3).soft.requests).toEqual([{ participant: 2, requestId: 2 }])
    exit(cluster, third)
    cluster.run(6_000)
    expect(isIn(cluster, 2, 'b')).toBe(true)
  })

  it('B4 a stub that becomes the owner and is idle passes the token on in that very step', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a')
    cluster.try(5, 'c')
    cluster.deliver(among(2, 3, 4, 5))
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    withdraw(cluster, 2, 'b')
    cluster.deliver(all(among(2, 3, 4), ofType('new-epoch', 'prepare', 'promise', 'accept')))
    const accepted = cluster.take(all(ofType('accepted'), to(2)))
    for (const sent of accepted) cluster.hand(sent)
    expect(epochOf(cluster, 2)).toBe(1)
    expect(ownerAt(cluster, 2)).toBe(5)
    expect(bodies(cluster.network.filter(all(from(2), to(5))), 'invoke')).toHaveLength(1)
  })

  it('B4 an owner whose user is ejected by an operator passes the token on in that very step', () => {
    const cluster = createCluster(3)
    enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    cluster.deliver()
    cluster.user(1, { type: 'eject', request: 'now' })
    expect(ownerAt(cluster, 1)).toBe(2)
  })

  it('B4 an owner that ran out of room while it was cut off passes the token on once it is back', () => {
    const cluster = new Cluster(protocol, { participants: 5, limits: { uncommitted: 3 } })
    cluster.isolate(1)
    for (const user of ['a', 'b', 'c']) exit(cluster, enter(cluster, 1, user))
    cluster.run(30_000)
    cluster.reconnect(1)
    cluster.try(2, 'waits', { ttlMs: 600_000 })
    cluster.run(60_000)
    expect(isIn(cluster, 2, 'waits')).toBe(true)
  })

  it('B5 an entry behind a gap is not dropped for good', () => {
    const cluster = createCluster(3)
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.take(to(3))
    cluster.deliver()
    issue(cluster, by, 'y')
    cluster.deliver()
    expect(logAt(cluster, 3)).toHaveLength(3)
    cluster.run(100)
    expect(appliedAt(cluster, 3)).toEqual(['x', 'y'])
  })

  it('B5 a message of a future epoch is not dropped for good', () => {
    const cluster = createCluster(3)
    replaceOwnerByHand(cluster, 2, [3], 'b')
    const invokes = cluster.network.filter(all(from(2), to(1), ofType('invoke')))
    cluster.take(to(1))
    expect(invokes).toHaveLength(1)
    cluster.hand(invokes[0]!)
    cluster.deliver()
    expect([epochOf(cluster, 1), ownerAt(cluster, 1)]).toEqual([1, 2])
    expect(logAt(cluster, 1)).toEqual(logAt(cluster, 2))
  })

  it('B7 every decided entry counts, not the first alone', () => {
    const cluster = createCluster()
    cluster.try(1, 'a')
    cluster.take(() => true)
    issue(cluster, holder(cluster, 1, 'a'), 'x')
    // Only 1 and 5 have the grant and the operation, and the decision brings both.
    cluster.fire(1, 'repeat')
    cluster.deliver(all(ofType('invoke'), to(5)))
    cluster.take(ofType('invoke', 'invoke-ack'))
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    cluster.deliver(among(1, 2, 3, 4, 5))
    expect(epochOf(cluster, 1)).toBe(1)
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    for (let id = 1; id <= 5; id++) expect(valueAt(cluster, id)).toBe(1)
  })

  it('B8 the new owner is among those whose NEWEP was collected, even if nobody suspects the old one', () => {
    const cluster = createCluster()
    exit(cluster, enter(cluster, 5, 'a'))
    cluster.crash(5)
    cluster.try(4, 'b')
    suspectOwner(cluster, 4, [2, 3])
    // Participant 1 has not watched the owner, and proposes.
    cluster.deliver(all(ofType('new-epoch'), among(1, 2, 4)))
    cluster.deliver(all(ofType('prepare', 'promise', 'accept', 'accepted'), among(1, 2, 4)))
    const [decision] = bodies(cluster.network.filter(from(1)), 'decision')
    expect(decision?.value.owner).toBe(4)
  })

  it('B8 a requester that is not there is skipped', () => {
    const cluster = createCluster()
    enter(cluster, 5, 'a')
    cluster.try(3, 'gone')
    cluster.deliver(among(1, 2, 3, 4))
    cluster.crash(3)
    cluster.crash(5)
    cluster.try(4, 'b')
    cluster.run(12_000)
    expect(isIn(cluster, 4, 'b')).toBe(true)
    expect(epochOf(cluster, 4)).toBe(1)
  })

  it('B9 an incumbent that is there is kept, with its user', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    cluster.deliver()
    expect([1, 2, 3, 4, 5].map(id => [epochOf(cluster, id), ownerAt(cluster, id)])).toEqual(
      Array.from({ length: 5 }, () => [1, 1]),
    )
    expect(isIn(cluster, 1, 'a')).toBe(true)
    issue(cluster, by, 'x')
    cluster.deliver()
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
  })

  it('B10 a participant that can send but not receive stops nobody', () => {
    const cluster = createCluster(3)
    const by = enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.lose(to(3))
    cluster.try(3, 'deaf')
    cluster.run(60_000)
    expect([1, 2].map(id => [epochOf(cluster, id), isSealed(cluster, id)])).toEqual([
      [0, false],
      [0, false],
    ])
    expect(eventTypes(cluster, 1)).not.toContain('ejected')
    issue(cluster, by, 'x')
    cluster.deliver()
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
  })

  it('B10 a peer that hears the owner passes the request on to it, and the grant back', () => {
    const cluster = createCluster(3)
    const by = enter(cluster, 1, 'a')
    cluster.lose(among(1, 3))
    cluster.try(3, 'c')
    cluster.run(5_000)
    expect(cluster.state(1).soft.requests).toEqual([{ participant: 3, requestId: 1 }])
    expect(epochOf(cluster, 1)).toBe(0)
    exit(cluster, by)
    cluster.run(10_000)
    expect(holder(cluster, 3, 'c')).toMatchObject({ epoch: 0, sequence: 2 })
  })

  it('B10 a sealed participant never unseals without the decision, whatever it hears of its epoch', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    cluster.fire(2, 'heartbeat')
    suspectOwner(cluster, 2, [3, 4])
    cluster.isolate(2)
    issue(cluster, by, 'x')
    cluster.deliver()
    cluster.reconnect(2)
    cluster.lose(all(from(2), ofType('new-epoch')))
    cluster.fire(2, 'repeat')
    cluster.fire(1, 'repeat')
    cluster.deliver()
    expect(isSealed(cluster, 2)).toBe(true)
    expect(logAt(cluster, 2)).toHaveLength(1)
  })

  it('B11 the user behind a live stub is gone: its grant ends, and the next one enters', () => {
    const cluster = createCluster(3)
    const by = enter(cluster, 1, 'a', { ttlMs: 5_000 })
    cluster.try(2, 'b')
    cluster.run(4_000)
    expect(isIn(cluster, 1, 'a')).toBe(true)
    cluster.run(2_000)
    expect(eventsOf(cluster, 1, 'ejected')).toEqual([
      { type: 'ejected', user: 'a', fence: by.fence, reason: 'expired' },
    ])
    expect(isIn(cluster, 2, 'b')).toBe(true)
  })
})
