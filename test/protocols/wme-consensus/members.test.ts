/** Changes of the members, decided as commands of the log (rules M1 to M10, P6, P7). */
import { describe, expect, it } from 'vitest'
import { ballotAbove, firstBallot } from '../../../shared/protocols/ballots.ts'
import { DEFAULT_LIMITS, MESSAGE_FORMAT, type ParticipantConfig } from '../../../shared/protocols/protocol.ts'
import type { ConsensusMessage } from '../../../shared/protocols/wme-consensus/messages.ts'
import type { ConsensusState } from '../../../shared/protocols/wme-consensus/state.ts'
import { wmeConsensus } from '../../../shared/protocols/wme-consensus/wme-consensus.ts'
import { matchersOf } from '../matchers.ts'
import { enter, eventsOf, exit, issue, valueAt } from '../scenes.ts'
import { type Sent, Table } from '../table.ts'
import { FORMS } from './scenes.ts'

const CHANGE_MS = 20_000

const { ofType } = matchersOf<ConsensusMessage>()
const messageOf = (body: ConsensusMessage) => ({ format: MESSAGE_FORMAT, configuration: 1, body })
const to =
  (...participants: number[]) =>
  (sent: Sent<ConsensusMessage>) =>
    participants.includes(sent.to)

class Cluster extends Table<ConsensusState, ConsensusMessage> {
  constructor(participants: number, consensus: (typeof FORMS)[number], machines: number, waiters = 1_000) {
    const limits = { ...DEFAULT_LIMITS, waiters }
    const config: Partial<ParticipantConfig> = { options: { consensus }, limits }
    super(wmeConsensus, { participants, keepsCount: true, config })
    this.bear()
    for (let added = 0; added < machines; added++) this.add()
    this.run(5_000)
  }

  change(at: number, id: string, members: readonly number[], base = 0, request = id): void {
    const places = Object.fromEntries(members.map(member => [member, '']))
    this.user(at, { type: 'change-members', request, id, base, members: places })
  }

  members(at: number): number[] {
    return Object.keys(this.view(at).members!.members).map(Number)
  }

  status(at: number): string {
    return this.state(at).durable.membership.status
  }

  done(at: number): string[] {
    return eventsOf(this, at, 'members-changed').map(({ request }) => request)
  }
}

