/** Defects that the simulator or a test found in the core, each reproduced by hand so that it stays found. */
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../shared/protocols/wme/log.ts'
import { Cluster } from './cluster.ts'
import { all, among, from, not, ofType, to } from './matchers.ts'
import {
  enter,
  epochOf,
  eventsOf,
  exit,
  holder,
  issue,
  ownerAt,
  phaseAt,
  protocols,
  suspectOwner,
} from './scenes.ts'

describe.each(protocols)('regressions %s', (_, protocol) => {
  it('a proposer that lacks what precedes the decision does not ask itself for it', () => {
    const cluster = new Cluster(protocol, { participants: 5 })
    const holder = enter(cluster, 5, 'five')
    // Participant 1 misses two operations that the others commit.
    for (const opId of ['first', 'second']) {
      issue(cluster, holder, opId)
      cluster.deliver(not(to(1)))
      if (cluster.hasTimer(5, 'flush')) cluster.fire(5, 'flush')
      cluster.deliver(not(to(1)))
    }
    cluster.take(to(1))
    cluster.crash(5)
    cluster.try(2, 'two')
    cluster.unreachable(2, 5)
    cluster.take(to(1))
    cluster.deliver()
    for (const peer of [3, 4]) cluster.unreachable(peer, 5)
    // Now 2 seals, and 1 hears of it. It hears nothing of the one that should propose, so it does.
    cluster.deliver(not(ofType('prepare')))
    cluster.take(ofType('prepare'))
    cluster.fire(1, 'propose')
    const sent = cluster.deliver()
    expect(sent.some(({ from, message }) => from === 1 && message.body.type === 'prepare')).toBe(true)
    expect(sent.filter(message => message.from === message.to)).toEqual([])
    cluster.run(20_000)
    for (const participant of [1, 2, 3, 4]) {
      expect(cluster.state(participant).durable.epoch.epoch).toBe(1)
      expect(cluster.state(participant).durable.replica.order).toEqual(['first', 'second'])
    }
  })

  it('a user whose grant is not confirmed is not let in only to be ejected', () => {
    const cluster = new Cluster(protocol, { participants: 5 })
    cluster.try(2, 'two', { confirm: true })
    cluster.deliver(ofType('request'))
    // The grant reaches all, but its acknowledgements do not reach the new owner.
    cluster.deliver(ofType('invoke'))
    cluster.take(to(2))
    expect(cluster.state(2).durable.stub.phase).toBe('entering')
    // The others find it silent and go on; their decision contains the grant, but gives the token to 3.
    cluster.try(3, 'three')
    for (const participant of [3, 1, 4, 5]) cluster.unreachable(participant, 2)
    cluster.deliver(among(1, 3, 4, 5))
    for (const participant of [1, 4, 5])
      if (cluster.hasTimer(participant, 'suspect')) cluster.fire(participant, 'suspect')
    cluster.deliver(among(1, 3, 4, 5))
    expect(eventsOf(cluster, 3, 'crit')).toHaveLength(1)
    cluster.deliver(all(ofType('decision'), to(2)))
    expect(cluster.state(2).durable.epoch.epoch).toBe(1)
    expect(cluster.state(2).durable.stub.phase).toBe('requesting')
    expect(eventsOf(cluster, 2, 'crit')).toEqual([])
    expect(eventsOf(cluster, 2, 'ejected')).toEqual([])
  })

  it('a late snapshot takes back nothing that was acknowledged since', () => {
    const limits = { logKept: 2, entriesPerMessage: 1 }
    const cluster = new Cluster(protocol, { participants: 5, limits })
    const holder = enter(cluster, 1, 'writer')
    for (let count = 1; count <= 8; count++) {
      issue(cluster, holder, `op-${count}`)
      cluster.deliver()
    }
    exit(cluster, holder)
    cluster.deliver()
    // Three grants leave before the first of them is acknowledged. Participant 5 holds all three and does not
    // know that any is committed; the owner learns it of the first. Its snapshot and the one entry that fits
    // end before the third.
    const enterAndExit = (user: string) => {
      cluster.try(1, user)
      exit(cluster, { ...holder, user, fence: cluster.state(1).durable.stub.grant!.fence })
    }
    enterAndExit('first')
    const first = cluster.take(ofType('invoke'))
    enterAndExit('second')
    enterAndExit('third')
    for (const sent of first) cluster.hand(sent)
    cluster.deliver(all(ofType('invoke'), to(5)))
    cluster.deliver(all(ofType('invoke-ack'), from(2, 3), to(1)))
    cluster.hand({
      from: 5,
      to: 1,
      message: {
        format: 1,
        configuration: 1,
        body: { type: 'catch-up-request', epoch: 0, length: 1, committed: 1 },
      },
    })
    const held = lengthOf(cluster.state(5).durable)
    const [offer] = cluster.take(all(from(1), to(5), ofType('snapshot-offer')))
    cluster.hand(offer!)
    expect(cluster.state(5).soft.incoming).toBeNull()
    // The offer came in time, but the snapshot late.
    const name = 'asked for earlier'
    cluster.state(5).soft.incoming = {
      from: 1,
      name,
      series: null,
      number: 0,
      cells: {},
      results: [],
      tries: 0,
      givenUp: 0,
    }
    const body = { type: 'snapshot-request', name, number: 0, series: null } as const
    cluster.hand({ from: 5, to: 1, message: { format: 1, configuration: 1, body } })
    const [page] = cluster.take(all(from(1), to(5), ofType('snapshot-page')))
    cluster.hand(page!)
    expect(cluster.state(5).soft.incoming).toBeNull()
    expect(lengthOf(cluster.state(5).durable)).toBe(held)
  })

  it('acknowledgements that came before the entry count once it is there, also through a catch-up', () => {
    const cluster = new Cluster(protocol, { participants: 5 })
    cluster.try(2, 'two', { confirm: true })
    cluster.deliver(ofType('request'))
    // The grant reaches all but its grantee, which hears their acknowledgements first.
    const lost = cluster.take(all(ofType('invoke'), to(2)))
    expect(lost).toHaveLength(1)
    cluster.deliver(ofType('invoke'))
    cluster.deliver(all(ofType('invoke-ack'), to(2)))
    cluster.fire(2, 'heartbeat')
    cluster.deliver(ofType('ping', 'alive', 'catch-up-request'))
    const [catchUp] = cluster.take(ofType('catch-up'))
    cluster.crash(1)
    cluster.hand(catchUp!)
    expect(eventsOf(cluster, 2, 'crit')).toHaveLength(1)
  })

  it('a user that waits for the confirmation is let in when a snapshot brings it', () => {
    const limits = { logKept: 0, logWeight: 1 }
    const cluster = new Cluster(protocol, { participants: 5, checkRecovery: true, limits })
    cluster.try(2, 'two', { confirm: true })
    cluster.deliver(ofType('request'))
    // A majority holds the grant, and its grantee does not hear of that.
    cluster.deliver(ofType('invoke'))
    cluster.take(() => true)
    expect(phaseAt(cluster, 2)).toBe('entering')
    // The epoch ends, the grantee stays the owner, and it misses the decision. The others keep nothing of the
    // log.
    cluster.try(3, 'three')
    suspectOwner(cluster, 3, [1, 4])
    cluster.lose(all(ofType('decision'), to(2)))
    cluster.deliver()
    expect(epochOf(cluster, 1)).toBe(1)
    expect(ownerAt(cluster, 1)).toBe(2)
    cluster.run(2_000)
    expect(epochOf(cluster, 2)).toBe(1)
    expect(eventsOf(cluster, 2, 'restored')).toHaveLength(1)
    expect(eventsOf(cluster, 2, 'crit')).toMatchObject([{ user: 'two', confirmed: true }])
    exit(cluster, holder(cluster, 2, 'two'))
    cluster.run(2_000)
    expect(eventsOf(cluster, 3, 'crit')).toMatchObject([{ user: 'three' }])
  })
})
