/** Traps C1-C9: messages that are lost, doubled, late, or from another epoch. */
import { describe, expect, it } from 'vitest'
import { wme2 } from '../../../shared/protocols/wme/wme.ts'
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
  issue,
  logAt,
  phaseAt,
  protocols,
  replaceOwner,
  replaceOwnerByHand,
  suspectOwner,
  valueAt,
  withdraw,
} from './scenes.ts'

/**
 * Everything is lost while the participant repeats this many times. Returns what it said each time, and after
 * how long.
 */
function repeatInVain(cluster: Cluster, participant: number, times: number) {
  const attempts: { afterMs: number; counts: { [type: string]: number } }[] = []
  for (let i = 0; i < times; i++) {
    cluster.take(() => true)
    const before = cluster.now
    cluster.fire(participant, 'repeat')
    attempts.push({ afterMs: cluster.now - before, counts: countByType(cluster.network) })
  }
  return attempts
}

describe.each(protocols)('traps C %s', (_name, protocol) => {
  const createCluster = (participants = 3) => new Cluster(protocol, { participants })

  it('C1 REQUEST is repeated, ever less often, until granted', () => {
    const cluster = createCluster()
    cluster.try(2, 'b')
    const attempts = repeatInVain(cluster, 2, 8)
    expect(attempts.map(({ afterMs }) => afterMs)).toEqual([
      250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000,
    ])
    for (const { counts } of attempts) expect(counts).toEqual({ request: 2 })
    cluster.deliver()
    expect(isIn(cluster, 2, 'b')).toBe(true)
    expect(cluster.hasTimer(2, 'repeat')).toBe(false)
  })

  it('C1 REQUEST is repeated until withdrawn', () => {
    const cluster = createCluster()
    cluster.try(2, 'b')
    cluster.take(() => true)
    withdraw(cluster, 2, 'b')
    expect(cluster.timers(2)).toEqual([])
  })

  it('C2 a grant is repeated by the old owner until the new one has it', () => {
    const cluster = createCluster()
    cluster.try(2, 'b')
    cluster.deliver(ofType('request'))
    const attempts = repeatInVain(cluster, 1, 3)
    // The others hear of it from the new owner.
    for (const { counts } of attempts) expect(counts).toEqual({ invoke: 1 })
    expect(cluster.network.every(to(2))).toBe(true)
    cluster.deliver(among(1, 2))
    expect(isIn(cluster, 2, 'b')).toBe(true)
    expect(cluster.hasTimer(1, 'repeat')).toBe(false)
    expect(cluster.hasTimer(2, 'repeat')).toBe(true)
  })

  it('C3 log entries are repeated until acknowledged, to those that have not acknowledged', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a', { ttlMs: 600_000 })
    issue(cluster, by, 'x')
    // A user waits for the outcome, so it is repeated for as long as it takes.
    const attempts = repeatInVain(cluster, 1, 20)
    for (const { counts } of attempts) expect(counts).toEqual({ invoke: 2 })
    cluster.deliver()
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    issue(cluster, by, 'y')
    cluster.deliver(among(1, 3))
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(2)
    cluster.take(() => true)
    cluster.fire(1, 'repeat')
    expect(cluster.network.filter(ofType('invoke')).map(sent => sent.to)).toEqual([2])
    cluster.deliver()
    expect(cluster.hasTimer(1, 'repeat')).toBe(false)
  })

  it('C3 an acknowledgement that was lost is said again', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver(ofType('invoke'))
    cluster.take(ofType('invoke-ack'))
    cluster.fire(1, 'repeat')
    cluster.deliver()
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    expect(logAt(cluster, 2)).toHaveLength(2)
  })

  it('C3 a grant is repeated until it is confirmed, as long as its user is in', () => {
    const cluster = createCluster()
    cluster.isolate(1)
    cluster.try(1, 'a', { ttlMs: 600_000 })
    cluster.run(30_000)
    cluster.reconnect(1)
    cluster.run(10_000)
    // A local read inside the critical section waits for this.
    expect(eventTypes(cluster, 1)).toEqual(['crit', 'confirmed'])
  })

  it('C4 NEWEP is repeated until the decision is known', () => {
    const cluster = createCluster(5)
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    const attempts = repeatInVain(cluster, 2, 10)
    for (const { counts } of attempts) expect(counts).toEqual({ 'new-epoch': 4 })
    cluster.deliver(among(2, 3, 4))
    expect(epochOf(cluster, 2)).toBe(1)
    cluster.take(() => true)
    cluster.fire(2, 'repeat')
    expect(cluster.network.filter(ofType('new-epoch'))).toEqual([])
  })

  it('C4 the question whether the owner is silent is repeated, too', () => {
    const cluster = createCluster()
    cluster.try(2, 'b')
    cluster.fire(2, 'suspect')
    for (const { counts } of repeatInVain(cluster, 2, 3)) expect(counts['pre-vote']).toBe(2)
  })

  it('C5 a participant that missed a decision gets it from any that has it', () => {
    const cluster = createCluster(5)
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    cluster.deliver(all(among(2, 3, 4), ofType('new-epoch', 'prepare', 'promise', 'accept', 'accepted')))
    // All decisions but one are lost, and the decider is gone.
    cluster.deliver(all(ofType('decision'), from(2), to(4)))
    cluster.take(() => true)
    cluster.crash(2)
    expect([3, 4].map(id => epochOf(cluster, id))).toEqual([0, 1])
    cluster.fire(3, 'repeat')
    cluster.deliver(among(3, 4))
    expect(epochOf(cluster, 3)).toBe(1)
    expect(cluster.state(3).durable.epoch).toEqual(cluster.state(4).durable.epoch)
  })

  /** A user at 1 has an operation pending that only 1 and 5 hold; then 1 misses two epochs. */
  function missTwoEpochs(cluster: Cluster, operations: number): void {
    const by = enter(cluster, 1, 'a', { ttlMs: 600_000 })
    cluster.try(1, 'waits')
    issue(cluster, by, 'x')
    cluster.deliver(all(ofType('invoke'), to(5)))
    cluster.take(() => true)
    cluster.isolate(1)
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    cluster.lose(from(4))
    cluster.deliver()
    cluster.lose(() => false)
    cluster.run(1_000)
    for (let i = 0; i < operations; i++) {
      issue(cluster, holder(cluster, 2, 'b'), `op ${i}`)
      cluster.deliver()
    }
    replaceOwner(cluster, [1, 2], 3, 'c')
    cluster.reconnect(1)
    cluster.run(6_000)
    expect(epochOf(cluster, 1)).toBe(2)
  }

  it.each([
    ['their entries', 1_000],
    ['a snapshot', 2],
  ])('C6 who missed whole epochs learns from %s what became of its operation', (_from, logKept) => {
    const cluster = new Cluster(protocol, { participants: 5, limits: { logKept } })
    missTwoEpochs(cluster, 9)
    expect(eventsOf(cluster, 1, 'restored')).toHaveLength(logKept === 2 ? 1 : 0)
    const said = eventTypes(cluster, 1).filter(type => type !== 'applied' && type !== 'restored')
    // There is one ejection, and nobody is let in between, though a user waits.
    expect(said).toEqual(['crit', 'confirmed', 'outcome', 'ejected'])
    expect(eventsOf(cluster, 1, 'outcome')).toMatchObject([{ opId: 'x', sequence: 2 }])
    expect(eventsOf(cluster, 1, 'ejected')[0]).not.toHaveProperty('pending')
    expect(valueAt(cluster, 1)).toBe(10)
    expect(phaseAt(cluster, 1)).toBe('requesting')
  })

  it('C9 a participant in an old epoch is answered with the present one', () => {
    const cluster = createCluster()
    cluster.try(1, 'a')
    const old = cluster.take(all(ofType('invoke'), to(3)))
    replaceOwnerByHand(cluster, 2, [3], 'b')
    cluster.take(() => true)
    cluster.hand(old[0]!)
    const answers = cluster.network.filter(from(3))
    expect(answers.map(sent => sent.to)).toEqual([1])
    expect(answers[0]?.message.body).toMatchObject({ type: 'alive', epoch: 1 })
    cluster.deliver()
    expect(epochOf(cluster, 1)).toBe(1)
  })

  it('C9 a participant that repeats a grant is answered, although it is no longer the owner', () => {
    const cluster = createCluster()
    cluster.try(2, 'b')
    cluster.deliver(ofType('request'))
    cluster.deliver(ofType('invoke'))
    expect(bodies(cluster.network.filter(all(from(2), to(1))), 'invoke-ack')).toHaveLength(1)
    expect(bodies(cluster.network.filter(all(from(3), to(1))), 'invoke-ack')).toHaveLength(1)
    expect(bodies(cluster.network.filter(all(from(3), to(2))), 'invoke-ack')).toHaveLength(1)
  })

  it('C7 C8 every message twice, the second time after everything else', () => {
    const cluster = createCluster(5)
    const said = []
    const first = enter(cluster, 1, 'a')
    issue(cluster, first, 'x')
    said.push(...cluster.deliver())
    cluster.try(3, 'b')
    said.push(...cluster.deliver())
    exit(cluster, first)
    said.push(...cluster.deliver())
    issue(cluster, holder(cluster, 3, 'b'), 'y')
    said.push(...cluster.deliver())
    for (const sent of said.reverse()) cluster.hand(sent)
    cluster.run(1_000)
    for (let id = 1; id <= 5; id++) {
      expect(appliedAt(cluster, id)).toEqual(['x', 'y'])
      expect(logAt(cluster, id)).toHaveLength(4)
    }
    expect(isIn(cluster, 3, 'b')).toBe(true)
    expect(cluster.emitted.filter(({ event }) => event.type === 'crit')).toHaveLength(2)
  })
})

