/** Section 7.2: nodes come into the group, for the first time or again. */
import { describe, expect, it } from 'vitest'
import { Cluster } from './cluster.ts'
import { along, from, ofType, to } from './matchers.ts'

const create = (participants: number) => new Cluster({ participants, localHandoffs: 0 })

const membersOf = (cluster: Cluster, node: number): number[] =>
  Object.keys(cluster.state(node).durable.group.members).map(Number)

describe('7.2: insertion', () => {
  it('a new node is sponsored, told to all, and welcomed with the highest number of all', () => {
    const cluster = create(3)
    cluster.try(3)
    cluster.deliver()
    cluster.exit(3)
    // Node 3 has used numbers that nobody else has seen.
    for (let round = 0; round < 5; round++) {
      cluster.try(3)
      cluster.user(3, { type: 'withdraw', user: 'u' })
      cluster.take(() => true)
    }
    const highest = cluster.state(3).durable.highest.request
    expect(cluster.state(1).durable.highest.request).toBeLessThan(highest)

    const node = cluster.invite()
    cluster.run(2_000)
    for (const member of [1, 2, 3, node]) expect(membersOf(cluster, member)).toEqual([1, 2, 3, 4])
    expect(cluster.view(node).membership).toBe('member')
    expect(cluster.state(node).durable.highest.request).toBeGreaterThanOrEqual(highest)
    for (const member of [1, 2, 3, node]) expect(cluster.timers(member)).toEqual([])

    cluster.try(node)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['4:u'])
    expect(cluster.state(node).durable.own.asked).toEqual([1, 2, 3])
  })

  it('it is welcomed only after all have acknowledged, and the sponsor releases only after that', () => {
    const cluster = create(3)
    const node = cluster.invite()
    cluster.lose(along(3, 1))
    cluster.deliver(to(1, 2, 3))
    // The sponsor needs node 3's REPLY first.
    expect(cluster.state(1).durable.own.phase).toBe('requesting')
    cluster.lose(() => false)
    cluster.fire(1, 'repeat')
    cluster.deliver(sent => !ofType('change-ack')(sent))
    expect(cluster.state(1).durable).toMatchObject({
      own: { phase: 'inside' },
      sponsoring: { change: { participant: 4 } },
    })
    cluster.deliver(along(2, 1))
    expect(cluster.view(node).membership).toBe('joining')
    cluster.deliver(along(3, 1))
    cluster.deliver(sent => !ofType('welcome-ack')(sent))
    expect(cluster.view(node).membership).toBe('member')
    expect(cluster.state(1).durable.own.phase).toBe('inside')
    cluster.deliver()
    expect(cluster.state(1).durable).toMatchObject({ own: { phase: 'idle' }, sponsoring: null })
  })

  it('a request that was made before it came does not wait for it, and goes first', () => {
    const cluster = create(3)
    const node = cluster.invite()
    const [join] = cluster.take(ofType('join'))
    cluster.try(2)
    cluster.take(from(2))
    cluster.hand(join!)
    // Node 1 sponsors with a lower name than node 2's for the same number.
    cluster.deliver(sent => !from(2)(sent) || !ofType('are-you-there')(sent))
    expect(cluster.view(node).membership).toBe('member')
    expect(cluster.state(2).durable.own).toMatchObject({ phase: 'requesting', asked: [1, 3] })
    cluster.try(node)
    expect(cluster.state(node).durable.own.request).toBeGreaterThan(cluster.state(2).durable.own.request)
    cluster.deliver()
    expect(cluster.inside()).toEqual([])
    cluster.fire(2, 'repeat')
    cluster.deliver()
    expect(cluster.inside()).toEqual(['2:u'])
    cluster.exit(2)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['4:u'])
  })

  it('R15 a name that is taken is not given twice', () => {
    const cluster = new Cluster({ participants: 3, options: { names: [7, 4, 1] } })
    // The new node has no name among the three, so its name would be its number, 4: that is node 2's.
    const node = cluster.invite()
    cluster.run(20_000)
    expect(cluster.view(node).membership).toBe('member')
    for (const member of [1, 2, 3, node])
      expect(Object.values(cluster.state(member).durable.group.members).map(({ name }) => name)).toEqual([
        7, 4, 1, 2,
      ])
  })

  it('goes on when the sponsor is restarted, or wiped, in the middle', () => {
    for (const isWiped of [false, true]) {
      const cluster = create(3)
      const node = cluster.invite()
      cluster.deliver(sent => !ofType('change')(sent) || to(2)(sent))
      expect(cluster.state(1).durable.sponsoring).not.toBeNull()
      expect([membersOf(cluster, 2), membersOf(cluster, 3)]).toEqual([
        [1, 2, 3, 4],
        [1, 2, 3],
      ])
      if (isWiped) cluster.wipe(1)
      else cluster.crash(1)
      cluster.take(() => true)
      cluster.start(1)
      cluster.run(60_000)
      for (const member of [1, 2, 3, node]) {
        expect(membersOf(cluster, member)).toEqual([1, 2, 3, 4])
        expect(cluster.timers(member)).toEqual([])
      }
    }
  })
})

