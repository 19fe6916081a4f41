/**
 * Section 7.4: declaring a node dead, if the lock's options ask for it. ARE_YOU_THERE itself is in
 * traps.test.ts.
 */
import { describe, expect, it } from 'vitest'
import { Cluster } from './cluster.ts'
import { all, along, from, ofType, to } from './matchers.ts'

const create = () =>
  new Cluster({ participants: 3, localHandoffs: 0, options: { declareDeadAfterMs: 10_000 } })

describe('declareDeadAfterMs', () => {
  it('is off by default: a silent node is waited for', () => {
    const cluster = new Cluster({ participants: 3 })
    cluster.crash(3)
    cluster.try(1)
    cluster.run(3_600_000)
    expect(cluster.inside()).toEqual([])
  })

  it('a node that is gone is taken out of the group, and the others go on without it', () => {
    const cluster = create()
    cluster.crash(3)
    cluster.try(1)
    cluster.run(9_000)
    expect(cluster.inside()).toEqual([])
    cluster.run(3_000)
    expect(cluster.inside()).toEqual(['1:u'])
    for (const node of [1, 2])
      expect(Object.keys(cluster.state(node).durable.group.members)).toEqual(['1', '2'])
    cluster.exit(1)
    cluster.try(2)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['2:u'])
    expect(cluster.timers(1)).toEqual([])
  })

  it('each has its own time', () => {
    const cluster = create()
    cluster.try(2)
    cluster.deliver()
    cluster.crash(3)
    cluster.try(1)
    // Node 2 is inside, and answers; it falls silent later than node 3.
    cluster.run(6_000)
    expect(cluster.view(1).suspects).toEqual([3])
    cluster.crash(2)
    cluster.run(5_000)
    expect(cluster.state(1).soft.dead).toEqual({ 3: true })
    expect(cluster.inside()).toEqual([])
  })

  it('a node that is heard before the group has learned that it is dead is alive, and must answer', () => {
    const cluster = create()
    for (const node of [3, 2]) {
      cluster.try(node)
      cluster.deliver()
    }
    // Node 1 hears nothing of node 3, which is inside. It waits for node 2, too.
    cluster.lose(along(3, 1))
    cluster.try(1)
    cluster.run(12_000)
    expect(cluster.state(1).soft).toMatchObject({ dead: { 3: true }, wishes: [{ participant: 3 }] })
    cluster.lose(() => false)
    cluster.hand(cluster.sent.findLast(along(3, 1))!)
    expect(cluster.state(1).soft).toMatchObject({ dead: {}, wishes: [] })
    cluster.user(2, { type: 'withdraw', user: 'u' })
    cluster.run(2_000)
    expect(cluster.inside()).toEqual(['3:u'])
    cluster.exit(3)
    cluster.run(2_000)
    expect(cluster.inside()).toEqual(['1:u'])
    expect(Object.keys(cluster.state(1).durable.group.members)).toEqual(['1', '2', '3'])
  })

  it('the time in the critical section is no limit: YES_I_AM_HERE', () => {
    const cluster = create()
    cluster.try(1)
    cluster.deliver()
    cluster.try(2)
    cluster.run(600_000)
    expect(cluster.inside()).toEqual(['1:u'])
    expect(cluster.sent.filter(ofType('yes-i-am-here')).length).toBeGreaterThan(10)
  })

  it('a node that comes back ejects its users, is told, and joins as a new one', () => {
    const cluster = create()
    cluster.try(3, 'before')
    cluster.deliver()
    cluster.crash(3)
    // It does not run, so its user endangers nobody but itself.
    cluster.grants.wiped(3)
    cluster.try(1)
    cluster.run(12_000)
    expect(cluster.inside()).toEqual(['1:u'])
    cluster.start(3)
    expect(cluster.inside()).toEqual(['1:u'])
    expect(cluster.emitted).toContainEqual({
      participant: 3,
      event: expect.objectContaining({ type: 'ejected', user: 'before', reason: 'suspected' }),
    })
    cluster.exit(1)
    cluster.try(3, 'after')
    cluster.run(20_000)
    expect(cluster.view(3).membership).toBe('member')
    expect(cluster.state(1).durable.group.members[3]!.incarnation).toBeGreaterThan(0)
    expect(cluster.inside()).toEqual(['3:after'])
  })

  it('all may restart at once: a node that was not declared dead is a member as before', () => {
    const cluster = create()
    cluster.try(1)
    cluster.deliver()
    for (const node of [1, 2, 3]) cluster.crash(node)
    for (const node of [1, 2, 3]) cluster.start(node)
    cluster.try(2)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['2:u'])
  })

  it('its users that are still inside are ejected when it is told', () => {
    const cluster = create()
    cluster.try(3)
    cluster.deliver()
    // It hears, but is not heard. The test ignores that two are inside, as the operator has chosen to.
    cluster.lose(from(3))
    cluster.try(1)
    cluster.grants.wiped(3)
    cluster.run(12_000)
    expect(cluster.inside()).toEqual(['1:u'])
    expect(cluster.emitted).toContainEqual({
      participant: 3,
      event: expect.objectContaining({ type: 'ejected', user: 'u', reason: 'suspected' }),
    })
    expect(cluster.view(3).membership).toBe('joining')
    cluster.lose(() => false)
    cluster.exit(1)
    cluster.run(20_000)
    expect(cluster.view(3).membership).toBe('member')
  })

  describe('a node that was declared dead asks a node that has left since', () => {
    const wants = (cluster: Cluster, node: number, wish: 'leave' | 'join') =>
      cluster.user(node, { type: 'membership', request: wish, wish })

    /**
     * Node 1 knows the group of 1 and 3. Node 3 has taken node 2 in and node 1 out, and then itself; node 2
     * is inside.
     */
    function leaveOnlyTheOneThatIsUnknown(): Cluster {
      const cluster = create()
      wants(cluster, 2, 'leave')
      cluster.run(1_000)
      cluster.crash(1)
      wants(cluster, 2, 'join')
      cluster.run(30_000)
      expect(Object.keys(cluster.state(3).durable.group.members)).toEqual(['2', '3'])
      wants(cluster, 3, 'leave')
      cluster.run(1_000)
      expect(cluster.view(3).membership).toBe('left')
      cluster.try(2)
      cluster.run(1_000)
      expect(cluster.inside()).toEqual(['2:u'])
      cluster.start(1)
      cluster.try(1)
      return cluster
    }

    function expectToComeBack(cluster: Cluster): void {
      expect(cluster.inside()).toEqual(['2:u'])
      cluster.exit(2)
      cluster.run(60_000)
      expect(cluster.inside()).toEqual(['1:u'])
      expect(cluster.view(1).membership).toBe('member')
      expect(cluster.state(2).durable.group).toEqual(cluster.state(1).durable.group)
    }

    it('that one says so, or it would be declared dead in turn', () => {
      const cluster = leaveOnlyTheOneThatIsUnknown()
      cluster.run(30_000)
      expectToComeBack(cluster)
    })

    // Seed 500932 of the simulator: a node that was coming in let everybody pass, even a node that was out.
    it('that one says so while it comes back, and does not let it pass', () => {
      const cluster = leaveOnlyTheOneThatIsUnknown()
      wants(cluster, 3, 'join')
      cluster.run(30_000)
      expectToComeBack(cluster)
      expect(Object.keys(cluster.state(2).durable.group.members)).toEqual(['1', '2', '3'])
    })
  })

  it.each(['before it was asked', 'before it knew'])('who died %s does not enter beside a new node', when => {
    const increment = { type: 'priority', by: [100, 1, 1] } as const
    const options = { declareDeadAfterMs: 10_000, increment }
    const cluster = new Cluster({ participants: 3, localHandoffs: 0, options })
    cluster.user(2, { type: 'membership', request: 'leave', wish: 'leave' })
    cluster.run(1_000)
    if (when === 'before it was asked') cluster.crash(1)
    // Node 3 takes node 2 in. The acknowledgement of the welcome is late.
    cluster.lose(ofType('welcome-ack'))
    cluster.user(2, { type: 'membership', request: 'join', wish: 'join' })
    cluster.take(along(2, 1))
    cluster.fire(2, 'repeat')
    cluster.deliver(sent => !all(ofType('change'), to(1))(sent))
    cluster.crash(1)
    for (let waited = 0; cluster.view(2).membership !== 'member' && waited < 60_000; waited += 100)
      cluster.run(100)
    cluster.try(2)
    cluster.take(to(1))
    // Node 1 is back before node 3 has taken it out. Its number is higher than that of node 2, which it does
    // not know.
    cluster.start(1)
    cluster.try(1)
    cluster.deliver(along(1, 3))
    cluster.fire(3, 'repeat')
    cluster.deliver(along(3, 1))
    cluster.run(5_000)
    cluster.lose(() => false)
    cluster.run(60_000)
    const [first] = cluster.inside()
    expect(cluster.inside()).toEqual([first])
    cluster.exit(Number(first!.split(':')[0]))
    cluster.run(60_000)
    expect(cluster.inside()).toHaveLength(1)
    expect(cluster.inside()).not.toEqual([first])
    for (const node of [1, 2, 3])
      expect(Object.keys(cluster.state(node).durable.group.members)).toEqual(['1', '2', '3'])
  })

  it('a node that comes back waits for one that had died when it left', () => {
    const cluster = create()
    const wants = (node: number, wish: 'leave' | 'join') =>
      cluster.user(node, { type: 'membership', request: wish, wish })
    // Node 1 dies when it has let node 3 pass, before it hears that node 3 is leaving.
    wants(3, 'leave')
    cluster.deliver(sent => !all(ofType('change'), to(1))(sent))
    cluster.crash(1)
    for (let waited = 0; cluster.view(3).membership !== 'left' && waited < 30_000; waited += 100)
      cluster.run(100)
    cluster.start(1)
    // Node 2 takes node 3 in: node 1 and node 3 do not speak with each other meanwhile.
    wants(3, 'join')
    cluster.take(along(3, 1))
    cluster.fire(3, 'repeat')
    cluster.deliver(sent => !along(1, 3)(sent))
    expect(cluster.view(3).membership).toBe('member')
    cluster.try(1)
    cluster.deliver(sent => !along(1, 3)(sent))
    cluster.try(3)
    cluster.deliver(sent => !along(1, 3)(sent))
    cluster.run(30_000)
    const [first] = cluster.inside()
    expect(cluster.inside()).toEqual([first])
  })

  it('a life that was declared dead says nothing about the next one', () => {
    const cluster = create()
    cluster.try(2)
    cluster.deliver()
    cluster.crash(3)
    cluster.try(1)
    cluster.run(12_000)
    expect(cluster.state(1).soft.dead).toEqual({ 3: true })
    // Node 2 is inside, and tells the group that node 3 has come back as a new one.
    const { number, members } = cluster.state(1).durable.group
    const group = { number: number + 1, members: { ...members, 3: { name: 3, incarnation: 7 } }, gone: {} }
    const { message } = cluster.sent.findLast(along(2, 1))!
    cluster.hand({ from: 2, to: 1, message: { ...message, body: { type: 'change', group } } })
    expect(cluster.state(1).soft.dead).toEqual({})
  })

  it('is unsafe when the network splits: that is why it is off', () => {
    const cluster = create()
    cluster.try(3)
    cluster.deliver()
    cluster.lose(sent => to(3)(sent) || from(3)(sent))
    cluster.try(1)
    expect(() => cluster.run(12_000)).toThrow('inside together')
  })
})