describe.each(FORMS)('members of wme-consensus, %s', form => {
  const create = (participants = 3, machines = 1) => new Cluster(participants, form, machines)

  it('M1 the old members decide, and the new ones are counted from the next instance on', () => {
    const cluster = create(3, 2)
    const ann = enter(cluster, 1, 'ann')
    cluster.change(1, 'A', [1, 2, 3, 4, 5])
    cluster.run(CHANGE_MS)
    expect(cluster.done(1)).toEqual(['A'])
    cluster.isolate(3, 4, 5)
    issue(cluster, ann, 'x')
    cluster.run(5_000)
    expect(eventsOf(cluster, 1, 'outcome')).toEqual([])
    cluster.reconnect(3)
    cluster.run(CHANGE_MS)
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(1)
  })

  it('M10 a newcomer that gives up a snapshot, because its sender is gone, calls the others again', () => {
    const cluster = create()
    cluster.run(60_000)
    expect(cluster.timers(4)).toEqual([])
    cluster.crash(2)
    cluster.hand({ from: 2, to: 4, message: messageOf({ type: 'snapshot-offer', ballot: 1, decided: 50 }) })
    const before = cluster.sent.length
    cluster.run(600_000)
    const calls = cluster.sent.slice(before).filter(sent => sent.from === 4 && ofType('join')(sent))
    expect(calls.map(sent => sent.to)).toEqual(expect.arrayContaining([1, 3]))
    expect(cluster.timers(4)).toEqual([])
  })

  it('M1 without a majority of the old members nothing is decided', () => {
    const cluster = create(3, 1)
    cluster.isolate(2, 3)
    cluster.change(1, 'A', [1, 4])
    cluster.run(CHANGE_MS)
    expect(cluster.members(1)).toEqual([1, 2, 3])
    expect(cluster.done(1)).toEqual([])
    cluster.reconnect(2, 3)
    cluster.run(60_000)
    expect(cluster.done(1)).toEqual(['A'])
  })

  it('M2 M3 a newcomer has everything before it votes, in the life that was named', () => {
    const cluster = create()
    const ann = enter(cluster, 1, 'ann', { ttlMs: 10_000_000 })
    issue(cluster, ann, 'x')
    cluster.run(1_000)
    cluster.change(1, 'A', [1, 2, 4])
    cluster.run(CHANGE_MS)
    expect(cluster.status(4)).toBe('member')
    expect(valueAt(cluster, 4)).toBe(1)
    expect(cluster.state(1).durable.machine.set!.incarnations[4]).toBeDefined()
    cluster.wipe(4)
    cluster.start(4)
    cluster.run(CHANGE_MS)
    expect(cluster.status(4)).toBe('joining')
    const votes = cluster.sent.length
    issue(cluster, ann, 'y')
    cluster.run(CHANGE_MS)
    const said = cluster.sent.slice(votes).filter(({ from }) => from === 4)
    expect(said.filter(ofType('ack', 'promise'))).toEqual([])
    expect(eventsOf(cluster, 1, 'outcome')).toHaveLength(2)
  })

  it('a participant that has lost its storage is replaced while it is gone', () => {
    const cluster = create()
    cluster.wipe(3)
    cluster.start(3)
    cluster.change(2, 'A', [1, 2, 4])
    cluster.run(CHANGE_MS)
    expect(cluster.done(2)).toEqual(['A'])
    cluster.crash(2)
    enter(cluster, 4, 'bob')
  })

  it('M4 a set of which no majority is there is not decided', () => {
    const cluster = create(5, 0)
    cluster.isolate(4, 5)
    cluster.change(1, 'A', [3, 4, 5])
    cluster.run(CHANGE_MS)
    expect(cluster.members(1)).toEqual([1, 2, 3, 4, 5])
    cluster.reconnect(4, 5)
    cluster.run(60_000)
    expect(cluster.done(1)).toEqual(['A'])
    expect(cluster.members(4)).toEqual([3, 4, 5])
    expect(cluster.status(1)).toBe('removed')
  })

  it('M4 a change that cannot be made, and is asked for again and again, leaves room for another', () => {
    const cluster = new Cluster(3, form, 1, 2)
    cluster.isolate(3)
    for (const request of ['once', 'twice', 'again']) cluster.change(1, 'A', [1, 3], 0, request)
    cluster.change(1, 'B', [1, 2, 4])
    cluster.run(CHANGE_MS)
    expect(cluster.done(1)).toEqual(['B'])
    expect(eventsOf(cluster, 1, 'refused')).toMatchObject([
      { user: 'once', refusal: { code: 'too-many-waiters' } },
      { user: 'twice', refusal: { code: 'too-many-waiters' } },
      { user: 'again', refusal: { code: 'other-members' } },
    ])
  })

  it('M4 changes that cannot be made do not keep another one waiting, however many they are', () => {
    const cluster = create(5, 0)
    cluster.isolate(4, 5)
    const impossible = [[3, 4, 5], [1, 4, 5], [2, 4, 5], [4, 5], [4], [5]]
    for (const members of impossible) cluster.change(1, `to ${members}`, members)
    cluster.change(1, 'B', [1, 2, 3])
    cluster.run(300_000)
    expect(cluster.done(1)).toEqual(['B'])
    const refusals = eventsOf(cluster, 1, 'refused').map(({ refusal }) => refusal.code)
    expect(refusals).toEqual(impossible.map(() => 'other-members'))
  })

  it('M4 M9 changes that take turns leave a holder that has to go its time, and no more', () => {
    const cluster = create(5, 0)
    const ann = enter(cluster, 3, 'ann', { ttlMs: 10_000_000 })
    cluster.isolate(4, 5)
    for (const members of [[3, 4, 5], [1, 4, 5], [2, 4, 5], [4, 5], [4], [5]])
      cluster.change(1, `to ${members}`, members)
    cluster.change(1, 'B', [1, 2])
    cluster.run(600_000)
    expect(cluster.done(1)).toEqual(['B'])
    expect(eventsOf(cluster, 3, 'ejected')).toMatchObject([{ user: 'ann', fence: ann.fence }])
  })

  it('M7 if there is no room for another change, the earliest one gives way, and is told', () => {
    const cluster = new Cluster(5, form, 0, 2)
    cluster.isolate(4, 5)
    cluster.change(1, 'A', [3, 4, 5])
    cluster.change(1, 'B', [1, 4, 5])
    cluster.run(CHANGE_MS)
    cluster.change(1, 'C', [1, 2, 3])
    expect(eventsOf(cluster, 1, 'refused')).toMatchObject([
      { user: 'A', refusal: { code: 'too-many-waiters' } },
    ])
    cluster.run(60_000)
    expect(cluster.done(1)).toEqual(['C'])
    expect(eventsOf(cluster, 1, 'refused').map(({ user }) => user)).toEqual(['A', 'B'])
  })

  it('M7 a change that is made already does not give way', () => {
    const cluster = new Cluster(3, form, 2, 1)
    cluster.change(1, 'A', [1, 4, 5])
    cluster.deliver(ofType('invite', 'join', 'catch-up', 'catch-up-request'))
    cluster.lose(to(4, 5))
    cluster.run(CHANGE_MS)
    expect([cluster.members(1), cluster.done(1)]).toEqual([[1, 4, 5], []])
    cluster.change(1, 'B', [1, 4], cluster.view(1).members!.configuration)
    expect(eventsOf(cluster, 1, 'refused')).toMatchObject([
      { user: 'B', refusal: { code: 'too-many-waiters' } },
    ])
    cluster.lose(() => false)
    cluster.run(60_000)
    expect(cluster.done(1)).toEqual(['A'])
  })

  it('M7 the earlier request for the same change gives way, and those that have come stay ready', () => {
    const cluster = new Cluster(3, form, 1, 2)
    cluster.isolate(2, 3)
    cluster.change(1, 'A', [1, 2, 4])
    cluster.deliver()
    cluster.change(1, 'B', [1, 2])
    cluster.isolate(4)
    cluster.change(1, 'A', [1, 2, 4], 0, 'again')
    expect(eventsOf(cluster, 1, 'refused')).toMatchObject([{ user: 'A' }])
    const { changes } = cluster.state(1).soft
    expect(changes.map(({ request, primed }) => [request, Object.keys(primed)])).toEqual([
      ['B', []],
      ['again', ['4']],
    ])
  })

  it('a change that is proposed in vain is proposed again as long as somebody wants it', () => {
    const cluster = create()
    cluster.lose(ofType('propose'))
    cluster.change(2, 'A', [1, 2, 4])
    cluster.run(CHANGE_MS)
    expect(cluster.state(1).durable.log.at(-1)!.command.kind).toBe('members')
    cluster.lose(() => false)
    cluster.run(CHANGE_MS)
    expect(cluster.done(2)).toEqual(['A'])
  })

  it('a coordinator that was stopped in its prepare phase goes on for a change of the members', () => {
    const cluster = create()
    const ballot = ballotAbove(firstBallot(1), 3)
    for (const to of [1, 2])
      cluster.hand({ from: 3, to, message: messageOf({ type: 'prepare', ballot, decided: 0 }) })
    cluster.take(() => true)
    cluster.hand({ from: 1, to: 3, message: messageOf({ type: 'reject', promised: ballot }) })
    cluster.change(2, 'A', [2, 3, 4])
    cluster.run(CHANGE_MS)
    expect(cluster.done(2)).toEqual(['A'])
  })

  it('M5 whoever is removed keeps what it has until a majority of the new members has it', () => {
    const cluster = create(3, 3)
    const ann = enter(cluster, 1, 'ann')
    issue(cluster, ann, 'x')
    cluster.run(1_000)
    exit(cluster, ann)
    cluster.run(1_000)
    cluster.change(2, 'A', [4, 5, 6])
    cluster.deliver(ofType('invite', 'join', 'catch-up', 'catch-up-request'))
    cluster.lose(to(4, 5, 6))
    cluster.run(CHANGE_MS)
    for (const old of [1, 2, 3]) {
      expect(cluster.state(old).durable.membership).toEqual({ status: 'removed', hasData: true })
      cluster.crash(old)
      cluster.start(old)
    }
    expect(cluster.done(2)).toEqual([])
    cluster.lose(() => false)
    cluster.run(60_000)
    expect([4, 5, 6].map(id => valueAt(cluster, id))).toEqual([1, 1, 1])
    for (const old of [1, 2, 3])
      expect(cluster.state(old).durable.membership).toEqual({ status: 'removed', hasData: false })
    expect(valueAt(cluster, 1)).toBeNull()
  })

  it('M10 a newcomer does not answer the call of another one, which would answer in turn', () => {
    const cluster = create(3, 2)
    const join = { type: 'join', incarnation: 77, decided: 0, isPrimed: false } as const
    expect([4, 5].map(id => cluster.status(id))).toEqual(['joining', 'joining'])
    cluster.hand({ from: 5, to: 4, message: messageOf(join) })
    cluster.hand({ from: 4, to: 5, message: messageOf({ ...join, decided: 9, isPrimed: true }) })
    expect(cluster.take(() => true)).toEqual([])
  })

  it('M10 one that has missed the decision, and whose acquaintances are gone, asks those that came', () => {
    const cluster = create()
    cluster.lose(sent => sent.to === 2 && sent.from !== 4)
    cluster.change(2, 'A', [4])
    cluster.run(CHANGE_MS)
    for (const old of [1, 3]) {
      expect(cluster.status(old)).toBe('removed')
      cluster.crash(old)
    }
    cluster.lose(() => false)
    cluster.run(CHANGE_MS)
    expect(cluster.done(2)).toEqual(['A'])
    expect(cluster.status(2)).toBe('removed')
  })

  it('M7 whoever has not heard of the set that a change replaces does not call it done', () => {
    const cluster = create()
    const configuration = () => cluster.view(1).members!.configuration
    cluster.change(1, 'A', [1, 2])
    cluster.run(CHANGE_MS)
    cluster.change(1, 'B', [1, 2, 4], configuration())
    cluster.run(CHANGE_MS)
    expect(cluster.done(1)).toEqual(['A', 'B'])
    cluster.change(3, 'C', [1, 2], configuration())
    expect(cluster.done(3)).toEqual([])
    expect(eventsOf(cluster, 3, 'refused')).toMatchObject([{ refusal: { code: 'elsewhere' } }])
  })

  it('M9 a user of one that has to go is forced out in the end, with what became of its operation', () => {
    const cluster = create()
    const ann = enter(cluster, 3, 'ann', { ttlMs: 10_000_000 })
    cluster.change(1, 'A', [1, 2, 4])
    cluster.run(30_000)
    expect(cluster.members(1)).toEqual([1, 2, 3])
    cluster.run(60_000)
    expect(cluster.done(1)).toEqual(['A'])
    expect(eventsOf(cluster, 3, 'ejected')).toMatchObject([{ user: 'ann', fence: ann.fence }])
    expect(enter(cluster, 2, 'bob').fence).toBeGreaterThan(ann.fence)
  })

  it('P6 a ballot of the old members is none of the new ones', () => {
    const cluster = create(3, 2)
    cluster.change(1, 'A', [1, 4, 5])
    cluster.deliver(sent => !ofType('prepare')(sent))
    const { acceptor, machine } = cluster.state(1).durable
    expect(Object.keys(machine.set!.members)).toEqual(['1', '4', '5'])
    expect(acceptor.promised === acceptor.prepared && acceptor.preparedFor === machine.set!.config).toBe(
      false,
    )
    const before = cluster.sent.length
    cluster.user(1, { type: 'try', user: 'ann', ttlMs: 30_000 })
    expect(cluster.sent.slice(before).filter(ofType('propose'))).toEqual([])
    cluster.run(CHANGE_MS)
    expect(eventsOf(cluster, 1, 'crit')).toHaveLength(1)
    expect(cluster.state(1).durable.acceptor.preparedFor).toBe(machine.set!.config)
  })

  it('P7 nothing is proposed behind a change of the members that is not decided', () => {
    const cluster = create(5, 1)
    cluster.change(1, 'A', [1, 2, 3, 4, 6])
    cluster.deliver(sent => !ofType('ack')(sent))
    const { durable } = cluster.state(1)
    expect(durable.log.at(-1)!.command.kind).toBe('members')
    const length = durable.log.length
    cluster.user(1, { type: 'try', user: 'ann', ttlMs: 30_000 })
    expect(cluster.state(1).durable.log).toHaveLength(length)
    cluster.deliver(sent => !ofType('ack')(sent))
    expect(cluster.state(1).durable.log.at(-1)!.command.kind).toBe('members')
    cluster.run(CHANGE_MS)
    expect(cluster.done(1)).toEqual(['A'])
    expect(eventsOf(cluster, 1, 'crit')).toHaveLength(1)
  })

  it('P7 nor by a coordinator that has found the change in its log, and whom no operator has asked', () => {
    const cluster = create(5, 1)
    cluster.lose(ofType('ack'))
    cluster.change(1, 'A', [1, 2, 3, 4, 6])
    cluster.run(200)
    const { length } = cluster.state(2).durable.log
    expect(cluster.state(2).durable.log.at(-1)!.command.kind).toBe('members')
    cluster.crash(1)
    cluster.user(2, { type: 'try', user: 'ann', ttlMs: 30_000 })
    cluster.run(CHANGE_MS)
    for (const id of [2, 3, 4, 5]) expect(cluster.state(id).durable.log).toHaveLength(length)
    cluster.lose(() => false)
    cluster.run(CHANGE_MS)
    expect(eventsOf(cluster, 2, 'crit')).toHaveLength(1)
    expect(cluster.members(2)).toEqual([1, 2, 3, 4, 6])
  })

  it('P7 what was accepted behind it, in an older ballot, is dropped', () => {
    const cluster = create(5, 1)
    const { acceptor, machine } = cluster.state(2).durable
    const command = (number: number) => ({ kind: 'enter', participant: 3, number }) as const
    const members = {
      kind: 'members',
      participant: 1,
      id: 'A',
      base: 0,
      members: { 1: '', 2: '' },
      primed: {},
    } as const
    const propose = (ballot: number, commands: readonly object[]) =>
      cluster.hand({
        from: 1,
        to: 2,
        message: {
          format: 1,
          configuration: 1,
          body: {
            type: 'propose',
            ballot,
            previous: machine.applied,
            digest: null,
            commands,
            decided: machine.applied,
          } as ConsensusMessage,
        },
      })
    propose(acceptor.promised, [command(1), command(2)])
    expect(cluster.state(2).durable.log).toHaveLength(2)
    propose(acceptor.promised + 256, [members])
    expect(cluster.state(2).durable.log.map(entry => entry.command.kind)).toEqual(['members'])
    // Nothing is accepted behind it either.
    propose(acceptor.promised + 256, [members, command(3)])
    expect(cluster.state(2).durable.log.map(entry => entry.command.kind)).toEqual(['members'])
  })
})