describe('7.2.1: a node that was there before', () => {
  it('comes back with a new incarnation when its storage was wiped; what it had wanted is forgotten', () => {
    const cluster = create(3)
    cluster.try(3)
    const old = cluster.take(from(3))
    cluster.wipe(3)
    cluster.try(1)
    cluster.start(3)
    cluster.run(5_000)
    cluster.exit(1)
    cluster.run(5_000)
    expect(cluster.view(3).membership).toBe('member')
    const { incarnation } = cluster.state(1).durable.group.members[3]!
    expect(incarnation).toBeGreaterThan(0)
    expect(cluster.state(2).durable.group.members[3]!.incarnation).toBe(incarnation)
    // No node owes the earlier life a REPLY.
    for (const node of [1, 2]) expect(cluster.state(node).durable.deferred).toEqual({})
    // A REQUEST of the earlier life comes late: no node defers it, and none answers it.
    cluster.try(1)
    cluster.deliver()
    for (const request of old) cluster.hand(request)
    expect(cluster.network).toEqual([])
    expect(cluster.state(1).durable.deferred).toEqual({})
    cluster.exit(1)
    cluster.try(3)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['3:u'])
  })

  it('two at once come back, too', () => {
    const cluster = create(3)
    for (const node of [2, 3]) cluster.wipe(node)
    for (const node of [2, 3]) cluster.start(node)
    cluster.run(60_000)
    for (const node of [1, 2, 3]) {
      expect(cluster.view(node).membership).toBe('member')
      expect(cluster.timers(node)).toEqual([])
    }
    for (const node of [1, 2, 3]) cluster.try(node)
    cluster.deliver()
    expect(cluster.inside()).toHaveLength(1)
  })

  it('cannot ask before all have acknowledged', () => {
    const cluster = create(3)
    cluster.wipe(3)
    cluster.start(3)
    cluster.lose(sent => ofType('change-ack')(sent) && from(2)(sent))
    cluster.run(20_000)
    expect(cluster.view(3).membership).toBe('joining')
    expect(cluster.try(3)).toMatchObject([{ type: 'refused', refusal: { code: 'not-a-member' } }])
    cluster.lose(() => false)
    cluster.run(20_000)
    expect(cluster.view(3).membership).toBe('member')
  })
})

describe('what comes late', () => {
  it('a JOIN of a life that has left since is not carried out', () => {
    const cluster = create(3)
    cluster.wipe(3)
    cluster.start(3)
    const [join] = cluster.network.filter(ofType('join'))
    cluster.run(5_000)
    cluster.user(3, { type: 'membership', request: 'm', wish: 'leave' })
    cluster.run(5_000)
    expect(cluster.view(3).membership).toBe('left')
    cluster.hand(join!)
    cluster.run(5_000)
    expect(cluster.view(3).membership).toBe('left')
    for (const node of [1, 2]) expect(membersOf(cluster, node)).toEqual([1, 2])
  })

  it('a JOIN of a life that was followed by another is not carried out, also if it was noted before', () => {
    const cluster = create(3)
    cluster.try(1)
    cluster.deliver()
    cluster.wipe(3)
    cluster.start(3)
    // Node 2 wants to sponsor this life, but node 1 is inside.
    const [join] = cluster.take(ofType('join'))
    cluster.hand({ ...join!, to: 2 })
    expect(cluster.state(2).soft.wishes).toHaveLength(1)
    const wish = cluster.state(2).soft.wishes[0]!
    cluster.lose(from(2))
    cluster.wipe(3)
    cluster.start(3)
    cluster.take(ofType('join'))
    cluster.lose(() => false)
    cluster.exit(1)
    cluster.run(60_000)
    const { incarnation } = cluster.state(1).durable.group.members[3]!
    expect(incarnation).toBeGreaterThan(wish.incarnation)
    expect(cluster.state(3).durable.membership).toEqual({ status: 'member', incarnation })
    cluster.hand({ ...join!, to: 2 })
    cluster.run(5_000)
    expect(cluster.state(2).durable.group.members[3]!.incarnation).toBe(incarnation)
    for (const node of [1, 2, 3]) expect(cluster.timers(node)).toEqual([])
  })
})
