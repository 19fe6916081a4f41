/** Operators change the members while some of them are not in the group, or leave it (R16 to R18). */
import { describe, expect, it } from 'vitest'
import type { Cluster } from './cluster.ts'
import { all, from, type Matcher, ofType, to } from './matchers.ts'
import {
  CHANGE_MS,
  create,
  doneAt,
  groupOf,
  PATIENCE_MS,
  refusalsAt,
  setOf,
  statusOf,
} from './member-scenes.ts'

function leave(cluster: Cluster, node: number): void {
  cluster.user(node, { type: 'membership', request: 'leave', wish: 'leave' })
  cluster.run(CHANGE_MS)
  expect(statusOf(cluster, node)).toBe('left')
}

function join(cluster: Cluster, node: number): void {
  cluster.user(node, { type: 'membership', request: 'join', wish: 'join' })
  cluster.run(CHANGE_MS)
}

describe('R13: nobody goes before one of those that stay is there', () => {
  it('also if the last of them leaves by its own wish while the others are on their way out', () => {
    const cluster = create(4, 0)
    cluster.try(4, 'first')
    cluster.deliver()
    cluster.change(1, 'A', [4])
    cluster.deliver()
    cluster.exit(4, 'first')
    cluster.try(4, 'second')
    cluster.deliver()
    expect(cluster.inside()).toEqual(['4:second'])
    expect([1, 2, 3].map(node => statusOf(cluster, node))).toEqual(['removed', 'leaving', 'leaving'])
    cluster.user(4, { type: 'membership', request: 'leave', wish: 'leave' })
    cluster.exit(4, 'second')
    cluster.run(CHANGE_MS)
    expect(statusOf(cluster, 4)).toBe('left')
    expect([2, 3].map(node => statusOf(cluster, node))).toEqual(['member', 'member'])
    join(cluster, 4)
    expect([1, 2, 3].map(node => statusOf(cluster, node))).toEqual(['removed', 'removed', 'removed'])
    expect(groupOf(cluster, 4)).toEqual([4])
  })
})