describe('traps C7, C8 wme-2', () => {
  /** One operation is committed at the owner, and its DOINVOKEs are in flight. */
  function doInvokeInFlight() {
    const cluster = new Cluster(wme2, { participants: 5 })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver()
    cluster.fire(1, 'flush')
    const [doInvoke] = cluster.take(all(ofType('do-invoke'), to(4)))
    return { cluster, by, doInvoke: doInvoke! }
  }

  it('C7 a second DOINVOKE invokes nothing', () => {
    const { cluster, doInvoke } = doInvokeInFlight()
    cluster.hand(doInvoke)
    cluster.hand(doInvoke)
    expect(appliedAt(cluster, 4)).toEqual(['x'])
    expect(cluster.state(4).soft.committed).toBe(2)
  })

  it('C8 a DOINVOKE that comes after the next INVOKE invokes its own operation at the most', () => {
    const { cluster, by, doInvoke } = doInvokeInFlight()
    issue(cluster, by, 'y')
    cluster.deliver(all(ofType('invoke'), to(4)))
    expect(appliedAt(cluster, 4)).toEqual(['x'])
    cluster.hand(doInvoke)
    expect(appliedAt(cluster, 4)).toEqual(['x'])
    expect(cluster.state(4).soft.committed).toBe(2)
  })
})
