/**
 * From one set of members to the next, and what becomes of holders and waiters (rules M5, M8, M9), with the
 * run that each rule forbids.
 */
import { describe, expect, it } from 'vitest'
import {
  addMachines,
  all,
  bodies,
  CHANGE_MS,
  change,
  changeTo,
  createCluster,
  doneAt,
  enter,
  epochOf,
  eventsOf,
  eventTypes,
  exit,
  from,
  holder,
  isIn,
  issue,
  keepAlive,
  membersAt,
  membershipOf,
  ofType,
  ownerAt,
  protocols,
  refusalsAt,
  setOf,
  statusOf,
  TERMINATION_MS,
  to,
  valueAt,
} from './scenes.ts'

describe.each(protocols)('handover %s', (_name, protocol) => {
  const withValue = (participants = 3) => {
    const cluster = createCluster(protocol, participants)
    const by = enter(cluster, 1, 'a')
    issue(cluster, by, 'x')
    cluster.run(100)
    exit(cluster, by)
    cluster.run(100)
    return cluster
  }

  it('M5 the old members keep what they have until a majority of the new ones has it', () => {
    const cluster = withValue()
    addMachines(cluster, 3)
    cluster.lose(all(to(5, 6), ofType('handover', 'catch-up', 'snapshot-offer')))
    change(cluster, 2, 'A', setOf(4, 5, 6))
    // They were brought up to date before.
    cluster.lose(() => false)
    cluster.deliver(
      ofType('invite', 'join', 'catch-up', 'snapshot-offer', 'snapshot-request', 'snapshot-page'),
    )
    cluster.lose(to(5, 6))
    cluster.run(CHANGE_MS)
    expect(statusOf(cluster, 4)).toBe('member')
    for (const old of [1, 2, 3])
      expect(membershipOf(cluster, old)).toEqual({ status: 'removed', hasData: true })
    expect(doneAt(cluster, 2)).toEqual([])
    expect(cluster.view(2).members).toMatchObject({ configuration: 1, isHandedOver: false })
    // The one that has everything is gone: the old members help the others, even after a restart.
    cluster.crash(4)
    for (const old of [1, 2, 3]) {
      cluster.crash(old)
      cluster.start(old)
    }
    cluster.lose(() => false)
    cluster.run(TERMINATION_MS)
    expect([5, 6].map(id => statusOf(cluster, id))).toEqual(['member', 'member'])
    expect([5, 6].map(id => valueAt(cluster, id))).toEqual([1, 1])
    cluster.try(5, 'b')
    cluster.run(TERMINATION_MS)
    expect(isIn(cluster, 5, 'b')).toBe(true)
  })

  it('M5 afterwards a tombstone remains, which is never born again', () => {
    const cluster = withValue()
    addMachines(cluster, 3)
    changeTo(cluster, 2, 'A', setOf(4, 5, 6))
    for (const old of [1, 2, 3]) {
      expect(membershipOf(cluster, old)).toEqual({ status: 'removed', hasData: false })
      const families = new Set([...cluster.storage(old).keys()].map(key => key.split('/')[0]))
      for (const family of ['log', 'cell', 'result', 'waiter', 'paxos'])
        expect(families).not.toContain(family)
      expect(families).toContain('epoch')
      cluster.crash(old)
      cluster.start(old, true)
      expect(statusOf(cluster, old)).toBe('removed')
    }
    cluster.try(2, 'b')
    expect(refusalsAt(cluster, 2)).toEqual([
      { code: 'elsewhere', epoch: 1, configuration: 1, members: setOf(4, 5, 6) },
    ])
    cluster.run(TERMINATION_MS)
    expect([1, 2, 3].flatMap(id => cluster.timers(id))).toEqual([])
  })

  it('M5 an operator is told once nobody else is needed, and not before', () => {
    const cluster = withValue()
    addMachines(cluster, 2)
    cluster.lose(ofType('change'))
    change(cluster, 2, 'A', setOf(1, 4, 5))
    cluster.run(500)
    cluster.isolate(4, 5)
    cluster.lose(() => false)
    cluster.run(CHANGE_MS)
    expect(statusOf(cluster, 2)).toBe('removed')
    expect(doneAt(cluster, 2)).toEqual([])
    cluster.reconnect(4)
    cluster.run(CHANGE_MS)
    expect(doneAt(cluster, 2)).toEqual(['A'])
  })

  it('M5 a member that comes back with old storage is told what was decided', () => {
    const cluster = withValue()
    addMachines(cluster, 1)
    cluster.isolate(3)
    changeTo(cluster, 2, 'A', setOf(1, 2, 4))
    cluster.reconnect(3)
    cluster.try(3, 'late')
    cluster.run(CHANGE_MS)
    expect(statusOf(cluster, 3)).toBe('removed')
    expect(refusalsAt(cluster, 3)).toMatchObject([{ code: 'elsewhere', members: setOf(1, 2, 4) }])
    expect(epochOf(cluster, 1)).toBe(1)
  })

  it('M5 one that missed several sets jumps to the newest', () => {
    const cluster = withValue()
    addMachines(cluster, 2)
    cluster.isolate(2)
    changeTo(cluster, 1, 'A', setOf(1, 2, 4))
    changeTo(cluster, 1, 'B', setOf(1, 2, 5), 1)
    cluster.reconnect(2)
    cluster.try(2, 'b')
    cluster.run(CHANGE_MS)
    expect(membersAt(cluster, 2)).toEqual([1, 2, 5])
    expect(isIn(cluster, 2, 'b')).toBe(true)
  })

  it('M8 the owner of the next epoch is one of its members', () => {
    const cluster = withValue()
    expect(ownerAt(cluster, 2)).toBe(1)
    addMachines(cluster, 1)
    changeTo(cluster, 1, 'A', setOf(2, 3, 4))
    const { owner } = cluster.state(2).durable.epoch
    expect([2, 3]).toContain(owner)
    enter(cluster, 4, 'b')
  })

  it('M8 if all are new, the owner is a newcomer', () => {
    const cluster = withValue()
    addMachines(cluster, 3)
    changeTo(cluster, 1, 'A', setOf(4, 5, 6))
    expect(cluster.state(5).durable.epoch.owner).toBe(4)
    enter(cluster, 6, 'b')
  })

  it('M9 a holder that stays keeps its grant, and its operation is done once', () => {
    const cluster = createCluster(protocol)
    const by = enter(cluster, 1, 'a')
    addMachines(cluster, 1)
    change(cluster, 2, 'A', setOf(1, 2, 4))
    issue(cluster, by, 'x')
    cluster.run(CHANGE_MS)
    expect(doneAt(cluster, 2)).toEqual(['A'])
    expect(isIn(cluster, 1, 'a')).toBe(true)
    expect(eventTypes(cluster, 1)).not.toContain('ejected')
    issue(cluster, by, 'y')
    cluster.run(100)
    expect([1, 2, 4].map(id => valueAt(cluster, id))).toEqual([2, 2, 2])
    expect(eventsOf(cluster, 1, 'outcome').map(({ opId }) => opId)).toEqual(['x', 'y'])
  })

  it('M9 an owner that has to go lets its user finish first', () => {
    const cluster = createCluster(protocol)
    const by = enter(cluster, 1, 'a')
    addMachines(cluster, 1)
    change(cluster, 2, 'A', setOf(2, 3, 4))
    cluster.run(10_000)
    expect(epochOf(cluster, 1)).toBe(0)
    issue(cluster, by, 'x')
    cluster.run(100)
    exit(cluster, by)
    cluster.run(CHANGE_MS)
    expect(doneAt(cluster, 2)).toEqual(['A'])
    expect(eventTypes(cluster, 1)).not.toContain('ejected')
    expect([2, 3, 4].map(id => valueAt(cluster, id))).toEqual([1, 1, 1])
  })

  it('M9 it does not wait for ever: outcome first, then the ejection', () => {
    const cluster = createCluster(protocol)
    const by = enter(cluster, 1, 'a')
    addMachines(cluster, 1)
    change(cluster, 2, 'A', setOf(2, 3, 4))
    for (let second = 0; second < 58; second++) {
      keepAlive(cluster, by, 30_000)
      cluster.run(1_000)
    }
    expect(epochOf(cluster, 1)).toBe(0)
    cluster.lose(all(to(2, 3), ofType('invoke')))
    issue(cluster, by, 'x')
    for (let second = 0; second < 20; second++) {
      if (isIn(cluster, 1, 'a')) keepAlive(cluster, by, 30_000)
      cluster.run(1_000)
    }
    expect(doneAt(cluster, 2)).toEqual(['A'])
    const told = cluster.emitted.filter(({ participant }) => participant === 1).map(({ event }) => event)
    expect(told.filter(({ type }) => type === 'outcome' || type === 'ejected')).toMatchObject([
      { type: 'outcome', opId: 'x' },
      { type: 'ejected', user: 'a', reason: 'operator' },
    ])
    expect([2, 3, 4].map(id => valueAt(cluster, id))).toEqual([1, 1, 1])
  })

  it('M9 the token goes to a participant that stays and waits for it, and it keeps it', () => {
    const cluster = createCluster(protocol, 3, { localHandoffs: 3 })
    const by = enter(cluster, 1, 'a')
    addMachines(cluster, 1)
    cluster.try(1, 'here')
    cluster.try(2, 'there')
    cluster.run(100)
    change(cluster, 3, 'A', setOf(2, 3, 4))
    cluster.run(1_000)
    exit(cluster, by)
    cluster.run(CHANGE_MS)
    const next = holder(cluster, 2, 'there')
    expect(next.epoch).toBe(0)
    expect(doneAt(cluster, 3)).toEqual(['A'])
    expect(isIn(cluster, 2, 'there')).toBe(true)
    // The one that waited in the wrong place is sent on.
    expect(refusalsAt(cluster, 1)).toMatchObject([{ code: 'elsewhere', members: setOf(2, 3, 4) }])
    expect(eventTypes(cluster, 1)).not.toContain('ejected')
  })

  it('M9 readers and operators at a participant that is removed are sent on', () => {
    const cluster = withValue()
    addMachines(cluster, 1)
    cluster.lose(all(to(3), ofType('read-index-reply')))
    cluster.user(3, { type: 'read', request: 'r' })
    changeTo(cluster, 1, 'A', setOf(1, 2, 4))
    expect(statusOf(cluster, 3)).toBe('removed')
    expect(eventsOf(cluster, 3, 'refused')).toMatchObject([{ user: 'r', event: 'read' }])
    cluster.user(3, { type: 'eject', request: 'e' })
    expect(eventsOf(cluster, 3, 'refused').at(-1)).toMatchObject({ user: 'e', event: 'eject' })
  })

  it('M9 waiters of participants that stay wait on', () => {
    const cluster = createCluster(protocol)
    const by = enter(cluster, 1, 'a')
    cluster.try(2, 'b')
    addMachines(cluster, 1)
    changeTo(cluster, 1, 'A', setOf(1, 2, 4))
    expect(refusalsAt(cluster, 2)).toEqual([])
    exit(cluster, by)
    cluster.run(CHANGE_MS)
    expect(isIn(cluster, 2, 'b')).toBe(true)
  })

  it('a user of a removed participant that asks about its grant is answered', () => {
    const cluster = withValue()
    const by = enter(cluster, 3, 'b')
    exit(cluster, by)
    addMachines(cluster, 1)
    changeTo(cluster, 1, 'A', setOf(1, 2, 4))
    expect(exit(cluster, by)).toMatchObject([{ type: 'rem' }])
    expect(issue(cluster, by, 'late')).toMatchObject([{ refusal: { code: 'grant-over' } }])
    expect(cluster.take(from(3))).toEqual([])
    expect(bodies(cluster.sent, 'elsewhere').length).toBeGreaterThan(0)
  })
})
