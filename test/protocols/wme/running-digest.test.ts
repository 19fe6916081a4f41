/**
 * Two logs that differ are noticed when they meet, by the participant that first meets the other's, before
 * anything is acknowledged or committed. Here storage gives back something else than was written, which no
 * protocol can prevent and each must notice.
 */
import { describe, expect, it } from 'vitest'
import { EMPTY_LOG, UNDIGESTED } from '../../../shared/protocols/running-digest.ts'
import { ProtocolDefect } from '../../../shared/protocols/step.ts'
import type { Entry, LogBase } from '../../../shared/protocols/wme/state.ts'
import { Cluster, type ClusterOptions } from './cluster.ts'
import { all, among, bodies, from, ofType, to } from './matchers.ts'
import { enter, eventsOf, exit, issue, logAt, protocols, replaceOwner, valueAt } from './scenes.ts'

describe.each(protocols)('the running digest %s', (name, protocol) => {
  const createCluster = (options: Partial<ClusterOptions> = {}) =>
    new Cluster(protocol, { participants: 3, checkRecovery: true, ...options })

  /**
   * The participant restarts with a log in which everything from this entry on is different, but consistent
   * with itself.
   */
  function corrupt(cluster: Cluster, participant: number, sequence: number): void {
    const storage = cluster.storage(participant)
    for (const [key, value] of storage) {
      if (!key.startsWith('log/') || Number(key.slice(4)) < sequence) continue
      storage.set(key, { ...(value as object), digest: `another ${key}` })
    }
    cluster.crash(participant)
    cluster.start(participant)
  }

  it('an acknowledgement of another log stops the owner before it commits', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.run(100)
    corrupt(cluster, 2, 1)
    cluster.isolate(3)
    issue(cluster, by, 'x')
    const [ack] = acknowledgementsOfAnotherLog(cluster)
    expect(() => cluster.hand(ack!)).toThrow(ProtocolDefect)
    expect(eventsOf(cluster, 1, 'outcome')).toEqual([])
  })

  /** Participant 2 holds as many entries as the owner, but different ones. */
  function acknowledgementsOfAnotherLog(cluster: Cluster) {
    const sent = cluster.take(all(ofType('invoke'), to(2)))
    const length = logAt(cluster, 1).at(-1)!.sequence
    const body = { type: 'invoke-ack', epoch: 0, length, digest: 'another' } as const
    return sent.map(({ message }) => ({ from: 2, to: 1, message: { ...message, body } }))
  }

  it('an entry that follows another log stops its receiver before it acknowledges', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.run(100)
    corrupt(cluster, 2, 1)
    issue(cluster, by, 'x')
    expect(() => cluster.deliver(all(ofType('invoke'), to(2)))).toThrow(ProtocolDefect)
    expect(bodies(cluster.network.filter(from(2)), 'invoke-ack')).toEqual([])
    expect(logAt(cluster, 2)).toHaveLength(1)
  })

  it('an entry that was changed on its way stops its receiver', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    const [sent] = cluster.take(all(ofType('invoke'), to(2)))
    const { body } = sent!.message
    if (body.type !== 'invoke') throw new Error('not an invoke')
    const entries = body.entries.map(entry => ({ ...entry, operation: [{ increment: 'm' }] }) as Entry)
    const changed = { ...sent!, message: { ...sent!.message, body: { ...body, entries } } }
    expect(() => cluster.hand(changed)).toThrow(ProtocolDefect)
  })

  it('an acknowledgement that came before its entry is compared once that is here', () => {
    const cluster = createCluster({ participants: 5 })
    const by = enter(cluster, 1, 'a')
    cluster.run(100)
    issue(cluster, by, 'x')
    const [entry] = cluster.take(all(ofType('invoke'), to(3)))
    const body = { type: 'invoke-ack', epoch: 0, length: 2, digest: 'another' } as const
    const early = { from: 2, to: 3, message: { ...entry!.message, body } }
    cluster.hand(early)
    if (name === 'wme-1') expect(() => cluster.hand(entry!)).toThrow(ProtocolDefect)
    expect(eventsOf(cluster, 3, 'applied')).toEqual([])
  })

  it('two ends of an epoch that differ stop the participant that collects them', () => {
    const cluster = createCluster({ participants: 5 })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.run(100)
    corrupt(cluster, 3, 2)
    cluster.isolate(1)
    cluster.try(2, 'b')
    expect(() => cluster.run(12_000)).toThrow(ProtocolDefect)
    expect(cluster.emitted.filter(({ event }) => event.type === 'ejected')).toEqual([])
  })

  it('a catch-up from another log is not taken', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.run(100)
    cluster.isolate(3)
    issue(cluster, by, 'y')
    cluster.deliver()
    issue(cluster, by, 'z')
    cluster.deliver()
    corrupt(cluster, 3, 1)
    cluster.reconnect(3)
    expect(() => cluster.run(6_000)).toThrow(ProtocolDefect)
    expect(valueAt(cluster, 3)).toBe(1)
  })

  it('it goes on over truncation, snapshots, epochs and restarts: equal logs never stop anybody', () => {
    const cluster = createCluster({ participants: 5, limits: { logKept: 3 } })
    let by = enter(cluster, 1, 'a')
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 6; i++) {
        issue(cluster, by, `op ${round} ${i}`)
        cluster.deliver()
      }
      for (const id of [1, 2, 3, 4, 5]) {
        cluster.crash(id)
        cluster.start(id)
      }
      const before = by.participant
      const next = (before % 5) + 1
      if (round % 2 === 0) by = replaceOwner(cluster, [before], next, `u${round}`)
      else {
        exit(cluster, by)
        by = enter(cluster, next, `u${round}`)
      }
      cluster.reconnect(before)
      cluster.run(2_000)
    }
    issue(cluster, by, 'last')
    cluster.run(6_000)
    const digestOf = (id: number) => logAt(cluster, id).at(-1)!.digest
    expect([2, 3, 4, 5].map(digestOf)).toEqual([1, 1, 1, 1].map(digestOf))
    expect((cluster.storage(1).get('base') as unknown as LogBase).digest).not.toBe('')
  })
})

