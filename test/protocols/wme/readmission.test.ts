/**
 * A participant whose storage is gone does not count until the others, without it, have taken it back (trap
 * D2).
 */
import { describe, expect, it } from 'vitest'
import type { WmeMessage } from '../../../shared/protocols/wme/messages.ts'
import { keyValue } from '../../../shared/resource/key-value.ts'
import type { Resource } from '../../../shared/resource/resource.ts'
import { Cluster, type ClusterOptions } from './cluster.ts'
import { all, among, bodies, countByType, from, not, ofType, to } from './matchers.ts'
import {
  enter,
  epochOf,
  eventTypes,
  exit,
  isIn,
  issue,
  logAt,
  ownerAt,
  protocols,
  replaceOwner,
  valueAt,
} from './scenes.ts'

describe.each(protocols)('readmission %s', (_name, protocol) => {
  const createCluster = (options: Partial<ClusterOptions> = {}) =>
    new Cluster(protocol, { participants: 3, checkRecovery: true, ...options })

  const statusOf = (cluster: Cluster, participant: number) =>
    cluster.state(participant).durable.membership.status

  /** Its storage is lost, and it starts again as a new incarnation. */
  function lose(cluster: Cluster, participant: number): void {
    cluster.wipe(participant)
    cluster.start(participant)
  }

  it('one that is not the owner comes back; the holder keeps its grant', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.run(100)
    lose(cluster, 3)
    expect(statusOf(cluster, 3)).toBe('joining')
    cluster.run(1_000)
    expect([1, 2, 3].map(id => epochOf(cluster, id))).toEqual([1, 1, 1])
    expect(statusOf(cluster, 3)).toBe('member')
    expect(valueAt(cluster, 3)).toBe(1)
    expect(isIn(cluster, 1, 'a')).toBe(true)
    expect(eventTypes(cluster, 1)).not.toContain('ejected')
  })

  it('once back, it has its vote', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a')
    lose(cluster, 3)
    cluster.run(1_000)
    cluster.crash(1)
    cluster.try(2, 'b')
    cluster.run(12_000)
    expect(isIn(cluster, 2, 'b')).toBe(true)
  })

  it('an owner comes back without the token; its user is forgotten', () => {
    const cluster = createCluster()
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.run(100)
    lose(cluster, 1)
    cluster.run(12_000)
    expect([1, 2, 3].map(id => epochOf(cluster, id))).toEqual([1, 1, 1])
    expect(statusOf(cluster, 1)).toBe('member')
    expect(ownerAt(cluster, 2)).not.toBe(1)
    expect(ownerAt(cluster, 1)).toBe(ownerAt(cluster, 2))
    expect(exit(cluster, by)).toMatchObject([{ refusal: { code: 'grant-over', ending: null } }])
    const next = enter(cluster, 1, 'b')
    issue(cluster, next, 'y')
    cluster.run(100)
    expect([1, 2, 3].map(id => valueAt(cluster, id))).toEqual([2, 2, 2])
    // Its old requests are granted in the log: it goes on with higher numbers.
    expect(next.fence).toBeGreaterThan(by.fence)
  })

  it('one that is wiped twice comes back as the last incarnation only', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a')
    lose(cluster, 3)
    cluster.deliver(not(to(3)))
    // The others have admitted the first incarnation, and their answer is late.
    cluster.take(all(ofType('decision', 'alive'), to(3)))
    cluster.fire(3, 'repeat')
    cluster.deliver(ofType('join'))
    const late = cluster.take(all(ofType('catch-up'), to(3)))
    expect(late.length).toBeGreaterThan(0)
    lose(cluster, 3)
    cluster.take(() => true)
    for (const sent of late) cluster.hand(sent)
    expect(statusOf(cluster, 3)).toBe('joining')
    cluster.run(6_000)
    expect(statusOf(cluster, 3)).toBe('member')
    const { incarnations, epoch } = cluster.state(1).durable.epoch
    expect(epoch).toBe(2)
    expect(cluster.state(3).durable.epoch.incarnations).toEqual(incarnations)
  })

  it.each([
    ['lower', 400],
    ['higher', 600],
  ])(
    'one that is wiped a second time comes back with a %s incarnation: the clock was set',
    (_what, second) => {
      const cluster = createCluster()
      const by = enter(cluster, 1, 'a')
      issue(cluster, by, 'x')
      cluster.run(100)
      for (const incarnation of [500, second]) {
        cluster.wipe(3)
        cluster.start(3, false, incarnation)
        cluster.run(6_000)
        expect(statusOf(cluster, 3)).toBe('member')
        expect(cluster.state(1).durable.epoch.incarnations).toEqual({ 3: incarnation })
      }
      expect(valueAt(cluster, 3)).toBe(1)
      expect(isIn(cluster, 1, 'a')).toBe(true)
    },
  )

  it('what an earlier life asked for is over once a later one was taken back', () => {
    const cluster = createCluster({ participants: 5 })
    enter(cluster, 1, 'a')
    cluster.wipe(3)
    cluster.start(3, false, 500)
    // Only participant 2 hears of the first life, and is away while the second one is taken back.
    cluster.deliver(all(ofType('join'), to(2)))
    expect(cluster.state(2).soft.joins).toEqual({ 3: 500 })
    cluster.isolate(2)
    cluster.take(() => true)
    cluster.wipe(3)
    cluster.start(3, false, 400)
    cluster.run(1_000)
    cluster.reconnect(2)
    cluster.run(60_000)
    expect(cluster.state(2).soft.joins).toEqual({})
    for (const id of [1, 2, 3, 4, 5]) {
      expect(cluster.state(id).durable.epoch).toMatchObject({ epoch: 1, incarnations: { 3: 400 } })
    }
  })

  it('until then it neither acknowledges, nor votes, nor serves users', () => {
    const cluster = createCluster({ participants: 5 })
    enter(cluster, 1, 'a')
    lose(cluster, 3)
    cluster.take(() => true)
    const digest = ''
    const value = { owner: 1, base: 0, digest, entries: [], incarnations: {} }
    const grant = { kind: 'grant', sequence: 1, epoch: 0, by: 1, to: 1, requestId: 1, digest } as const
    const questions: WmeMessage[] = [
      { type: 'invoke', epoch: 0, previous: 0, digest, entries: [grant], committed: 0 },
      { type: 'request', epoch: 0, participant: 2, requestId: 1 },
      { type: 'ping', epoch: 0, length: 0, joins: {} },
      { type: 'pre-vote', epoch: 0, length: 0, owner: 1, round: '1.1' },
      {
        type: 'new-epoch',
        epoch: 0,
        committed: 0,
        digest,
        entries: [],
        owner: 1,
        requesting: true,
        joins: {},
      },
      { type: 'prepare', epoch: 0, ballot: 257 },
      { type: 'accept', epoch: 0, ballot: 257, value },
      { type: 'decision', epoch: 0, value },
      { type: 'catch-up-request', epoch: 0, length: 0, committed: 0 },
      { type: 'join', incarnation: 99 },
    ]
    for (const body of questions) {
      cluster.hand({ from: 1, to: 3, message: { format: 1, configuration: 1, body } })
    }
    expect(cluster.network).toEqual([])
    expect([epochOf(cluster, 3), logAt(cluster, 3), statusOf(cluster, 3)]).toEqual([0, [], 'joining'])
    for (const events of [cluster.try(3, 'c'), cluster.user(3, { type: 'eject', request: 'now' })]) {
      expect(events).toMatchObject([{ type: 'refused', refusal: { code: 'not-a-member' } }])
    }
  })

  it('it asks until it is answered, also after a restart', () => {
    const cluster = createCluster()
    lose(cluster, 3)
    for (let i = 0; i < 5; i++) {
      expect(countByType(cluster.take(() => true))).toEqual({ join: 2 })
      cluster.fire(3, 'repeat')
    }
    cluster.take(() => true)
    cluster.crash(3)
    cluster.start(3)
    expect(countByType(cluster.network)).toEqual({ join: 2 })
    cluster.run(1_000)
    expect(statusOf(cluster, 3)).toBe('member')
  })

  it('an owner that cannot hear it hears of it from a peer', () => {
    const cluster = createCluster()
    enter(cluster, 1, 'a')
    cluster.lose(all(from(3), to(1)))
    lose(cluster, 3)
    cluster.run(3_000)
    expect(statusOf(cluster, 3)).toBe('member')
    expect(isIn(cluster, 1, 'a')).toBe(true)
  })

  it('without a majority of the others it is not taken back', () => {
    const cluster = createCluster()
    cluster.crash(1)
    lose(cluster, 3)
    cluster.run(60_000)
    expect([statusOf(cluster, 3), epochOf(cluster, 2)]).toEqual(['joining', 0])
    cluster.start(1)
    cluster.run(12_000)
    expect(statusOf(cluster, 3)).toBe('member')
  })

  it('an operation that only the wiped one and the owner had acknowledged is not lost with it', () => {
    const cluster = createCluster({ participants: 5 })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.deliver(among(1, 3, 4))
    cluster.take(() => true)
    cluster.isolate(1)
    lose(cluster, 3)
    replaceOwner(cluster, [1], 2, 'b')
    cluster.reconnect(1)
    cluster.run(12_000)
    expect([1, 2, 3, 4, 5].map(id => valueAt(cluster, id))).toEqual([1, 1, 1, 1, 1])
  })

  it('a restored replica begins where every replica began, not with nothing', () => {
    const resource: Resource = { ...keyValue, initial: () => ({ '=n': { value: 100, revision: 0 } }) }
    const cluster = createCluster({ resource })
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.run(100)
    lose(cluster, 3)
    cluster.run(6_000)
    expect(bodies(cluster.network, 'join')).toEqual([])
    expect([1, 2, 3].map(id => valueAt(cluster, id))).toEqual([101, 101, 101])
  })
})