describe('R16: a change brings back those that it names', () => {
  it('a node that has left finds back though all that it knew were replaced', () => {
    const cluster = create(3, 2)
    leave(cluster, 1)
    cluster.change(2, 'A', [1, 4, 5])
    cluster.run(CHANGE_MS)
    expect(setOf(cluster, 4)).toEqual([1, 4, 5])
    for (const node of [2, 3]) cluster.crash(node)
    join(cluster, 1)
    for (const node of [1, 4, 5]) expect(groupOf(cluster, node)).toEqual([1, 4, 5])
  })

  it('a change that names a node that is not there is not made, and the operator hears of it', () => {
    const cluster = create()
    leave(cluster, 1)
    cluster.crash(1)
    cluster.change(2, 'A', [1, 2, 4])
    cluster.run(PATIENCE_MS)
    expect(refusalsAt(cluster, 2)).toEqual([{ code: 'not-reached', participants: [1] }])
    expect(setOf(cluster, 2)).toEqual([1, 2, 3])
    // Without it, the change is made.
    cluster.change(2, 'B', [2, 3, 4])
    cluster.run(CHANGE_MS)
    expect(doneAt(cluster, 2)).toEqual(['B'])
    expect(groupOf(cluster, 4)).toEqual([2, 3, 4])
  })

  it('a node that leaves while the newcomers come in is called back, or the change comes to nothing', () => {
    const cluster = create()
    cluster.change(1, 'A', [1, 2, 4])
    cluster.deliver(sent => !ofType('join')(sent) || cluster.state(1).durable.group.set === undefined)
    cluster.take(ofType('join'))
    cluster.user(2, { type: 'membership', request: 'leave', wish: 'leave' })
    cluster.deliver(sent => !ofType('invite', 'join')(sent))
    expect(statusOf(cluster, 2)).toBe('left')
    cluster.crash(2)
    cluster.run(PATIENCE_MS)
    expect(refusalsAt(cluster, 1)).toEqual([{ code: 'not-reached', participants: [2] }])
    expect(setOf(cluster, 1)).toEqual([1, 2, 3, 4])
    cluster.start(2)
    join(cluster, 2)
    for (const node of [1, 2, 3, 4]) expect(groupOf(cluster, node)).toEqual([1, 2, 3, 4])
  })

  it('a call from before it left does not bring it back', () => {
    const cluster = create()
    cluster.change(1, 'A', [1, 2, 3, 4])
    cluster.deliver()
    const [invite] = cluster.sent.filter(ofType('invite')).filter(to(4))
    cluster.run(CHANGE_MS)
    leave(cluster, 4)
    cluster.hand(invite!)
    expect(statusOf(cluster, 4)).toBe('left')
    expect(cluster.take(ofType('join'))).toEqual([])
  })

  it('a node that has left sends those that ask it to the members that it knew', () => {
    const cluster = create(3, 2)
    leave(cluster, 1)
    cluster.change(2, 'A', [2, 3, 4, 5])
    // Node 5 has answered once, and is gone before it comes in; all that node 1 knows leave meanwhile.
    cluster.deliver(sent => !ofType('join')(sent) || cluster.state(2).durable.group.set === undefined)
    cluster.crash(5)
    cluster.take(ofType('join'))
    cluster.run(1_000)
    expect(groupOf(cluster, 4)).toEqual([2, 3, 4])
    for (const node of [2, 3]) {
      cluster.user(node, { type: 'membership', request: 'leave', wish: 'leave' })
      cluster.deliver(sent => !ofType('invite')(sent))
      expect(statusOf(cluster, node)).toBe('left')
    }
    cluster.take(ofType('invite'))
    cluster.lose(ofType('invite'))
    cluster.run(PATIENCE_MS)
    expect(setOf(cluster, 4)).toEqual([1, 2, 3, 4])
    join(cluster, 1)
    expect(groupOf(cluster, 4)).toEqual([1, 4])
  })

  it('a node that leaves by its own wish comes back with the next change that names it', () => {
    const cluster = create()
    leave(cluster, 2)
    cluster.change(1, 'A', [1, 2, 3, 4])
    cluster.run(CHANGE_MS)
    expect(doneAt(cluster, 1)).toEqual(['A'])
    for (const node of [1, 2, 3, 4]) expect(groupOf(cluster, node)).toEqual([1, 2, 3, 4])
  })

  it('a node that has left, and is removed meanwhile, does not come back', () => {
    const cluster = create()
    leave(cluster, 3)
    cluster.change(1, 'A', [1, 2, 4])
    cluster.run(CHANGE_MS)
    join(cluster, 3)
    expect(statusOf(cluster, 3)).toBe('removed')
    expect(refusalsAt(cluster, 3)).toMatchObject([{ code: 'elsewhere' }])
    expect(groupOf(cluster, 1)).toEqual([1, 2, 4])
  })
})

