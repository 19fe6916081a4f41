/** Traps A8-A13: who enters, who may write, and what all that decide agree on. */
import { describe, expect, it } from 'vitest'
import { MESSAGE_FORMAT } from '../../../shared/protocols/protocol.ts'
import { digestOf } from '../../../shared/protocols/wme/log.ts'
import type { Entry, EpochRecord } from '../../../shared/protocols/wme/state.ts'
import { Cluster, type Sent } from './cluster.ts'
import { all, among, bodies, from, not, ofType, to } from './matchers.ts'
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
  ownerAt,
  protocols,
  replaceOwner,
  replaceOwnerByHand,
  suspectOwner,
  valueAt,
  withdraw,
} from './scenes.ts'

describe.each(protocols)('traps A8-A13 %s', (_name, protocol) => {
  const createCluster = (participants = 5) => new Cluster(protocol, { participants })

  describe('A8', () => {
    it('A8 a token that comes for a user that gave up is passed on', () => {
      const cluster = createCluster(3)
      const first = enter(cluster, 1, 'a')
      cluster.try(2, 'b')
      cluster.deliver()
      cluster.try(3, 'c')
      cluster.deliver()
      withdraw(cluster, 2, 'b')
      exit(cluster, first)
      cluster.deliver()
      expect(isIn(cluster, 3, 'c')).toBe(true)
      expect(eventTypes(cluster, 2)).toEqual(['withdrawn'])
    })

    it('A8 a grant for an older request is used by a stub that is requesting', () => {
      const cluster = createCluster(3)
      cluster.try(2, 'b')
      cluster.deliver(ofType('request'))
      withdraw(cluster, 2, 'b')
      cluster.try(2, 'c')
      cluster.deliver(all(ofType('invoke'), to(2)))
      expect(holder(cluster, 2, 'c').sequence).toBe(1)
      expect(logAt(cluster, 2)).toHaveLength(1)
    })

    it('A8 a queue holds at most one request of each participant, the newest', () => {
      const cluster = createCluster(3)
      const first = enter(cluster, 1, 'a')
      for (const user of ['b', 'c', 'd']) {
        cluster.try(2, user)
        cluster.deliver()
        if (user !== 'd') withdraw(cluster, 2, user)
      }
      expect(cluster.state(1).soft.requests).toEqual([{ participant: 2, requestId: 3 }])
      exit(cluster, first)
      cluster.deliver()
      exit(cluster, holder(cluster, 2, 'd'))
      cluster.deliver()
      expect(logAt(cluster, 1).filter(entry => entry.kind === 'grant' && entry.to === 2)).toHaveLength(1)
      expect([1, 2, 3].map(id => cluster.state(id).soft.requests)).toEqual([[], [], []])
    })

    it('A8 a user that entered through consensus has no request left in any queue', () => {
      const cluster = createCluster()
      enter(cluster, 1, 'a')
      cluster.try(2, 'b')
      cluster.deliver()
      cluster.isolate(1)
      cluster.run(12_000)
      const by = holder(cluster, 2, 'b')
      expect([2, 3, 4, 5].map(id => cluster.state(id).soft.requests)).toEqual([[], [], [], []])
      cluster.try(3, 'c')
      cluster.deliver()
      exit(cluster, by)
      cluster.deliver()
      exit(cluster, holder(cluster, 3, 'c'))
      cluster.run(5_000)
      // Nobody waits, so the token stays: an old request would have moved it once more.
      expect(ownerAt(cluster, 3)).toBe(3)
    })

    it('A8 every entry into the critical section is a grant of the log, also a re-entry', () => {
      const cluster = createCluster(3)
      const first = enter(cluster, 1, 'a')
      exit(cluster, first)
      const second = enter(cluster, 1, 'b')
      exit(cluster, second)
      const third = replaceOwner(cluster, [1], 2, 'c')
      const grants = logAt(cluster, 2).filter(entry => entry.kind === 'grant')
      expect(grants.map(grant => [grant.to, grant.sequence])).toEqual([
        [1, first.sequence],
        [1, second.sequence],
        [2, third.sequence],
      ])
    })
  })

  describe('A9', () => {
    /** The entry follows the log of participant 2, as its digest says. */
    const following = <Type extends Parameters<typeof digestOf>[1]>(cluster: Cluster, entry: Type) => ({
      ...entry,
      digest: digestOf(logAt(cluster, 2).at(-1)!.digest, entry),
    })
    const invokeBy = (sender: number, before: Entry, entry: Entry): Sent => {
      const { sequence } = entry
      const body = {
        type: 'invoke',
        epoch: 0,
        previous: sequence - 1,
        digest: before.digest,
        entries: [entry],
        committed: 0,
      } as const
      return { from: sender, to: 2, message: { format: MESSAGE_FORMAT, configuration: 1, body } }
    }

    it('A9 a grant by a participant that is not the owner stops the receiver', () => {
      const cluster = createCluster(3)
      enter(cluster, 1, 'a')
      const before = logAt(cluster, 2).at(-1)!
      const forged = { kind: 'grant', sequence: 2, epoch: 0, by: 3, to: 3, requestId: 1 } as const
      expect(() => cluster.hand(invokeBy(3, before, following(cluster, forged)))).toThrow('only the owner')
    })

    it('A9 an operation by a participant that has passed the token on stops the receiver', () => {
      const cluster = createCluster(3)
      exit(cluster, enter(cluster, 1, 'a'))
      enter(cluster, 3, 'b')
      const fence = holder(cluster, 1, 'a').fence
      const late = {
        kind: 'operation',
        sequence: 3,
        epoch: 0,
        by: 1,
        fence,
        opId: 'x',
        operation: [],
        weight: 2,
      } as const
      const before = logAt(cluster, 2).at(-1)!
      expect(() => cluster.hand(invokeBy(1, before, following(cluster, late)))).toThrow('only the owner')
      // The same entry is welcome from any participant that repeats it, if the owner wrote it.
      const good = following(cluster, { ...late, by: 3, fence: holder(cluster, 3, 'b').fence })
      expect(() => cluster.hand(invokeBy(1, before, good))).not.toThrow()
      expect(logAt(cluster, 2).at(-1)).toEqual(good)
    })
  })

  it('A10 a user is let in only after the replica here has applied what precedes the grant', () => {
    const cluster = createCluster()
    const first = enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    cluster.deliver()
    issue(cluster, first, 'x')
    cluster.deliver(ofType('invoke'))
    cluster.take(not(to(1)))
    cluster.deliver()
    expect(appliedAt(cluster, 2)).toEqual([])
    exit(cluster, first)
    cluster.deliver(all(ofType('invoke'), to(2)))
    expect(eventTypes(cluster, 2).slice(0, 2)).toEqual(['applied', 'crit'])
  })

  it('A10 also if operation and grant come together, from a peer', () => {
    const cluster = createCluster(3)
    const first = enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    cluster.deliver()
    issue(cluster, first, 'x')
    cluster.deliver(among(1, 3))
    exit(cluster, first)
    cluster.deliver(among(1, 3))
    cluster.take(to(2))
    cluster.fire(2, 'heartbeat')
    cluster.deliver(not(ofType('invoke')))
    expect(eventTypes(cluster, 2).slice(0, 2)).toEqual(['applied', 'crit'])
  })

  it('A11 a message to oneself is handled in the same step', () => {
    const alone = new Cluster(protocol, { participants: 1 })
    expect(alone.try(1, 'a').map(event => event.type)).toEqual(['crit', 'granted', 'confirmed'])
    const types = issue(alone, holder(alone, 1, 'a'), 'x').map(event => event.type)
    expect(types).toEqual(['applied', 'outcome'])
    expect(alone.network).toEqual([])
  })

  it('A11 one counts oneself: of three, one other is enough', () => {
    const cluster = createCluster(3)
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver(among(1, 2))
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
  })

  it('A12 an operation that was applied, pruned and forgotten by the results is not applied again', () => {
    const cluster = new Cluster(protocol, { participants: 5, limits: { logKept: 2, resultsKept: 1 } })
    const by = enter(cluster, 1, 'a')
    for (let i = 1; i <= 9; i++) {
      issue(cluster, by, `op ${i}`)
      cluster.deliver()
    }
    expect(cluster.state(2).durable.base.sequence).toBeGreaterThan(0)
    replaceOwnerByHand(cluster, 2, [3, 4], 'b')
    cluster.deliver()
    replaceOwner(cluster, [2], 5, 'c')
    cluster.reconnect(2)
    cluster.run(6_000)
    for (let id = 1; id <= 5; id++) {
      expect(new Set(appliedAt(cluster, id)).size).toBe(appliedAt(cluster, id).length)
      expect(valueAt(cluster, id)).toBe(9)
    }
  })

  it('A13 a decider that crashes before it has told anybody has decided for all', () => {
    const cluster = createCluster()
    issue(cluster, enter(cluster, 5, 'a'), 'x')
    cluster.deliver(all(ofType('invoke'), to(1)))
    cluster.take(() => true)
    cluster.crash(5)
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    // Participant 1, which alone has the operation, decides with 2 and 3, and crashes in that step.
    cluster.deliver(all(ofType('new-epoch'), from(2), to(1, 3)))
    cluster.deliver(all(ofType('new-epoch'), from(3), to(1)))
    cluster.deliver(all(ofType('prepare', 'promise', 'accept'), among(1, 2, 3)))
    cluster.deliver(all(ofType('accepted'), from(2), to(1)))
    cluster.crashDuringNextStep(1, 1)
    cluster.deliver(all(ofType('accepted'), from(3), to(1)))
    expect(cluster.isUp(1)).toBe(false)
    const decided = cluster.storage(1).get('epoch') as unknown as EpochRecord
    expect(decided.epoch).toBe(1)
    // The others, which did not get its NEWEP, would compose another decision among themselves.
    cluster.take(from(1))
    cluster.deliver(among(2, 3, 4))
    expect(bodies(cluster.network, 'decision')).not.toEqual([])
    for (const id of [2, 3, 4]) {
      expect(cluster.state(id).durable.epoch).toEqual(decided)
      expect(appliedAt(cluster, id)).toEqual(['x'])
    }
    cluster.start(1)
    cluster.run(6_000)
    expect(epochOf(cluster, 1)).toBe(1)
    expect(logAt(cluster, 1)).toEqual(logAt(cluster, 2))
  })
})
