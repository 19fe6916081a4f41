/** Operators change the members (rules R9 to R14), with the run that each rule forbids. */
import { describe, expect, it } from 'vitest'
import { along, from, ofType, to } from './matchers.ts'
import {
  CHANGE_MS,
  configOf,
  create,
  doneAt,
  groupOf,
  PATIENCE_MS,
  refusals,
  refusalsAt,
  setOf,
  statusOf,
} from './member-scenes.ts'

describe('R9: the set changes inside, and all members acknowledge it', () => {
  it('while a user is inside, nothing changes', () => {
    const cluster = create()
    cluster.try(2)
    cluster.deliver()
    cluster.change(1, 'A', [1, 2, 4])
    cluster.run(CHANGE_MS)
    expect(configOf(cluster, 1)).toBe(0)
    cluster.exit(2)
    cluster.run(CHANGE_MS)
    expect(doneAt(cluster, 1)).toEqual(['A'])
  })

  it('of two at once the first one inside wins: the other was made for another set', () => {
    const cluster = create(3, 2)
    cluster.change(1, 'A', [1, 2, 3, 4])
    cluster.change(2, 'B', [1, 2, 3, 5])
    cluster.deliver(sent => !ofType('change')(sent))
    // Both have asked to be inside; node 1 is.
    expect(cluster.state(2).durable.own.phase).toBe('requesting')
    cluster.run(CHANGE_MS)
    expect(doneAt(cluster, 1)).toEqual(['A'])
    const configuration = configOf(cluster, 1)
    const members = { 1: '', 2: '', 3: '', 4: '' }
    expect(refusalsAt(cluster, 2)).toEqual([{ code: 'other-members', configuration, members }])
    expect(groupOf(cluster, 3)).toEqual([1, 2, 3, 4])
  })

  it('a sponsor that is restarted on the way goes on', () => {
    const cluster = create()
    cluster.change(1, 'A', [1, 2, 4])
    cluster.deliver(sent => !ofType('change')(sent) || to(2)(sent))
    expect(cluster.state(1).durable.sponsoring).toMatchObject({ change: { type: 'plan' } })
    cluster.take(() => true)
    cluster.crash(1)
    cluster.start(1)
    cluster.run(CHANGE_MS)
    for (const node of [1, 2, 4]) expect(groupOf(cluster, node)).toEqual([1, 2, 4])
    expect(statusOf(cluster, 3)).toBe('removed')
    // The operator asks once more.
    cluster.change(2, 'A', [1, 2, 4])
    expect(doneAt(cluster, 2)).toEqual(['A'])
  })
})

