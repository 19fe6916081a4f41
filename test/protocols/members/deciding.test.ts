/**
 * How the members of the next epoch are decided (rules M1, M4, M6, M7, M11), with the run that each rule
 * forbids.
 */
import { describe, expect, it } from 'vitest'
import { ballotAbove } from '../../../shared/protocols/ballots.ts'
import { MAX_PARTICIPANT_NUMBER } from '../../../shared/protocols/protocol.ts'
import {
  addMachines,
  all,
  among,
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
  isSealed,
  issue,
  membersAt,
  not,
  ofType,
  protocols,
  refusalsAt,
  setOf,
  statusOf,
  TERMINATION_MS,
  to,
  valueAt,
} from './scenes.ts'

it('M12 participants with numbers of any size never have the same ballot', () => {
  const numbers = [1, 2, 255, 256, 257, 513, MAX_PARTICIPANT_NUMBER]
  const owners = new Map<number, number>()
  for (const number of numbers) {
    for (let ballot = 0, tries = 0; tries < 50; tries++) {
      ballot = ballotAbove(ballot, number)
      expect(owners.get(ballot) ?? number).toBe(number)
      owners.set(ballot, number)
    }
  }
  expect(owners.size).toBe(50 * numbers.length)
})

describe.each(protocols)('deciding the members %s', (_name, protocol) => {
  it.each([
    ['one is replaced', 3, setOf(1, 2, 4)],
    ['two are replaced', 3, setOf(1, 4, 5)],
    ['all are replaced', 3, setOf(4, 5, 6)],
    ['one is added', 3, setOf(1, 2, 3, 4)],
    ['one is removed', 3, setOf(1, 2)],
    ['three become five', 3, setOf(1, 2, 3, 4, 5)],
    ['five become three', 5, setOf(1, 3, 6)],
    ['one becomes three', 1, setOf(1, 2, 3)],
    ['three become one', 3, setOf(2)],
  ])('%s: the new members have everything, the others are removed', (_what, participants, members) => {
    const cluster = createCluster(protocol, participants)
    const first = enter(cluster, 1, 'a')
    issue(cluster, first, 'x')
    cluster.run(100)
    exit(cluster, first)
    addMachines(cluster, 6 - participants)
    changeTo(cluster, 1, 'A', members)
    const numbers = Object.keys(members).map(Number)
    for (const member of numbers) {
      expect(statusOf(cluster, member)).toBe('member')
      expect(membersAt(cluster, member)).toEqual(numbers)
      expect(cluster.view(member).members).toMatchObject({ configuration: 1, isHandedOver: true })
    }
    for (let old = 1; old <= participants; old++)
      if (!numbers.includes(old)) expect(statusOf(cluster, old)).toBe('removed')
    const next = enter(cluster, numbers.at(-1)!, 'b')
    issue(cluster, next, 'y')
    cluster.run(100)
    for (const member of numbers) expect(valueAt(cluster, member)).toBe(2)
    exit(cluster, next)
    cluster.run(60_000)
    expect(cluster.everybody.flatMap(id => cluster.timers(id))).toEqual([])
  })

  it('M1 a majority of the old members decides: one of the new members alone does not', () => {
    const cluster = createCluster(protocol, 5)
    enter(cluster, 3, 'a')
    cluster.run(100)
    cluster.lose(not(among(3, 4)))
    change(cluster, 3, 'A', setOf(3, 4, 5))
    cluster.run(20_000)
    expect([3, 4].map(id => epochOf(cluster, id))).toEqual([0, 0])
    expect([3, 4].map(id => isSealed(cluster, id))).toEqual([true, true])
    // The others, a majority, go on with five as long as they know nothing of it.
    cluster.lose(() => false)
    cluster.run(CHANGE_MS)
    expect(doneAt(cluster, 3)).toEqual(['A'])
    expect([1, 2, 3, 4, 5].map(id => statusOf(cluster, id))).toEqual([
      ...['removed', 'removed'],
      ...['member', 'member', 'member'],
    ])
  })

  it('M1 the new members are counted from the very first word of their epoch', () => {
    const cluster = createCluster(protocol)
    const by = enter(cluster, 1, 'a')
    addMachines(cluster, 2)
    changeTo(cluster, 1, 'A', setOf(1, 2, 3, 4, 5))
    cluster.isolate(3, 4, 5)
    issue(cluster, by, 'x')
    cluster.run(5_000)
    expect(eventTypes(cluster, 1)).not.toContain('outcome')
    cluster.reconnect(3)
    cluster.run(6_000)
    expect(eventTypes(cluster, 1)).toContain('outcome')
  })

  it('M1 the set is stored with its epoch: after a crash right behind the save it is there', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 1)
    change(cluster, 1, 'A', setOf(1, 2, 4))
    cluster.deliver(not(ofType('decision')))
    cluster.crashDuringNextStep(2, 1)
    cluster.deliver(all(ofType('decision'), to(2)))
    expect(cluster.isUp(2)).toBe(false)
    cluster.start(2)
    expect(epochOf(cluster, 2)).toBe(1)
    expect(membersAt(cluster, 2)).toEqual([1, 2, 4])
  })

  it('M4 newcomers that are not there are not named, and the operator is told', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 2)
    cluster.crash(4)
    cluster.crash(5)
    change(cluster, 2, 'A', setOf(1, 4, 5))
    cluster.run(400_000)
    expect(refusalsAt(cluster, 2)).toEqual([{ code: 'not-reached', participants: [4, 5] }])
    expect([1, 2, 3].map(id => epochOf(cluster, id))).toEqual([0, 0, 0])
    enter(cluster, 3, 'b')
  })

  it('M4 a newcomer is not named before it has been brought up to date', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 1)
    cluster.lose(all(to(4), ofType('catch-up', 'snapshot-offer')))
    change(cluster, 2, 'A', setOf(1, 2, 4))
    cluster.run(5_000)
    expect(epochOf(cluster, 1)).toBe(0)
    cluster.lose(() => false)
    cluster.run(10_000)
    expect(doneAt(cluster, 2)).toEqual(['A'])
  })

  it.each([[[3, 4, 5]], [[3, 4, 5], [1, 4, 5], [4, 5], [4], [5]]])(
    'M4 sets of which no majority is there (%j, …) do not keep another one waiting',
    (...impossible) => {
      const cluster = createCluster(protocol, 5)
      cluster.isolate(4, 5)
      for (const members of impossible) change(cluster, 1, `to ${members}`, setOf(...members))
      cluster.run(CHANGE_MS)
      change(cluster, 1, 'B', setOf(1, 2, 3))
      cluster.run(120_000)
      expect(doneAt(cluster, 1)).toEqual(['B'])
      expect(refusalsAt(cluster, 1).map(({ code }) => code)).toEqual(impossible.map(() => 'other-members'))
    },
  )

  it('M7 if there is no room for another change, the earliest one gives way, and is told', () => {
    const cluster = createCluster(protocol, 5, { limits: { waiters: 2 } })
    cluster.isolate(4, 5)
    change(cluster, 1, 'A', setOf(3, 4, 5))
    change(cluster, 1, 'B', setOf(1, 4, 5))
    cluster.run(CHANGE_MS)
    change(cluster, 1, 'C', setOf(1, 2, 3))
    expect(refusalsAt(cluster, 1)).toEqual([{ code: 'too-many-waiters' }])
    cluster.run(CHANGE_MS)
    cluster.run(60_000)
    expect(doneAt(cluster, 1)).toEqual(['C'])
    expect(eventsOf(cluster, 1, 'refused').map(({ user }) => user)).toEqual(['A', 'B'])
  })

  it('M4 a set of which no majority is there waits for the next epoch', () => {
    const cluster = createCluster(protocol, 5)
    cluster.isolate(4, 5)
    change(cluster, 1, 'A', setOf(3, 4, 5))
    cluster.run(2_000)
    expect(epochOf(cluster, 1)).toBeGreaterThan(0)
    expect(membersAt(cluster, 1)).toEqual([1, 2, 3, 4, 5])
    cluster.reconnect(4, 5)
    cluster.run(10_000)
    expect(doneAt(cluster, 1)).toEqual(['A'])
    expect(membersAt(cluster, 4)).toEqual([3, 4, 5])
  })

  it('M6 a number is used once: who was removed does not come back under it', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 1)
    changeTo(cluster, 1, 'A', setOf(1, 2, 4))
    change(cluster, 1, 'B', setOf(1, 2, 3), 1)
    cluster.run(CHANGE_MS)
    expect(refusalsAt(cluster, 1)).toEqual([{ code: 'no-such-members' }])
    changeTo(cluster, 1, 'C', setOf(1, 2), 1)
    change(cluster, 1, 'D', setOf(1, 2, 4), 2)
    cluster.run(CHANGE_MS)
    expect(refusalsAt(cluster, 1).at(-1)).toEqual({ code: 'no-such-members' })
    expect(membersAt(cluster, 1)).toEqual([1, 2])
  })

  it('M10 one that is sent on by whoever it asked asks there at once', () => {
    const cluster = createCluster(protocol)
    enter(cluster, 1, 'a')
    const envelope = cluster.sent[0]!.message
    cluster.take(() => true)
    const sendOn = (by: number, epoch: number, member: number) => {
      const set = { members: setOf(member), config: epoch, highest: member, change: `c${epoch}` }
      cluster.hand({ from: by, to: 1, message: { ...envelope, body: { type: 'elsewhere', epoch, set } } })
      return cluster.take(from(1)).map(({ to, message }) => [to, message.body.type])
    }
    expect(sendOn(2, 1, 4)).toEqual([[4, 'catch-up-request']])
    expect(sendOn(4, 2, 5)).toEqual([[5, 'catch-up-request']])
  })

  it('M6 another machine that says the same number is a stranger', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 1)
    changeTo(cluster, 1, 'A', setOf(1, 2, 4))
    const envelope = cluster.sent[0]!.message
    const body = { type: 'join', incarnation: 77, address: 'elsewhere' } as const
    cluster.hand({ from: 4, to: 1, message: { ...envelope, body } })
    expect(cluster.state(1).soft.joins).toEqual({})
    expect(isSealed(cluster, 1)).toBe(false)
    expect(cluster.take(to(4)).map(({ message }) => message.body)).toMatchObject([
      { type: 'elsewhere', set: { members: setOf(1, 2, 4) } },
    ])
  })

  it.each([
    ['no members', {}],
    ['a number that is none', { 1: '', x: '' }],
    ['the same number in another place', { 1: '', 2: 'over there' }],
    ['a number that is too high', { 1: '', 4096: '' }],
    ['an address that is too long', { 1: '', 4: 'x'.repeat(257) }],
    ['a number that is written in another way', { 1: '', '05.0': '' }],
    ['too many members', setOf(...Array.from({ length: 101 }, (_, index) => index + 1))],
  ])('a set that is none is refused: %s', (_what, members) => {
    const cluster = createCluster(protocol)
    change(cluster, 1, 'A', members)
    expect(refusalsAt(cluster, 1)).toEqual([{ code: 'no-such-members' }])
  })

  it('M7 a late duplicate of a change does not undo a newer set', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 2)
    changeTo(cluster, 1, 'A', setOf(1, 2, 4))
    changeTo(cluster, 1, 'B', setOf(1, 2, 5), 1)
    const late = bodies(cluster.sent, 'change')
    change(cluster, 2, 'A', setOf(1, 2, 4), 0, 'again')
    cluster.run(CHANGE_MS)
    expect(refusalsAt(cluster, 2)).toEqual([
      { code: 'other-members', configuration: 2, members: setOf(1, 2, 5) },
    ])
    expect(membersAt(cluster, 1)).toEqual([1, 2, 5])
    expect(late.every(({ change: { base } }) => base < 2)).toBe(true)
  })

  it('M7 a message that asks the owner for a change of an earlier set is of no effect', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 2)
    changeTo(cluster, 2, 'A', setOf(1, 2, 4))
    const [late] = cluster.sent.filter(ofType('change'))
    changeTo(cluster, 2, 'B', setOf(1, 2, 5), 1)
    const { epoch } = cluster.state(1).durable.epoch
    const body = { ...bodies([late!], 'change')[0]!, epoch }
    cluster.hand({ ...late!, message: { ...late!.message, body } })
    cluster.run(CHANGE_MS)
    expect(epochOf(cluster, 1)).toBe(epoch)
    expect(membersAt(cluster, 1)).toEqual([1, 2, 5])
  })

  it('M7 said again by its name or by what it asks for, it is done already', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 1)
    changeTo(cluster, 1, 'A', setOf(1, 2, 4))
    change(cluster, 2, 'A', setOf(1, 2, 4), 0, 'by name')
    change(cluster, 2, 'Z', setOf(1, 2, 4), 0, 'by content')
    expect(doneAt(cluster, 2)).toEqual(['by name', 'by content'])
    expect(epochOf(cluster, 1)).toBe(1)
  })

  it('M7 whoever has not heard of the set that a change replaces does not call it done', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 1)
    changeTo(cluster, 1, 'A', setOf(1, 2))
    changeTo(cluster, 1, 'B', setOf(1, 2, 4), 1)
    // The last set that participant 3 knows is the one that is wanted again.
    change(cluster, 3, 'C', setOf(1, 2), 2)
    expect(doneAt(cluster, 3)).toEqual([])
    expect(refusalsAt(cluster, 3)).toMatchObject([{ code: 'elsewhere' }])
    changeTo(cluster, 1, 'C', setOf(1, 2), 2)
  })

  it('M7 of two changes at once one is done, and the other is told who the members are', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 2)
    change(cluster, 2, 'A', setOf(1, 2, 4))
    change(cluster, 3, 'B', setOf(1, 3, 5))
    cluster.run(CHANGE_MS)
    const done = [...doneAt(cluster, 2), ...doneAt(cluster, 3)]
    expect(done).toHaveLength(1)
    const members = done[0] === 'A' ? setOf(1, 2, 4) : setOf(1, 3, 5)
    const lost = [...refusalsAt(cluster, 2), ...refusalsAt(cluster, 3)]
    const code = expect.stringMatching(/^(other-members|elsewhere)$/)
    expect(lost).toMatchObject([{ code, configuration: 1, members }])
  })

  it('M7 with a silent owner the others change the members without it', () => {
    const cluster = createCluster(protocol)
    enter(cluster, 1, 'a')
    addMachines(cluster, 1)
    cluster.crash(1)
    change(cluster, 2, 'A', setOf(2, 3, 4))
    cluster.run(TERMINATION_MS)
    expect(doneAt(cluster, 2)).toEqual(['A'])
    expect([2, 3, 4].map(id => statusOf(cluster, id))).toEqual(['member', 'member', 'member'])
  })

  it('M7 if an older value wins, the change waits for the next epoch', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 1)
    // 1 seals for a participant that lost its storage, and 2 accepts the decision of that. It gets no
    // further.
    cluster.wipe(3)
    cluster.start(3)
    cluster.deliver(not(ofType('accepted', 'decision', 'invite')))
    expect(cluster.state(2).durable.paxos.accepted).not.toBeNull()
    change(cluster, 2, 'A', setOf(1, 2, 4))
    cluster.take(ofType('accepted'))
    cluster.run(TERMINATION_MS)
    expect(doneAt(cluster, 2)).toEqual(['A'])
    expect(cluster.state(2).durable.epoch.set?.config).toBe(2)
  })

  it('M11 epochs go on counting across sets, and so do fences', () => {
    const cluster = createCluster(protocol)
    const fences: number[] = []
    const use = (at: number, user: string) => {
      const by = enter(cluster, at, user)
      fences.push(by.fence)
      exit(cluster, by)
      cluster.run(100)
    }
    addMachines(cluster, 6)
    use(1, 'a')
    changeTo(cluster, 1, 'A', setOf(4, 5, 6))
    use(5, 'b')
    changeTo(cluster, 4, 'B', setOf(7, 8, 9), 1)
    use(8, 'c')
    expect(epochOf(cluster, 8)).toBe(2)
    expect(fences).toEqual([...fences].sort((one, other) => one - other))
    expect(new Set(fences).size).toBe(3)
  })

  it('a change is no business of one that is no member', () => {
    const cluster = createCluster(protocol)
    addMachines(cluster, 1)
    change(cluster, 4, 'A', setOf(1, 2, 4))
    expect(refusalsAt(cluster, 4)).toEqual([{ code: 'not-a-member' }])
    changeTo(cluster, 1, 'B', setOf(1, 2, 4))
    change(cluster, 3, 'C', setOf(1, 2), 1)
    expect(refusalsAt(cluster, 3)).toMatchObject([{ code: 'elsewhere', members: setOf(1, 2, 4) }])
    expect(cluster.take(from(3))).toEqual([])
  })
})