describe.each(protocols)('a log that is older than digests %s', (_, protocol) => {
  /** All stop, and their storage becomes that of a version without digests. */
  function forgetDigests(cluster: Cluster): void {
    for (const id of cluster.everybody) {
      cluster.crash(id)
      const storage = cluster.storage(id)
      for (const [key, value] of storage) {
        const place = key === 'base' ? (value as unknown as LogBase).sequence : 1
        if (key === 'base' || key.startsWith('log/'))
          storage.set(key, { ...(value as object), digest: place === 0 ? EMPTY_LOG : UNDIGESTED })
      }
    }
    cluster.take(() => true)
    for (const id of cluster.everybody) cluster.start(id)
  }

  const digestAt = (cluster: Cluster, id: number, sequence: number) =>
    logAt(cluster, id).find(entry => entry.sequence === sequence)!.digest

  it('stops nobody, whatever part of it each participant has', () => {
    const cluster = new Cluster(protocol, { participants: 3, limits: { logKept: 4 }, checkRecovery: true })
    let by = enter(cluster, 1, 'a')
    issue(cluster, by, 'early')
    cluster.run(1_000)
    cluster.isolate(3)
    for (let i = 0; i < 12; i++) {
      issue(cluster, by, `op ${i}`)
      cluster.deliver(among(1, 2))
    }
    exit(cluster, by)
    forgetDigests(cluster)
    cluster.reconnect(3)
    by = enter(cluster, 2, 'b')
    issue(cluster, by, 'late')
    cluster.run(6_000)
    expect([1, 2, 3].map(id => valueAt(cluster, id))).toEqual([14, 14, 14])
    by = replaceOwner(cluster, [2], 3, 'c')
    issue(cluster, by, 'later')
    cluster.reconnect(2)
    cluster.run(6_000)
    expect([1, 2, 3].map(id => valueAt(cluster, id))).toEqual([15, 15, 15])
  })

  it('reaches a participant that has nothing of it, entry by entry', () => {
    const cluster = new Cluster(protocol, { participants: 3, checkRecovery: true })
    cluster.isolate(3)
    const by = enter(cluster, 1, 'a')
    for (const opId of ['x', 'y']) {
      issue(cluster, by, opId)
      cluster.deliver(among(1, 2))
    }
    expect(logAt(cluster, 3)).toEqual([])
    forgetDigests(cluster)
    cluster.reconnect(3)
    issue(cluster, by, 'z')
    cluster.run(6_000)
    expect(valueAt(cluster, 3)).toBe(3)
    expect(digestAt(cluster, 3, 1)).toBe(UNDIGESTED)
  })

  it('has digests from its first new entry on, which notice a difference', () => {
    const cluster = new Cluster(protocol, { participants: 3, checkRecovery: true })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.run(1_000)
    forgetDigests(cluster)
    issue(cluster, by, 'y')
    cluster.run(1_000)
    const last = logAt(cluster, 1).at(-1)!.sequence
    expect(digestAt(cluster, 1, last)).not.toBe(UNDIGESTED)
    expect([2, 3].map(id => digestAt(cluster, id, last))).toEqual(
      [1, 1].map(id => digestAt(cluster, id, last)),
    )
    const entry = cluster.storage(2).get(`log/${last}`) as object
    cluster.storage(2).set(`log/${last}`, { ...entry, digest: 'another' })
    cluster.crash(2)
    cluster.start(2)
    issue(cluster, by, 'z')
    expect(() => cluster.run(1_000)).toThrow(ProtocolDefect)
  })
})