describe('R10: nobody comes in whom no operator wants, and a number is used once', () => {
  it('a machine that nobody has invited is told so, and falls silent', () => {
    const cluster = create()
    expect(cluster.sent.filter(ofType('elsewhere')).length).toBeGreaterThan(0)
    cluster.run(PATIENCE_MS)
    expect(statusOf(cluster, 4)).toBe('joining')
    expect(groupOf(cluster, 1)).toEqual([1, 2, 3])
    expect(cluster.timers(4)).toEqual([])
  })

  it('a member that was removed, and has lost its storage since, is removed again', () => {
    const cluster = create()
    cluster.change(1, 'A', [1, 2, 4])
    cluster.run(CHANGE_MS)
    cluster.wipe(3)
    cluster.start(3)
    cluster.run(CHANGE_MS)
    expect(statusOf(cluster, 3)).toBe('removed')
    expect(refusals(cluster.try(3))).toMatchObject([{ code: 'elsewhere', members: { 1: '', 2: '', 4: '' } }])
    expect(cluster.timers(3)).toEqual([])
  })

  it('a member that has lost its storage is taken back, also by members that it has never known', () => {
    const cluster = create(3, 2)
    cluster.change(1, 'A', [3, 4, 5])
    cluster.run(CHANGE_MS)
    for (const node of [1, 2]) cluster.crash(node)
    cluster.wipe(5)
    cluster.start(5)
    cluster.try(3)
    cluster.run(CHANGE_MS)
    expect(cluster.inside()).toEqual(['3:u'])
    cluster.exit(3)
    cluster.run(PATIENCE_MS)
    expect(statusOf(cluster, 5)).toBe('member')
  })

  it('a machine in another place under the number of a member is a stranger', () => {
    const cluster = create()
    cluster.change(1, 'A', [1, 2, 4])
    cluster.run(CHANGE_MS)
    const [join] = cluster.sent.filter(ofType('join'))
    const body = { type: 'join', incarnation: 999_999, name: 4, address: 'elsewhere' } as const
    cluster.hand({ from: 4, to: 1, message: { ...join!.message, body } })
    expect(cluster.state(1).soft.wishes).toEqual([])
    expect(cluster.take(to(4)).map(({ message }) => message.body.type)).toEqual(['elsewhere'])
  })

  it.each([
    ['is a member', { members: { 1: '', 2: '', 4: 'over there' }, before: {} }],
    [
      'is on its way out',
      { members: { 1: '', 2: '', 5: '' }, before: { 4: 'over there' }, hasArrived: false },
    ],
  ])('a machine whose number belongs to another that %s is removed, and falls silent', (_, ofSet) => {
    const cluster = create()
    const [join] = cluster.sent.filter(ofType('join'))
    const rest = { config: 1, highest: 5, change: 'A', carrier: 1, hasArrived: true, isReached: false }
    const body = { type: 'elsewhere', set: { ...rest, ...ofSet } } as const
    cluster.hand({ from: 1, to: 4, message: { ...join!.message, body } })
    expect(statusOf(cluster, 4)).toBe('removed')
    cluster.run(PATIENCE_MS)
    expect(cluster.timers(4)).toEqual([])
  })
})

describe('R11: newcomers first, one after the other, then those that go, then the next change', () => {
  it('nobody leaves before all newcomers are in', () => {
    const cluster = create(3, 2)
    cluster.lose(sent => ofType('welcome')(sent) && to(5)(sent))
    cluster.change(1, 'A', [1, 4, 5])
    cluster.run(10_000)
    expect(statusOf(cluster, 4)).toBe('member')
    expect([2, 3].map(node => statusOf(cluster, node))).toEqual(['member', 'member'])
    cluster.lose(() => false)
    cluster.run(CHANGE_MS)
    expect([2, 3].map(node => statusOf(cluster, node))).toEqual(['removed', 'removed'])
    expect(doneAt(cluster, 1)).toEqual(['A'])
  })

  it('the next change waits until the last one is through', () => {
    const cluster = create(3, 2)
    cluster.try(3, 'long')
    cluster.deliver()
    cluster.exit(3, 'long')
    cluster.change(1, 'A', [1, 2, 4])
    cluster.deliver(sent => !ofType('join')(sent) || cluster.state(1).durable.group.set === undefined)
    const configuration = configOf(cluster, 1)
    cluster.change(1, 'B', [1, 2, 5], configuration)
    cluster.deliver(sent => !ofType('join')(sent) || !from(4)(sent))
    expect(configOf(cluster, 1)).toBe(configuration)
    cluster.run(CHANGE_MS)
    expect(doneAt(cluster, 1)).toEqual(['A', 'B'])
    expect(groupOf(cluster, 2)).toEqual([1, 2, 5])
    expect([3, 4].map(node => statusOf(cluster, node))).toEqual(['removed', 'removed'])
  })
})

