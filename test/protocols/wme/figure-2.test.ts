/** Figure 2, the termination phase: from a suspicion to the next epoch, branch by branch. */
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
  replaceOwnerByHand,
  suspectOwner,
  valueAt,
  withdraw,
} from './scenes.ts'

describe.each(protocols)('Figure 2 %s', (_name, protocol) => {
  const createCluster = (participants = 5) => new Cluster(protocol, { participants })

  describe('suspicion', () => {
    it('silence of the owner leads to a question to all, not yet to a seal', () => {
      const cluster = createCluster()
      cluster.try(2, 'b')
      cluster.take(to(1))
      cluster.fire(2, 'suspect')
      expect(countByType(cluster.network.filter(from(2)))).toEqual({ request: 3, 'pre-vote': 4 })
      expect(isSealed(cluster, 2)).toBe(false)
    })

    it('a majority that agrees leads to the seal and a NEWEP to N-1', () => {
      const cluster = createCluster()
      cluster.try(2, 'b')
      suspectOwner(cluster, 2, [3])
      expect(isSealed(cluster, 2)).toBe(false)
      cluster.fire(4, 'suspect')
      cluster.deliver(all(ofType('pre-vote-reply'), to(2)))
      expect(isSealed(cluster, 2)).toBe(true)
      expect(countByType(cluster.network)['new-epoch']).toBe(4)
    })

    it('a stub that hears a NEWEP seals and tells all, once', () => {
      const cluster = createCluster()
      cluster.try(2, 'b')
      suspectOwner(cluster, 2, [3, 4])
      const heard = cluster.take(all(ofType('new-epoch'), to(5)))
      cluster.hand(heard[0]!)
      expect(isSealed(cluster, 5)).toBe(true)
      expect(bodies(cluster.network.filter(from(5)), 'new-epoch')).toHaveLength(4)
      cluster.hand(heard[0]!)
      expect(bodies(cluster.network.filter(from(5)), 'new-epoch')).toHaveLength(4)
    })
  })

  describe('collecting NEWEPs', () => {
    it('nobody proposes with less than a majority of them', () => {
      const cluster = createCluster()
      cluster.try(2, 'b')
      suspectOwner(cluster, 2, [3, 4])
      cluster.deliver(all(ofType('new-epoch'), among(2, 3)))
      expect(bodies(cluster.network, 'prepare')).toEqual([])
      cluster.deliver(all(ofType('new-epoch'), among(2, 3, 4)))
      expect(bodies(cluster.network.filter(from(2)), 'prepare')).toHaveLength(4)
      // The first participant that is there proposes; the others give it time.
      expect(bodies(cluster.network.filter(from(3, 4)), 'prepare')).toEqual([])
      expect(cluster.hasTimer(3, 'propose')).toBe(true)
    })

    it('the longest log is proposed, whichever participant has it', () => {
      const cluster = createCluster()
      const old = enter(cluster, 1, 'a')
      issue(cluster, old, 'x')
      cluster.deliver(all(ofType('invoke'), to(5)))
      cluster.take(ofType('invoke', 'invoke-ack'))
      cluster.try(2, 'b')
      // Participants that agree have equal logs; the one that has more learns of it through a NEWEP.
      suspectOwner(cluster, 2, [3, 4])
      cluster.deliver(among(2, 3, 5))
      const [decision] = bodies(cluster.network, 'decision')
      expect(decision?.value.entries.map(entry => entry.kind)).toContain('operation')
      expect(decision?.value.owner).toBe(2)
      expect([2, 3, 5].map(id => valueAt(cluster, id))).toEqual([1, 1, 1])
    })

    it('another proposes if the first one is gone', () => {
      const cluster = createCluster()
      cluster.try(2, 'b')
      suspectOwner(cluster, 2, [3, 4])
      cluster.deliver(ofType('new-epoch'))
      cluster.crash(1)
      cluster.crash(2)
      cluster.take(ofType('prepare'))
      cluster.fire(3, 'propose')
      cluster.deliver(among(3, 4, 5))
      expect([3, 4, 5].map(id => epochOf(cluster, id))).toEqual([1, 1, 1])
    })
  })

  describe('decision', () => {
    it('all enter the next epoch with the same owner and the same log', () => {
      const cluster = createCluster()
      enter(cluster, 1, 'a')
      replaceOwnerByHand(cluster, 2, [3, 4], 'b')
      cluster.deliver()
      for (let id = 1; id <= 5; id++) {
        expect([epochOf(cluster, id), isSealed(cluster, id), ownerAt(cluster, id)]).toEqual([1, false, 2])
        expect(logAt(cluster, id)).toEqual(logAt(cluster, 2))
      }
    })

    it('REQUESTING and owner: enters, with a grant of the new epoch', () => {
      const cluster = createCluster()
      enter(cluster, 1, 'a')
      replaceOwnerByHand(cluster, 2, [3, 4], 'b')
      expect(holder(cluster, 2, 'b')).toMatchObject({ epoch: 1, sequence: 2 })
      expect(logAt(cluster, 2).at(-1)).toMatchObject({ kind: 'grant', to: 2, by: 2, epoch: 1 })
    })

    it('REQUESTING and not owner: asks again in the new epoch', () => {
      const cluster = createCluster()
      enter(cluster, 1, 'a')
      cluster.try(3, 'c')
      cluster.take(from(3))
      replaceOwnerByHand(cluster, 2, [3, 4], 'b')
      cluster.deliver(among(2, 3, 4, 5))
      expect(cluster.state(2).soft.requests).toEqual([{ participant: 3, requestId: 1 }])
      exit(cluster, holder(cluster, 2, 'b'))
      cluster.deliver(among(2, 3, 4, 5))
      expect(isIn(cluster, 3, 'c')).toBe(true)
    })

    it('CS_IDLE and not owner: ejected', () => {
      const cluster = createCluster()
      const old = enter(cluster, 1, 'a')
      replaceOwnerByHand(cluster, 2, [3, 4], 'b')
      cluster.deliver(all(ofType('decision'), to(1)))
      expect(eventsOf(cluster, 1, 'ejected')).toEqual([
        { type: 'ejected', user: 'a', fence: old.fence, reason: 'suspected' },
      ])
      expect(cluster.view(1).phase).toBe('idle')
    })

    it('CS_IDLE and owner: stays in with the same grant', () => {
      const cluster = createCluster()
      const old = enter(cluster, 1, 'a')
      cluster.try(2, 'b')
      suspectOwner(cluster, 2, [3, 4])
      cluster.deliver()
      expect(epochOf(cluster, 1)).toBe(1)
      expect(eventTypes(cluster, 1)).toEqual(['crit', 'confirmed'])
      expect(exit(cluster, old)).toEqual([{ type: 'rem', user: 'a', fence: old.fence }])
      cluster.deliver()
      expect(isIn(cluster, 2, 'b')).toBe(true)
    })

    it('CS_ISSUING, owner, the operation is in the decision: its outcome, and no second INVOKE', () => {
      const cluster = createCluster()
      const old = enter(cluster, 1, 'a')
      issue(cluster, old, 'x')
      cluster.deliver(all(ofType('invoke'), to(5)))
      cluster.take(ofType('invoke', 'invoke-ack'))
      cluster.try(2, 'b')
      suspectOwner(cluster, 2, [3, 4])
      cluster.deliver()
      expect(epochOf(cluster, 1)).toBe(1)
      expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
      expect(logAt(cluster, 1).filter(entry => entry.kind === 'operation')).toHaveLength(1)
    })

    it('CS_ISSUING, owner, issued while blocked: INVOKE in the new epoch', () => {
      const cluster = createCluster()
      const old = enter(cluster, 1, 'a')
      cluster.try(2, 'b')
      suspectOwner(cluster, 2, [3, 4])
      cluster.deliver(all(ofType('new-epoch'), to(1)))
      expect(isSealed(cluster, 1)).toBe(true)
      expect(issue(cluster, old, 'x')).toEqual([])
      expect(cluster.state(1).durable.stub.pendingOperation?.sequence).toBeNull()
      expect(bodies(cluster.network, 'invoke')).toEqual([])
      cluster.deliver()
      expect(logAt(cluster, 1).at(-1)).toMatchObject({ kind: 'operation', opId: 'x', epoch: 1 })
      expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    })

    it('CS_ISSUING and not owner: ejected with the operation', () => {
      const cluster = createCluster()
      const old = enter(cluster, 1, 'a')
      issue(cluster, old, 'x')
      cluster.take(ofType('invoke'))
      replaceOwnerByHand(cluster, 2, [3, 4], 'b')
      cluster.deliver()
      expect(eventsOf(cluster, 1, 'ejected')).toMatchObject([
        { reason: 'suspected', pending: { opId: 'x', outcome: 'not-applied' } },
      ])
    })

    it('IDLE and owner: grants to the first that waits', () => {
      const cluster = createCluster()
      enter(cluster, 1, 'a')
      cluster.try(5, 'c')
      cluster.deliver(among(2, 3, 4, 5))
      cluster.try(2, 'b')
      suspectOwner(cluster, 2, [3, 4])
      // The user that caused it all gives up; its stub may still become the owner, and then passes the token
      // on.
      withdraw(cluster, 2, 'b')
      cluster.deliver(among(2, 3, 4))
      expect(ownerAt(cluster, 2)).toBe(5)
      expect(
        bodies(cluster.network.filter(to(5)), 'invoke')
          .at(-1)
          ?.entries.at(-1),
      ).toMatchObject({ to: 5 })
    })

    it('IDLE and owner, nobody waits: holds the token', () => {
      const cluster = createCluster()
      enter(cluster, 1, 'a')
      cluster.try(2, 'b')
      suspectOwner(cluster, 2, [3, 4])
      withdraw(cluster, 2, 'b')
      cluster.deliver(among(2, 3, 4))
      const holders = [2, 3, 4].filter(id => cluster.view(id).phase === 'token-held')
      expect(holders).toEqual([2])
    })

    it('the remaining operations of the old epoch are applied, in order', () => {
      const cluster = createCluster()
      const old = enter(cluster, 1, 'a')
      for (const opId of ['x', 'y']) {
        issue(cluster, old, opId)
        cluster.deliver(among(1, 2, 3, 5))
      }
      cluster.take(to(4))
      replaceOwnerByHand(cluster, 2, [3, 5], 'b')
      cluster.deliver(among(2, 3, 4, 5))
      expect(epochOf(cluster, 4)).toBe(1)
      expect(appliedAt(cluster, 4)).toEqual(['x', 'y'])
    })
  })

  it('while blocked nothing of the normal phase happens, and every message is answered with a NEWEP', () => {
    const cluster = createCluster()
    const old = enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    suspectOwner(cluster, 2, [3, 4])
    cluster.take(() => true)
    issue(cluster, old, 'x')
    cluster.deliver(all(ofType('invoke'), to(2)))
    expect(logAt(cluster, 2)).toHaveLength(1)
    expect(countByType(cluster.network.filter(from(2)))).toEqual({ 'new-epoch': 1 })
    expect(isIn(cluster, 1, 'a')).toBe(true)
  })
})
