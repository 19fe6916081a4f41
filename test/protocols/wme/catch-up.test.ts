/**
 * Catching up: gaps, epochs that were missed, snapshots, and what is kept for participants that are behind.
 */
import { describe, expect, it } from 'vitest'
import { truncationRun } from '../../../shared/protocols/log-weight.ts'
import { Cluster, type ClusterOptions } from './cluster.ts'
import { all, among, bodies, from, ofType, to } from './matchers.ts'
import {
  appliedAt,
  enter,
  epochOf,
  eventsOf,
  eventTypes,
  exit,
  type Holder,
  holder,
  isSealed,
  issue,
  logAt,
  ownerAt,
  phaseAt,
  protocols,
  replaceOwner,
  suspectOwner,
  valueAt,
} from './scenes.ts'

describe.each(protocols)('catch-up %s', (_name, protocol) => {
  const createCluster = (options: Partial<ClusterOptions> = {}) =>
    new Cluster(protocol, { participants: 3, checkRecovery: true, ...options })

  function issueMany(cluster: Cluster, by: Holder, count: number, name = 'op'): void {
    for (let i = 1; i <= count; i++) {
      issue(cluster, by, `${name} ${i}`)
      cluster.deliver()
    }
  }

  /** The replica, the log as far as it is kept here, and the epoch are those of the other participant. */
  function expectSameAs(cluster: Cluster, participant: number, model: number): void {
    const [here, there] = [cluster.state(participant).durable, cluster.state(model).durable]
    expect(here.replica).toEqual(there.replica)
    expect(here.epoch).toEqual(there.epoch)
    const first = Math.max(here.base.sequence, there.base.sequence)
    expect(here.log.filter(entry => entry.sequence > first)).toEqual(
      there.log.filter(entry => entry.sequence > first),
    )
    const { owner, granted } = cluster.state(model).derived
    expect(cluster.state(participant).derived).toMatchObject({ owner, granted })
  }

  it('a gap that does not fit one message is filled piece by piece', () => {
    const cluster = createCluster({ limits: { entriesPerMessage: 4 } })
    const by = enter(cluster, 1, 'a')
    cluster.isolate(3)
    issueMany(cluster, by, 10)
    cluster.reconnect(3)
    issue(cluster, by, 'last')
    const pieces = bodies(cluster.deliver(), 'catch-up')
    expect(pieces.map(piece => piece.entries.length)).toEqual([4, 4, 3])
    cluster.run(100)
    expectSameAs(cluster, 3, 1)
  })

  /**
   * Participant 5, which has missed the first epoch's end, hears from this one that there is a second epoch.
   */
  function speak(cluster: Cluster, peer: number): void {
    const said = cluster.sent.find(from(peer))!
    const body = { type: 'alive' as const, epoch: 1, length: logAt(cluster, 2).length }
    cluster.hand({ from: peer, to: 5, message: { ...said.message, body } })
  }

  /** These speak before everybody else, in every interval, and hear nothing. */
  it.each([[[4]], [[4, 3]]])('deaf peers (%s) that always speak first do not keep it behind', deaf => {
    const cluster = createCluster({ participants: 7 })
    enter(cluster, 1, 'a')
    replaceOwner(cluster, [1, 5], 2, 'b')
    cluster.reconnect(5)
    cluster.lose(to(...deaf, 1))
    for (let interval = 0; interval < 4 && epochOf(cluster, 5) === 0; interval++) {
      for (const peer of [...deaf, 2]) speak(cluster, peer)
      cluster.deliver(among(2, 5))
      if (epochOf(cluster, 5) === 0) cluster.fire(5, 'repeat')
    }
    expect(epochOf(cluster, 5)).toBe(1)
  })

  it('the only peer that speaks is asked again after it has been passed over', () => {
    const cluster = createCluster({ participants: 5 })
    enter(cluster, 1, 'a')
    replaceOwner(cluster, [1, 5], 2, 'b')
    cluster.reconnect(5)
    cluster.lose(() => true)
    const asked: number[] = []
    for (let interval = 0; interval < 4; interval++) {
      const before = cluster.sent.length
      speak(cluster, 4)
      asked.push(bodies(cluster.sent.slice(before), 'catch-up-request').length)
      cluster.fire(5, 'repeat')
    }
    expect(asked).toEqual([1, 0, 1, 0])
  })

  it('one peer is asked at a time, and another if it does not answer', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.isolate(3)
    issueMany(cluster, by, 2)
    cluster.reconnect(3)
    issue(cluster, by, 'last')
    cluster.deliver(all(ofType('invoke'), to(3)))
    cluster.fire(1, 'repeat')
    cluster.deliver(all(ofType('invoke'), to(3)))
    expect(bodies(cluster.network, 'catch-up-request')).toHaveLength(1)
    cluster.take(() => true)
    cluster.fire(3, 'repeat')
    cluster.fire(1, 'repeat')
    cluster.deliver()
    expect(logAt(cluster, 3)).toEqual(logAt(cluster, 1))
  })

  it('a participant that is behind the kept log gets a snapshot', () => {
    const cluster = createCluster({ limits: { logKept: 3, resultsKept: 5 } })
    const by = enter(cluster, 1, 'a')
    cluster.isolate(3)
    issueMany(cluster, by, 12)
    cluster.reconnect(3)
    issue(cluster, by, 'last')
    cluster.deliver()
    expect(eventsOf(cluster, 3, 'restored')).toHaveLength(1)
    cluster.run(100)
    expectSameAs(cluster, 3, 1)
    // It answers for what it never applied itself, and for what it applies next.
    exit(cluster, by)
    const next = enter(cluster, 3, 'b')
    expect(issue(cluster, next, 'op 12')).toMatchObject([{ type: 'outcome' }])
    issueMany(cluster, next, 1, 'more')
    expect(valueAt(cluster, 3)).toBe(14)
  })

  it('a snapshot of a later epoch is taken together with that epoch', () => {
    const cluster = createCluster({ participants: 5, limits: { logKept: 3 } })
    const by = enter(cluster, 2, 'a')
    cluster.isolate(1)
    issueMany(cluster, by, 9)
    const next = replaceOwner(cluster, [1, 2], 3, 'b')
    issueMany(cluster, next, 1, 'more')
    cluster.reconnect(1)
    cluster.try(1, 'c')
    cluster.run(1_000)
    expect(eventsOf(cluster, 1, 'restored')).toHaveLength(1)
    expectSameAs(cluster, 1, 3)
    exit(cluster, next)
    cluster.deliver()
    expect(holder(cluster, 1, 'c').epoch).toBe(1)
  })

  it('an epoch that was missed is entered in one step, from its entries', () => {
    const cluster = createCluster({ participants: 5 })
    enter(cluster, 2, 'a')
    cluster.isolate(1)
    issueMany(cluster, replaceOwner(cluster, [2], 3, 'b'), 2)
    cluster.reconnect(1)
    cluster.try(1, 'c')
    const before = cluster.emitted.length
    cluster.run(1_000)
    expect(epochOf(cluster, 1)).toBe(1)
    expectSameAs(cluster, 1, 3)
    const meanwhile = cluster.emitted.slice(before).filter(({ participant }) => participant === 1)
    expect(meanwhile.map(({ event }) => event.type)).not.toContain('crit')
    expect(appliedAt(cluster, 1)).toEqual(['op 1', 'op 2'])
  })

  it('a long run of grants does not fit one message, and the sender has just restarted', () => {
    const cluster = createCluster({ participants: 5, limits: { entriesPerMessage: 4 } })
    cluster.isolate(1)
    cluster.try(1, 'waits')
    const first = replaceOwner(cluster, [1], 2, 'a')
    exit(cluster, first)
    for (let i = 0; i < 8; i++) exit(cluster, enter(cluster, 2, `u${i}`))
    replaceOwner(cluster, [2], 3, 'b')
    for (const id of [3, 4, 5]) {
      cluster.crash(id)
      cluster.start(id)
    }
    cluster.reconnect(1)
    cluster.run(6_000)
    expect(epochOf(cluster, 1)).toBe(2)
    expectSameAs(cluster, 1, 3)
  })

  it('a proposer that lacks what it has decided asks another participant for it', () => {
    const cluster = createCluster({ participants: 5 })
    const by = enter(cluster, 5, 'a')
    cluster.isolate(1)
    issueMany(cluster, by, 3)
    cluster.run(100)
    cluster.crash(5)
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    cluster.reconnect(1)
    cluster.fire(2, 'repeat')
    cluster.deliver(all(ofType('new-epoch'), among(1, 2, 3)))
    // Another one should propose, but nothing is heard of it for a while.
    expect(bodies(cluster.network.filter(from(1)), 'prepare')).toEqual([])
    cluster.take(ofType('prepare'))
    cluster.fire(1, 'propose')
    expect(bodies(cluster.network.filter(from(1)), 'prepare')).toHaveLength(4)
    cluster.deliver(among(1, 2, 3, 4))
    cluster.run(1_000)
    expect(epochOf(cluster, 1)).toBe(1)
    expectSameAs(cluster, 1, 2)
  })

  it('a user whose grant is to be confirmed is not let in by a catch-up that took the token away', () => {
    const cluster = createCluster({ participants: 5 })
    cluster.try(2, 'a', { confirm: true })
    cluster.deliver(all(ofType('request'), to(1)))
    cluster.deliver(all(ofType('invoke'), to(2)))
    expect(phaseAt(cluster, 2)).toBe('entering')
    issueMany(cluster, replaceOwner(cluster, [1, 2], 3, 'b'), 2)
    cluster.reconnect(1)
    replaceOwner(cluster, [2, 3], 4, 'c')
    cluster.reconnect(2)
    cluster.run(6_000)
    expect(epochOf(cluster, 2)).toBe(2)
    expect(eventTypes(cluster, 2).filter(type => type !== 'applied')).toEqual([])
    expect(phaseAt(cluster, 2)).toBe('requesting')
  })

  it('a grant that was rolled back is not reported as confirmed', () => {
    const cluster = createCluster({ participants: 5 })
    cluster.try(2, 'a', { ttlMs: 600_000 })
    cluster.deliver(all(ofType('request'), to(1)))
    cluster.deliver(all(ofType('invoke'), to(2)))
    cluster.take(() => true)
    issue(cluster, holder(cluster, 2, 'a'), 'x')
    issueMany(cluster, replaceOwner(cluster, [1, 2], 3, 'b'), 2)
    cluster.reconnect(1)
    replaceOwner(cluster, [2, 3], 4, 'c')
    cluster.reconnect(2)
    cluster.run(6_000)
    expect(eventTypes(cluster, 2).filter(type => type !== 'applied')).toEqual(['crit', 'ejected'])
  })

  it('a late snapshot does not take away what was acknowledged since', () => {
    const cluster = createCluster({ participants: 5, limits: { logKept: 3 } })
    const by = enter(cluster, 1, 'a')
    cluster.isolate(3)
    issueMany(cluster, by, 11)
    exit(cluster, by)
    const next = enter(cluster, 1, 'b')
    cluster.reconnect(3)
    // It asks for a snapshot whose last page is late; it starts anew and gets it from another participant, in
    // time.
    const ask = (peer: number) => {
      const body = { type: 'do-invoke', epoch: 0, committed: 13, digest: '' } as const
      cluster.hand({ from: peer, to: 3, message: { format: 1, configuration: 1, body } })
      cluster.deliver(ofType('catch-up-request', 'snapshot-offer', 'snapshot-request'))
      return cluster.take(ofType('snapshot-page'))[0]!
    }
    const late = ask(1)
    const asked = cluster.state(3).soft.incoming
    cluster.crash(3)
    cluster.start(3)
    cluster.hand(ask(2))
    cluster.deliver(among(2, 3))
    issue(cluster, next, 'x')
    cluster.deliver(among(1, 3, 4))
    expect(eventsOf(cluster, 1, 'outcome').at(-1)?.opId).toBe('x')
    cluster.hand(late)
    expect(logAt(cluster, 3).at(-1)).toMatchObject({ sequence: 14, opId: 'x' })
    cluster.state(3).soft.incoming = asked
    cluster.hand(late)
    expect(cluster.state(3).soft.incoming).toBeNull()
    expect(logAt(cluster, 3).at(-1)).toMatchObject({ sequence: 14, opId: 'x' })
  })

  it('the log that is kept is bounded, while a participant is gone and while nobody is', () => {
    const logKept = 8
    const cluster = createCluster({ limits: { logKept } })
    const by = enter(cluster, 1, 'a')
    cluster.isolate(3)
    for (let i = 1; i <= 60; i++) {
      issueMany(cluster, by, 1, `op ${i}`)
      for (const id of [1, 2]) {
        expect(logAt(cluster, id).length).toBeLessThanOrEqual(logKept + truncationRun(logKept) + 1)
      }
    }
    const stored = [...cluster.storage(1).keys()].filter(key => key.startsWith('log/'))
    expect(stored).toHaveLength(logAt(cluster, 1).length)
    cluster.crash(1)
    cluster.start(1)
    expect([ownerAt(cluster, 1), valueAt(cluster, 1)]).toEqual([1, 60])
  })

  it('a catch-up of an old epoch, or of this one while sealed, is not taken', () => {
    const cluster = createCluster({ participants: 5 })
    const by = enter(cluster, 1, 'a')
    cluster.take(() => true)
    cluster.isolate(5)
    issueMany(cluster, by, 2)
    cluster.reconnect(5)
    issue(cluster, by, 'last')
    cluster.deliver(all(ofType('invoke'), to(5)))
    cluster.deliver(ofType('catch-up-request'))
    const [late] = cluster.take(ofType('catch-up'))
    cluster.take(() => true)
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    cluster.deliver(all(ofType('new-epoch'), to(5)))
    expect(isSealed(cluster, 5)).toBe(true)
    const before = logAt(cluster, 5).length
    cluster.hand(late!)
    expect([isSealed(cluster, 5), logAt(cluster, 5).length]).toEqual([true, before])
    cluster.run(6_000)
    expect(epochOf(cluster, 5)).toBe(1)
    const after = logAt(cluster, 5)
    cluster.hand(late!)
    expect([epochOf(cluster, 5), logAt(cluster, 5)]).toEqual([1, after])
  })
})