describe('R17: a node on its way out needs nobody who is not in a later group', () => {
  /**
   * Node 1 takes itself out, and node 3, which is replaced, is the next one to go. Once node 1 has begun, the
   * network loses what matches.
   */
  function leaveWithTheReplaced(lost: Matcher): Cluster {
    const cluster = create()
    cluster.change(1, 'A', [1, 2, 4])
    cluster.deliver(() => changeAt(cluster, 1) !== 'arrived')
    cluster.user(1, { type: 'membership', request: 'leave', wish: 'leave' })
    cluster.lose(sent => lost(sent) && changeAt(cluster, 1) === 'remove')
    cluster.deliver()
    expect(statusOf(cluster, 1)).toBe('leaving')
    return cluster
  }

  /** The others go on without both of them, the operator is told so, and node 3 is switched off. */
  function switchOffWhileLeaving(lost: Matcher): Cluster {
    const cluster = leaveWithTheReplaced(lost)
    for (const node of [2, 4]) expect(groupOf(cluster, node)).toEqual([2, 4])
    cluster.change(2, 'A', [1, 2, 4], 0, 'A again')
    expect(doneAt(cluster, 2)).toEqual(['A again'])
    cluster.crash(3)
    cluster.lose(() => false)
    return cluster
  }

  const changeAt = (cluster: Cluster, node: number) => cluster.state(node).durable.sponsoring?.change.type

  function expectBack(cluster: Cluster): void {
    cluster.run(CHANGE_MS)
    expect(statusOf(cluster, 1)).toBe('left')
    join(cluster, 1)
    for (const node of [1, 2, 4]) expect(groupOf(cluster, node)).toEqual([1, 2, 4])
  }

  it('one that was switched off has heard of it, but its answer was lost', () => {
    const cluster = switchOffWhileLeaving(all(ofType('change-ack'), from(3), to(1)))
    expectBack(cluster)
  })

  it('one that was switched off has answered, and the leaver was restarted since', () => {
    const cluster = switchOffWhileLeaving(all(ofType('change-ack'), from(2), to(1)))
    cluster.crash(1)
    cluster.start(1)
    expectBack(cluster)
  })

  it('those that are in it have to know', () => {
    const cluster = leaveWithTheReplaced(all(ofType('change'), to(4)))
    expect(groupOf(cluster, 2)).toEqual([2, 4])
    expect(groupOf(cluster, 4)).toEqual([1, 2, 3, 4])
    cluster.run(CHANGE_MS)
    expect(statusOf(cluster, 1)).toBe('leaving')
    cluster.lose(() => false)
    expectBack(cluster)
  })
})

describe('R18: whoever wants in asks all that it knows', () => {
  /**
   * Those of the first members that come first have left before. Then a change names two newcomers, comes to
   * nothing because of the second one, and the first one is not in yet: nobody calls it any more.
   */
  function comeToNothing(participants: number, leavers: number): { cluster: Cluster; newcomer: number } {
    const cluster = create(participants, 2)
    for (let node = 1; node <= leavers; node++) leave(cluster, node)
    const sponsor = leavers + 1
    const [newcomer, silent] = [participants + 1, participants + 2]
    cluster.change(sponsor, 'A', [sponsor, newcomer, silent])
    const isPlanned = () => cluster.state(sponsor).durable.group.set !== undefined
    cluster.deliver(sent => !ofType('join')(sent) || !isPlanned())
    cluster.crash(silent)
    cluster.take(all(ofType('join'), from(newcomer)))
    cluster.deliver()
    expect(groupOf(cluster, sponsor)).toContain(silent)
    cluster.run(PATIENCE_MS)
    expect(refusalsAt(cluster, sponsor)).toEqual([{ code: 'not-reached', participants: [silent] }])
    expect(groupOf(cluster, sponsor)).not.toContain(newcomer)
    expect(statusOf(cluster, newcomer)).toBe('joining')
    return { cluster, newcomer }
  }

  it.each([
    ['the first one', 3, 1],
    ['many', 9, 7],
  ])('it hears that it is not wanted, though %s of them left before it came', (_, participants, leavers) => {
    const { cluster, newcomer } = comeToNothing(participants, leavers)
    join(cluster, newcomer)
    expect(refusalsAt(cluster, newcomer)).toMatchObject([{ code: 'elsewhere' }])
    expect(statusOf(cluster, newcomer)).toBe('removed')
  })

  it('one that nobody has named falls silent when it has asked all', () => {
    const cluster = create(9, 1)
    cluster.run(PATIENCE_MS)
    const calls = cluster.sent.filter(ofType('join'))
    expect(new Set(calls.map(call => call.to)).size).toBe(9)
    cluster.run(PATIENCE_MS)
    expect(cluster.sent.filter(ofType('join'))).toHaveLength(calls.length)
    expect(statusOf(cluster, 10)).toBe('joining')
  })
})
