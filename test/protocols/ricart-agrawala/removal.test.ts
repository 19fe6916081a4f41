/** Section 7.3: nodes leave the group. */
import { describe, expect, it } from 'vitest'
import { Cluster, type Sent } from './cluster.ts'
import { along, ofType, to } from './matchers.ts'

const create = (participants: number) => new Cluster({ participants, localHandoffs: 0 })

const membersOf = (cluster: Cluster, node: number): number[] =>
  Object.keys(cluster.state(node).durable.group.members).map(Number)

describe('7.3: removal', () => {
  const leave = (cluster: Cluster, node: number) =>
    cluster.user(node, { type: 'membership', request: 'm', wish: 'leave' })
  const done = (node: number, wish: 'leave' | 'join') => ({
    participant: node,
    event: { type: 'membership-done', request: 'm', wish },
  })

  it('a leaver serves its users, takes no others, and is out when all have acknowledged', () => {
    const cluster = create(3)
    cluster.try(3)
    cluster.deliver()
    leave(cluster, 3)
    expect(cluster.try(3, 'late')).toMatchObject([{ type: 'refused', refusal: { code: 'not-a-member' } }])
    cluster.run(5_000)
    expect(membersOf(cluster, 1)).toEqual([1, 2, 3])
    cluster.exit(3)
    cluster.run(5_000)
    expect(cluster.emitted).toContainEqual(done(3, 'leave'))
    expect(cluster.view(3)).toMatchObject({ membership: 'left', phase: 'left' })
    for (const node of [1, 2]) expect(membersOf(cluster, node)).toEqual([1, 2])
    for (const node of [1, 2, 3]) expect(cluster.timers(node)).toEqual([])
    cluster.crash(3)
    const before = cluster.sent.length
    cluster.try(1)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['1:u'])
    expect(cluster.sent.length - before).toBe(2)
  })

  it('a leaver also serves users that wait, inside or not when it wants to leave', () => {
    for (const isInside of [true, false]) {
      const cluster = create(3)
      cluster.try(3, 'a')
      cluster.try(3, 'b')
      if (isInside) cluster.deliver()
      leave(cluster, 3)
      cluster.run(5_000)
      expect(cluster.inside()).toEqual(['3:a'])
      cluster.exit(3, 'a')
      cluster.run(5_000)
      expect(cluster.inside()).toEqual(['3:b'])
      expect(cluster.emitted).not.toContainEqual(done(3, 'leave'))
      cluster.exit(3, 'b')
      cluster.run(5_000)
      expect(cluster.emitted).toContainEqual(done(3, 'leave'))
      expect(cluster.view(3)).toMatchObject({ membership: 'left', waiters: [] })
    }
  })

  it('a node that waits for its REPLY pretends that it came', () => {
    const cluster = create(3)
    leave(cluster, 3)
    cluster.deliver(sent => !ofType('change')(sent))
    cluster.try(2)
    cluster.lose(sent => along(3, 2)(sent) && ofType('reply')(sent))
    cluster.deliver(sent => !ofType('change')(sent))
    expect(Object.keys(cluster.state(3).durable.deferred)).toEqual(['2'])
    expect(cluster.inside()).toEqual([])
    cluster.deliver(along(3, 2))
    expect(cluster.inside()).toEqual(['2:u'])
    cluster.run(20_000)
    expect(cluster.view(3).membership).toBe('left')
  })

  it('goes on where it was when the leaver is restarted, and is undone when it is wiped', () => {
    for (const isWiped of [false, true]) {
      const cluster = create(3)
      leave(cluster, 3)
      cluster.deliver(sent => !ofType('change')(sent) || to(1)(sent))
      expect([membersOf(cluster, 1), membersOf(cluster, 2)]).toEqual([
        [1, 2],
        [1, 2, 3],
      ])
      if (isWiped) cluster.wipe(3)
      else cluster.crash(3)
      cluster.take(() => true)
      cluster.start(3)
      cluster.run(60_000)
      for (const node of [1, 2]) expect(membersOf(cluster, node)).toEqual(isWiped ? [1, 2, 3] : [1, 2])
      expect(cluster.view(3).membership).toBe(isWiped ? 'member' : 'left')
      for (const node of [1, 2, 3]) expect(cluster.timers(node)).toEqual([])
    }
  })

  it('a node that has heard it goes on, and may be the next sponsor before all have heard it', () => {
    const cluster = create(3)
    const node = cluster.invite()
    const [join] = cluster.take(ofType('join'))
    leave(cluster, 3)
    cluster.lose(sent => ofType('change')(sent) && along(3, 2)(sent))
    cluster.deliver()
    cluster.hand(join!)
    cluster.run(2_000)
    expect(cluster.view(node).membership).toBe('member')
    expect(cluster.view(3).phase).toBe('inside')
    expect(membersOf(cluster, 2)).toEqual([1, 2, 4])
    // The operator wants node 3, too, and would have it called back (R16).
    cluster.lose(sent => ofType('invite')(sent) && to(3)(sent))
    cluster.run(10_000)
    expect(cluster.view(3).membership).toBe('left')
    for (const member of [1, 2, node]) expect(membersOf(cluster, member)).toEqual([1, 2, 4])
  })

  it('does not leave a group that nobody else remembers: nodes that lost it come back first', () => {
    const cluster = create(2)
    leave(cluster, 2)
    cluster.deliver(sent => !ofType('change')(sent))
    expect(cluster.view(2).phase).toBe('inside')
    cluster.wipe(1)
    cluster.start(1)
    cluster.run(20_000)
    expect(cluster.view(1).membership).toBe('member')
    expect(cluster.view(2).membership).toBe('left')
    expect(membersOf(cluster, 1)).toEqual([1])
  })

  it('outside it answers nobody: a node that still asks it has missed what happened since', () => {
    const cluster = create(3)
    cluster.try(1)
    const [late] = cluster.network.filter(to(3))
    cluster.deliver()
    cluster.exit(1)
    leave(cluster, 3)
    cluster.run(5_000)
    cluster.hand(late!)
    expect(cluster.network).toEqual([])
  })

  it('what it asked before it told the others does not bring it back', () => {
    const cluster = create(3)
    leave(cluster, 3)
    const [late] = cluster.network.filter(to(1))
    cluster.deliver(sent => !ofType('change')(sent) || to(1)(sent))
    // Node 1 has heard that node 3 is out, and says so; node 2 has not.
    cluster.hand(late!)
    expect(cluster.network.filter(ofType('not-a-member'))).toHaveLength(1)
    cluster.run(5_000)
    expect(cluster.view(3).membership).toBe('left')
  })

  it('it may come back', () => {
    const cluster = create(3)
    leave(cluster, 3)
    cluster.run(5_000)
    cluster.user(3, { type: 'membership', request: 'm', wish: 'join' })
    cluster.run(5_000)
    expect(cluster.emitted).toContainEqual(done(3, 'join'))
    for (const node of [1, 2, 3]) expect(membersOf(cluster, node)).toEqual([1, 2, 3])
    cluster.try(3)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['3:u'])
  })

  it('if all leave, one stays, and says so', () => {
    const cluster = create(3)
    for (const node of [1, 2, 3]) leave(cluster, node)
    cluster.run(60_000)
    const statuses = [1, 2, 3].map(node => cluster.view(node).membership)
    expect(statuses.sort()).toEqual(['left', 'left', 'member'])
    expect(cluster.emitted.filter(({ event }) => event.type === 'refused')).toHaveLength(1)
    for (const node of [1, 2, 3]) expect(cluster.timers(node)).toEqual([])
  })

  it('regression: a node that left a later group and comes back has not lost its storage', () => {
    const cluster = create(3)
    const join = (node: number) => cluster.user(node, { type: 'membership', request: 'm', wish: 'join' })
    const isOf1 = (sent: Sent) => sent.from === 1 || sent.to === 1
    leave(cluster, 3)
    cluster.run(5_000)
    leave(cluster, 1)
    cluster.deliver(sent => !ofType('change-ack')(sent))
    // Node 2 goes on alone; node 1 does not hear that it is out.
    cluster.lose(isOf1)
    expect(membersOf(cluster, 2)).toEqual([2])
    join(3)
    cluster.run(5_000)
    leave(cluster, 2)
    cluster.run(5_000)
    expect(membersOf(cluster, 3)).toEqual([3])
    cluster.try(3)
    join(2)
    cluster.take(() => true)
    // Now node 1 repeats what node 2 acknowledged long ago.
    cluster.lose(() => false)
    cluster.fire(1, 'repeat')
    cluster.deliver(isOf1)
    expect(cluster.view(1).membership).toBe('left')
    expect(cluster.view(2).membership).toBe('joining')
    cluster.exit(3)
    cluster.run(5_000)
    expect(membersOf(cluster, 2)).toEqual([2, 3])
  })
})