describe('R12: a newcomer that falls silent on its way in is taken out again', () => {
  it('also from the group: the operator is told, and the lock goes on without it', () => {
    const cluster = create()
    cluster.change(1, 'A', [1, 2, 4])
    cluster.deliver(sent => !ofType('welcome')(sent))
    expect(groupOf(cluster, 2)).toEqual([1, 2, 3, 4])
    cluster.crash(4)
    cluster.run(PATIENCE_MS)
    expect(refusalsAt(cluster, 1)).toEqual([{ code: 'not-reached', participants: [4] }])
    for (const node of [1, 2, 3]) {
      expect(groupOf(cluster, node)).toEqual([1, 2, 3])
      expect(setOf(cluster, node)).toEqual([1, 2, 3])
    }
    cluster.try(3)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['3:u'])
    // The number is used: another machine gets another one.
    cluster.start(4)
    cluster.run(CHANGE_MS)
    expect(statusOf(cluster, 4)).toBe('removed')
  })

  it('also if another newcomer answers all the time', () => {
    const cluster = create(3, 2)
    cluster.change(1, 'A', [1, 4, 5])
    cluster.deliver(sent => !ofType('welcome')(sent) && !(ofType('join')(sent) && from(5)(sent)))
    cluster.deliver(ofType('join'))
    const lost = Object.keys(cluster.state(1).durable.group.members).includes('4') ? 4 : 5
    cluster.crash(lost)
    cluster.run(PATIENCE_MS)
    expect(refusalsAt(cluster, 1)).toEqual([{ code: 'not-reached', participants: [lost] }])
    expect(setOf(cluster, 1)).not.toContain(lost)
  })

  it('it may have come in without anybody hearing of it: it is never inside', () => {
    const cluster = create()
    cluster.change(1, 'A', [1, 2, 4])
    cluster.deliver(sent => !ofType('welcome-ack')(sent))
    expect(statusOf(cluster, 4)).toBe('member')
    cluster.try(4)
    cluster.lose(sent => from(4)(sent) && to(1)(sent) && !ofType('request', 'are-you-there')(sent))
    cluster.lose(sent => ofType('welcome-ack')(sent) || ofType('not-a-member')(sent))
    cluster.run(PATIENCE_MS)
    expect(groupOf(cluster, 1)).toEqual([1, 2, 3])
    cluster.try(2)
    cluster.run(CHANGE_MS)
    expect(cluster.inside()).toEqual(['2:u'])
    cluster.lose(() => false)
    cluster.run(CHANGE_MS)
    expect(statusOf(cluster, 4)).toBe('removed')
    expect(cluster.inside()).toEqual(['2:u'])
  })

  it('before it has come in at all: those that were to go stay, and those that are in stay in', () => {
    const cluster = create(3, 2)
    cluster.change(1, 'A', [1, 2, 4, 5])
    cluster.deliver(sent => !ofType('join')(sent) || cluster.state(1).durable.group.set === undefined)
    cluster.crash(5)
    cluster.run(PATIENCE_MS)
    expect(refusalsAt(cluster, 1)).toEqual([{ code: 'not-reached', participants: [5] }])
    for (const node of [1, 2, 3, 4]) {
      expect(groupOf(cluster, node)).toEqual([1, 2, 3, 4])
      expect(setOf(cluster, node)).toEqual([1, 2, 3, 4])
      expect(cluster.view(node).members!.isHandedOver).toBe(true)
    }
  })
})

