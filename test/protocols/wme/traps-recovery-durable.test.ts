/**
 * W1 to W8: what must be written before what is said. A participant stops at any effect of a step
 * and comes back with only what it wrote.
 */
import { describe, expect, it } from 'vitest'
import type { StubRecord } from '../../../shared/protocols/wme/state.ts'
import { Cluster } from './cluster.ts'
import { all, among, bodies, from, ofType, to } from './matchers.ts'
import {
  appliedAt,
  enter,
  epochOf,
  eventsOf,
  exit,
  type Holder,
  holder,
  INCREMENT,
  isIn,
  isSealed,
  issue,
  logAt,
  ownerAt,
  phaseAt,
  protocols,
  suspectOwner,
  valueAt,
} from './scenes.ts'

const consensus = ofType('new-epoch', 'prepare', 'promise', 'accept', 'accepted')

describe.each(protocols)('durable %s', (_name, protocol) => {
  const createCluster = (participants = 3) => new Cluster(protocol, { participants })

  function restart(cluster: Cluster, participant: number): void {
    cluster.crash(participant)
    cluster.start(participant)
  }

  const stubOf = (cluster: Cluster, participant: number) =>
    cluster.storage(participant).get('stub') as unknown as StubRecord

  it('W1 before REQUEST: the request id', () => {
    const cluster = createCluster()
    cluster.try(2, 'b')
    const [request] = bodies(cluster.network, 'request')
    expect(stubOf(cluster, 2).requestId).toBe(request?.requestId)
    restart(cluster, 2)
    cluster.take(() => true)
    cluster.fire(2, 'repeat')
    cluster.deliver()
    expect(isIn(cluster, 2, 'b')).toBe(true)
    expect(stubOf(cluster, 2).requestId).toBe(1)
  })

  it('W2 before GRANTED: the entry', () => {
    const cluster = createCluster()
    cluster.try(2, 'b')
    cluster.deliver(all(ofType('request'), to(1)))
    const [granted] = bodies(cluster.network, 'invoke')
    restart(cluster, 1)
    expect(logAt(cluster, 1)).toEqual(granted?.entries)
  })

  it('W2 before INVOKE: the entry, the state of the stub and the pending operation', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    const [invoke] = bodies(cluster.network, 'invoke')
    cluster.take(() => true)
    restart(cluster, 1)
    expect(logAt(cluster, 1).at(-1)).toEqual(invoke?.entries[0])
    const pendingOperation = { opId: 'x', operation: INCREMENT, sequence: 2 }
    expect(cluster.state(1).durable.stub).toMatchObject({ phase: 'cs-issuing', pendingOperation })
    cluster.run(1_000)
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    expect(valueAt(cluster, 2)).toBe(1)
  })

  it('W3 before ACK: the log up to it', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver(all(ofType('invoke'), to(3)))
    expect(bodies(cluster.network.filter(from(3)), 'invoke-ack').length).toBeGreaterThan(0)
    restart(cluster, 3)
    expect(logAt(cluster, 3)).toEqual(logAt(cluster, 1))
  })

  it('W4 before NEWEP: the seal; after it no ACK and no append in that epoch', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3])
    cluster.take(() => true)
    restart(cluster, 2)
    expect(isSealed(cluster, 2)).toBe(true)
    expect(bodies(cluster.network, 'new-epoch')).toHaveLength(2)
    cluster.take(() => true)
    issue(cluster, by, 'x')
    cluster.deliver(all(ofType('invoke'), to(2)))
    expect(logAt(cluster, 2)).toHaveLength(1)
    expect(cluster.network.filter(all(from(2), ofType('invoke-ack')))).toEqual([])
  })

  /** 2 has sealed and heard enough NEWEPs: its PREPAREs are in flight. */
  function preparing(cluster: Cluster): void {
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    cluster.deliver(all(ofType('new-epoch'), among(2, 3, 4)))
    expect(bodies(cluster.network, 'prepare')).toHaveLength(4)
  }

  it('W5 before promise: the promised ballot', () => {
    const cluster = createCluster(5)
    preparing(cluster)
    cluster.deliver(all(ofType('prepare'), to(3, 4)))
    const promise = bodies(cluster.network.filter(from(4)), 'promise')[0]!
    restart(cluster, 4)
    expect(cluster.state(4).durable.paxos.promised).toBe(promise.ballot)
    const body = { type: 'prepare', epoch: 0, ballot: promise.ballot - 1 } as const
    cluster.take(() => true)
    cluster.hand({ from: 1, to: 4, message: { format: 1, configuration: 1, body } })
    expect(bodies(cluster.network, 'reject')).toHaveLength(1)
    expect(bodies(cluster.network, 'promise')).toEqual([])
  })

  it('W5 before accepted: the ballot and the value', () => {
    const cluster = createCluster(5)
    preparing(cluster)
    cluster.deliver(all(ofType('prepare', 'promise', 'accept'), among(2, 3, 4)))
    const accept = bodies(cluster.network.filter(to(1)), 'accept')[0]!
    expect(bodies(cluster.network.filter(from(4)), 'accepted')).toHaveLength(1)
    restart(cluster, 4)
    const { ballot, value } = accept
    expect(cluster.state(4).durable.paxos.accepted).toEqual({ ballot, value })
  })

  it('W5 before accept: the own ballot and value count as accepted', () => {
    const cluster = createCluster(5)
    preparing(cluster)
    cluster.deliver(all(ofType('prepare', 'promise'), among(2, 3, 4)))
    const { ballot, value } = bodies(cluster.network, 'accept')[0]!
    restart(cluster, 2)
    expect(cluster.state(2).durable.paxos.accepted).toEqual({ ballot, value })
  })

  it('W5 before prepare: the own ballot, so that none is used twice', () => {
    const cluster = createCluster(5)
    preparing(cluster)
    const first = bodies(cluster.network, 'prepare')[0]!.ballot
    cluster.take(() => true)
    restart(cluster, 2)
    for (const id of [3, 4]) cluster.fire(id, 'repeat')
    cluster.deliver(all(ofType('new-epoch'), among(2, 3, 4)))
    const second = bodies(cluster.network.filter(from(2)), 'prepare')[0]!.ballot
    expect(second).toBeGreaterThan(first)
  })

  /**
   * 2 is about to decide, with an operation of 1 that 5 holds. Returns the user at 1 that will be ejected.
   */
  function aboutToDecide(cluster: Cluster): Holder {
    const by = enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    cluster.deliver(
      all(consensus, among(2, 3, 4), sent => sent.to !== 2 || sent.message.body.type !== 'accepted'),
    )
    cluster.deliver(all(ofType('accepted'), from(3), to(2)))
    expect(epochOf(cluster, 2)).toBe(0)
    return by
  }

  it('W6 before anything of the next epoch: the decision and the whole transition', () => {
    const cluster = createCluster(5)
    aboutToDecide(cluster)
    cluster.crashDuringNextStep(2, 1)
    cluster.deliver(all(ofType('accepted'), from(4), to(2)))
    cluster.start(2)
    expect([epochOf(cluster, 2), isSealed(cluster, 2), ownerAt(cluster, 2)]).toEqual([1, false, 2])
    expect(cluster.storage(2).has('paxos')).toBe(false)
    expect(isIn(cluster, 2, 'b')).toBe(true)
    // The user was not told. It asks again, and is.
    expect(cluster.try(2, 'b')).toMatchObject([{ type: 'crit', user: 'b', epoch: 1 }])
  })

  it('W6 before anything of the next epoch: that what was rolled back is gone', () => {
    const cluster = createCluster(5)
    exit(cluster, enter(cluster, 1, 'a'))
    cluster.isolate(1)
    for (const user of ['b', 'c', 'd']) exit(cluster, enter(cluster, 1, user))
    expect(logAt(cluster, 1)).toHaveLength(4)
    cluster.try(2, 'e')
    suspectOwner(cluster, 2, [3, 4])
    cluster.reconnect(1)
    cluster.deliver(among(2, 3, 4))
    cluster.deliver(all(ofType('decision'), to(1)))
    restart(cluster, 1)
    expect([epochOf(cluster, 1), logAt(cluster, 1).length]).toEqual([1, 1])
  })

  it('W6 before the decision is written nothing of it is', () => {
    const cluster = createCluster(5)
    aboutToDecide(cluster)
    cluster.crashDuringNextStep(2, 0)
    cluster.deliver(all(ofType('accepted'), from(4), to(2)))
    cluster.start(2)
    expect([epochOf(cluster, 2), isSealed(cluster, 2)]).toEqual([0, true])
    expect(cluster.state(2).durable.paxos.accepted).not.toBeNull()
    cluster.run(6_000)
    expect(epochOf(cluster, 2)).toBe(1)
  })

  it('W6 before ejected: the end of the grant', () => {
    const cluster = createCluster(5)
    const by = aboutToDecide(cluster)
    cluster.deliver(among(2, 4))
    cluster.crashDuringNextStep(1, 1)
    cluster.deliver(all(ofType('decision'), to(1)))
    cluster.start(1)
    expect([epochOf(cluster, 1), phaseAt(cluster, 1)]).toEqual([1, 'idle'])
    const ending = { user: 'a', fence: by.fence, reason: 'suspected' }
    expect(exit(cluster, by)).toMatchObject([{ refusal: { code: 'grant-over', ending } }])
  })

  it('W6 before crit: the grant', () => {
    const cluster = createCluster()
    cluster.crashDuringNextStep(1, 1)
    cluster.try(1, 'a')
    cluster.start(1)
    expect(cluster.try(1, 'a')).toMatchObject([{ type: 'crit', user: 'a', sequence: 1 }])
    exit(cluster, holder(cluster, 1, 'a'))
    cluster.run(1_000)
    expect(logAt(cluster, 2)).toHaveLength(1)
  })

  it('W7 before JOIN: the incarnation', () => {
    const cluster = createCluster()
    cluster.wipe(3)
    // It stops when one of the others has been asked.
    cluster.crashDuringNextStep(3, 2)
    cluster.start(3, false, 77)
    cluster.start(3, false, 78)
    expect(bodies(cluster.sent, 'join').map(({ incarnation }) => incarnation)).toEqual([77, 77, 77])
  })

  it('W8 before outcome: application, applied index and result, together', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver(ofType('invoke'))
    cluster.crashDuringNextStep(1, 1)
    cluster.deliver(all(ofType('invoke-ack'), from(2), to(1)))
    cluster.start(1)
    const { durable } = cluster.state(1)
    expect([valueAt(cluster, 1), durable.progress.applied, durable.replica.order]).toEqual([1, 2, ['x']])
    expect(phaseAt(cluster, 1)).toBe('cs-idle')
    expect(issue(cluster, by, 'x')).toMatchObject([{ type: 'outcome', opId: 'x' }])
    issue(cluster, by, 'y')
    cluster.run(1_000)
    expect([1, 2, 3].map(id => valueAt(cluster, id))).toEqual([2, 2, 2])
  })

  it('W8 before the outcome is written nothing of it is', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver(ofType('invoke'))
    cluster.crashDuringNextStep(1, 0)
    cluster.deliver(all(ofType('invoke-ack'), from(2), to(1)))
    cluster.start(1)
    const { durable } = cluster.state(1)
    expect([durable.progress.applied, durable.replica.order]).toEqual([0, []])
    cluster.run(1_000)
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    expect([1, 2, 3].map(id => appliedAt(cluster, id))).toEqual([['x'], ['x'], ['x']])
  })
})
