/** Figure 1, the normal phase, handler by handler, and the costs of Table 1. */
import { describe, expect, it } from 'vitest'
import { Cluster } from './cluster.ts'
import { bodies, countByType, from, ofType, to } from './matchers.ts'
import {
  appliedAt,
  enter,
  eventsOf,
  exit,
  holder,
  INCREMENT,
  issue,
  logAt,
  ownerAt,
  phaseAt,
  protocols,
  valueAt,
} from './scenes.ts'

const SIZES = [3, 5, 7]

describe.each(protocols)('Figure 1 %s', (name, protocol) => {
  const createCluster = (participants = 3) => new Cluster(protocol, { participants })

  describe('upon try', () => {
    it.each(SIZES)('lets the user in at once, in 0 steps, if the token is here (N = %i)', participants => {
      const cluster = createCluster(participants)
      const [crit] = cluster.try(1, 'a').filter(event => event.type === 'crit')
      expect(crit).toMatchObject({ user: 'a', epoch: 0, sequence: 1, confirmed: false, expiresAt: 30_000 })
      expect(phaseAt(cluster, 1)).toBe('cs-idle')
    })

    it.each(SIZES)('asks all for the token and has it after 2 steps (N = %i)', participants => {
      const cluster = createCluster(participants)
      cluster.try(2, 'a')
      expect(phaseAt(cluster, 2)).toBe('requesting')
      expect(countByType(cluster.network)).toEqual({ request: participants - 1 })
      expect(bodies(cluster.network, 'request')[0]).toMatchObject({ participant: 2, requestId: 1, epoch: 0 })
      cluster.deliverStep()
      expect(countByType(cluster.network)).toEqual({ invoke: participants - 1 })
      expect(eventsOf(cluster, 2, 'crit')).toEqual([])
      cluster.deliverStep()
      expect(holder(cluster, 2, 'a')).toMatchObject({ sequence: 1 })
    })

    it('takes a new request id each time', () => {
      const cluster = createCluster()
      exit(cluster, enter(cluster, 2, 'a'))
      exit(cluster, enter(cluster, 3, 'b'))
      cluster.try(2, 'a')
      expect(bodies(cluster.network, 'request')[0]?.requestId).toBe(2)
    })
  })

  describe('upon REQUEST', () => {
    it('an owner out of the critical section passes the token on and tells all', () => {
      const cluster = createCluster()
      cluster.try(3, 'a')
      cluster.deliver(ofType('request'))
      const granted = bodies(cluster.network, 'invoke')
      expect(granted).toHaveLength(2)
      expect(granted[0]?.entries).toMatchObject([
        { kind: 'grant', sequence: 1, epoch: 0, by: 1, to: 3, requestId: 1 },
      ])
      expect(ownerAt(cluster, 1)).toBe(3)
      cluster.deliver()
      expect([1, 2, 3].map(id => ownerAt(cluster, id))).toEqual([3, 3, 3])
    })

    it('an owner in the critical section queues it, and so does everybody else', () => {
      const cluster = createCluster()
      enter(cluster, 1, 'a')
      cluster.try(2, 'b')
      cluster.deliver()
      const request = { participant: 2, requestId: 1 }
      expect(cluster.state(1).soft.requests).toEqual([request])
      expect(cluster.state(3).soft.requests).toEqual([request])
      expect(ownerAt(cluster, 1)).toBe(1)
    })

    it('a request that was granted before is not granted again', () => {
      const cluster = createCluster()
      cluster.try(2, 'a')
      const requests = cluster.network.filter(ofType('request'))
      cluster.deliver()
      exit(cluster, holder(cluster, 2, 'a'))
      exit(cluster, enter(cluster, 1, 'b'))
      for (const request of requests) cluster.hand(request)
      cluster.deliver()
      expect(ownerAt(cluster, 1)).toBe(1)
      expect(cluster.state(3).soft.requests).toEqual([])
    })
  })

  describe('upon GRANTED', () => {
    it('removes the request from every queue', () => {
      const cluster = createCluster()
      const first = enter(cluster, 1, 'a')
      cluster.try(2, 'b')
      cluster.try(3, 'c')
      cluster.deliver()
      exit(cluster, first)
      cluster.deliver()
      expect(cluster.state(1).soft.requests).toEqual([{ participant: 3, requestId: 1 }])
      expect(cluster.state(2).soft.requests).toEqual([{ participant: 3, requestId: 1 }])
      expect(cluster.state(3).soft.requests).toEqual([])
    })
  })

  describe('upon exit', () => {
    it('gives rem at once and keeps the token if nobody waits (TOKEN_HELD)', () => {
      const cluster = createCluster()
      const first = enter(cluster, 1, 'a')
      expect(exit(cluster, first)).toEqual([{ type: 'rem', user: 'a', fence: first.fence }])
      expect(cluster.network).toEqual([])
      expect(cluster.view(1).phase).toBe('token-held')
      expect(cluster.view(2).phase).toBe('idle')
    })

    it('passes the token on in the order in which the requests came', () => {
      const cluster = createCluster(5)
      let present = enter(cluster, 1, 'u1')
      for (const next of [4, 2, 5, 3]) {
        cluster.try(next, `u${next}`)
        cluster.deliver()
      }
      for (const next of [4, 2, 5, 3]) {
        exit(cluster, present)
        cluster.deliver()
        present = holder(cluster, next, `u${next}`)
      }
      expect(logAt(cluster, 1).map(entry => entry.kind === 'grant' && entry.to)).toEqual([1, 4, 2, 5, 3])
    })

    it.each(SIZES)('costs N-1 messages to pass the token on (N = %i)', participants => {
      const cluster = createCluster(participants)
      const first = enter(cluster, 1, 'a')
      cluster.try(2, 'b')
      cluster.deliver()
      exit(cluster, first)
      expect(countByType(cluster.network)).toEqual({ invoke: participants - 1 })
    })
  })

  describe('upon issue, INVOKE and ACK', () => {
    it.each(SIZES)('the outcome comes after 2 steps (N = %i)', participants => {
      const cluster = createCluster(participants)
      const by = enter(cluster, 1, 'a')
      expect(issue(cluster, by, 'x').map(event => event.type)).toEqual([])
      expect(phaseAt(cluster, 1)).toBe('cs-issuing')
      expect(cluster.deliverStep()).toHaveLength(participants - 1)
      expect(eventsOf(cluster, 1, 'outcome')).toEqual([])
      const acks = cluster.deliverStep()
      const perParticipant = name === 'wme-1' ? participants - 1 : 1
      expect(countByType(acks)).toEqual({ 'invoke-ack': (participants - 1) * perParticipant })
      expect(eventsOf(cluster, 1, 'outcome')).toEqual([
        {
          type: 'outcome',
          user: 'a',
          fence: by.fence,
          opId: 'x',
          sequence: 2,
          result: { applied: true, results: [{ value: 1, revision: 2 }] },
        },
      ])
      expect(phaseAt(cluster, 1)).toBe('cs-idle')
    })

    it.each([
      [3, 1],
      [5, 2],
      [7, 3],
    ])('with N = %i it takes %i acknowledgements from others, not one less', (participants, needed) => {
      const cluster = createCluster(participants)
      const by = enter(cluster, 1, 'a')
      issue(cluster, by, 'x')
      cluster.deliver(ofType('invoke'))
      const acks = cluster.take(to(1))
      for (const ack of acks.slice(0, needed - 1)) cluster.hand(ack)
      expect(eventsOf(cluster, 1, 'outcome')).toEqual([])
      cluster.hand(acks[needed - 1]!)
      expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
    })

    it('operations of several users are applied everywhere, in one order', () => {
      const cluster = createCluster(5)
      for (const [participant, opId] of [
        [1, 'x'],
        [4, 'y'],
        [2, 'z'],
      ] as const) {
        const by = enter(cluster, participant, `user of ${opId}`)
        issue(cluster, by, opId)
        cluster.deliver()
        exit(cluster, by)
      }
      cluster.run(1_000)
      for (let id = 1; id <= 5; id++) {
        expect(appliedAt(cluster, id)).toEqual(['x', 'y', 'z'])
        expect(valueAt(cluster, id)).toBe(3)
      }
    })

    it('an operation issued while another is pending is refused', () => {
      const cluster = createCluster()
      const by = enter(cluster, 1, 'a')
      issue(cluster, by, 'x')
      expect(issue(cluster, by, 'y')).toEqual([
        { type: 'refused', user: 'a', event: 'issue', refusal: { code: 'busy' }, opId: 'y' },
      ])
      expect(cluster.state(1).durable.stub.pendingOperation).toMatchObject({
        opId: 'x',
        operation: INCREMENT,
        sequence: 2,
      })
    })
  })

  it.each(SIZES)('Table 1: the messages of a nice run (N = %i)', participants => {
    const cluster = createCluster(participants)
    const others = participants - 1
    cluster.try(2, 'a')
    const entering = cluster.deliver()
    // A grant alone is acknowledged to the new owner, and to the old one, which would otherwise repeat it.
    expect(countByType(entering)).toEqual({
      request: others,
      invoke: others,
      'invoke-ack': 2 * (participants - 2) + 1,
    })
    const by = holder(cluster, 2, 'a')
    issue(cluster, by, 'x')
    const invoking = cluster.deliver()
    expect(invoking.filter(from(2))).toHaveLength(others)
    expect(invoking).toHaveLength(name === 'wme-1' ? participants * others : 2 * others)
    exit(cluster, by)
    expect(cluster.network).toEqual([])
  })
})