describe('R13: who has to go', () => {
  it('sends on those that wait, and is removed for good', () => {
    const cluster = create()
    cluster.change(1, 'A', [1, 2, 4])
    cluster.deliver(sent => !ofType('join')(sent) || cluster.state(1).durable.group.set === undefined)
    // The newcomer is on its way in. A user comes to node 3, and has to wait.
    cluster.deliver(sent => !ofType('welcome')(sent))
    expect(cluster.state(1).durable.own.phase).toBe('inside')
    cluster.try(3, 'waiting')
    cluster.run(CHANGE_MS)
    expect(refusalsAt(cluster, 3)).toMatchObject([{ code: 'elsewhere', members: { 1: '', 2: '', 4: '' } }])
    expect(statusOf(cluster, 3)).toBe('removed')
    cluster.crash(3)
    cluster.start(3)
    expect(statusOf(cluster, 3)).toBe('removed')
    expect(refusals(cluster.try(3))).toMatchObject([{ code: 'elsewhere' }])
  })

  it('a user that is inside there finishes first, since nothing changes before', () => {
    const cluster = create()
    cluster.try(3)
    cluster.deliver()
    cluster.change(1, 'A', [1, 2, 4])
    cluster.run(CHANGE_MS)
    expect(statusOf(cluster, 3)).toBe('member')
    expect(cluster.inside()).toEqual(['3:u'])
    cluster.exit(3)
    cluster.run(CHANGE_MS)
    expect(statusOf(cluster, 3)).toBe('removed')
    expect(doneAt(cluster, 1)).toEqual(['A'])
  })

  it('a node that leaves by its own wish meanwhile is not removed by a change that comes to nothing', () => {
    const cluster = create()
    cluster.change(1, 'A', [1, 2, 4])
    cluster.deliver(sent => !ofType('join')(sent) || cluster.state(1).durable.group.set === undefined)
    cluster.crash(4)
    cluster.take(ofType('join'))
    cluster.user(3, { type: 'membership', request: 'm', wish: 'leave' })
    cluster.run(CHANGE_MS)
    expect(statusOf(cluster, 3)).toBe('left')
    cluster.run(PATIENCE_MS)
    expect(setOf(cluster, 1)).toEqual([1, 2, 3])
    cluster.user(3, { type: 'membership', request: 'n', wish: 'join' })
    cluster.run(CHANGE_MS)
    expect(groupOf(cluster, 1)).toEqual([1, 2, 3])
  })
})

describe('R14: the operator is told when nobody else is needed', () => {
  it('not before a member that stays has told all of them who the members are', () => {
    const cluster = create()
    cluster.change(1, 'A', [1, 2, 4])
    // Node 2 does not hear of node 3's removal, neither from node 3 nor from node 1.
    const isRemoval = (sent: Parameters<ReturnType<typeof ofType>>[0]) =>
      sent.message.body.type === 'change' && sent.message.body.group.members[3] === undefined
    cluster.lose(sent => isRemoval(sent) && to(2)(sent))
    cluster.run(CHANGE_MS)
    expect(groupOf(cluster, 1)).toEqual([1, 2, 4])
    expect(doneAt(cluster, 1)).toEqual([])
    expect(cluster.view(1).members!.isHandedOver).toBe(false)
    // Node 3 is switched off too early, but node 1 tells node 2.
    cluster.crash(3)
    cluster.lose(() => false)
    cluster.run(CHANGE_MS)
    expect(doneAt(cluster, 1)).toEqual(['A'])
    cluster.try(2)
    cluster.deliver()
    expect(cluster.inside()).toEqual(['2:u'])
  })

  it('not by a node that has never been in: it does not know who the members are', () => {
    const cluster = create()
    cluster.change(4, 'A', [1, 2, 3])
    expect(doneAt(cluster, 4)).toEqual([])
    expect(refusalsAt(cluster, 4)).toEqual([{ code: 'not-a-member' }])
  })

  it('not by a node that was removed, and for which the set that is wanted is the last one', () => {
    const cluster = create()
    cluster.change(1, 'A', [1, 2])
    cluster.run(CHANGE_MS)
    cluster.change(1, 'B', [1, 2, 4], configOf(cluster, 1))
    cluster.run(CHANGE_MS)
    expect(doneAt(cluster, 1)).toEqual(['A', 'B'])
    cluster.change(3, 'C', [1, 2], configOf(cluster, 1))
    expect(doneAt(cluster, 3)).toEqual([])
    expect(refusalsAt(cluster, 3)).toMatchObject([{ code: 'elsewhere' }])
  })

  it('a member that is asked later knows it from its own storage', () => {
    const cluster = create()
    cluster.change(1, 'A', [1, 2, 4])
    cluster.run(CHANGE_MS)
    cluster.crash(2)
    cluster.start(2)
    cluster.change(2, 'A', [1, 2, 4])
    expect(doneAt(cluster, 2)).toEqual(['A'])
    expect(cluster.sent.filter(along(2, 1)).filter(ofType('invite'))).toEqual([])
  })
})
