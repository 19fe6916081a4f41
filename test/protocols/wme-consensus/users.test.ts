/** Users that wait, give up, say things twice, and read. */
import { describe, expect, it } from 'vitest'
import {
  appliedAt,
  enter,
  eventsOf,
  exit,
  FORMS,
  holder,
  INCREMENT,
  issue,
  ofType,
  toldTo,
  valueAt,
  wish,
} from './scenes.ts'
import { Table } from './table.ts'

describe.each(FORMS)('%s', consensus => {
  it('users enter in the order in which their requests were decided, with increasing fences', () => {
    const table = new Table({ participants: 3, consensus })
    const users: [number, string][] = [
      [2, 'ann'],
      [3, 'bob'],
      [1, 'cid'],
      [2, 'dan'],
    ]
    for (const [participant, user] of users) {
      wish(table, participant, user)
      table.deliver()
    }
    const fences: number[] = []
    for (const [participant, user] of users) {
      const inside = holder(table, participant, user)
      fences.push(inside.fence)
      issue(table, inside, `op-${user}`)
      table.deliver()
      exit(table, inside)
      table.deliver()
    }
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b))
    expect(appliedAt(table, 3)).toEqual(['op-ann', 'op-bob', 'op-cid', 'op-dan'])
    expect(table.emitted.filter(({ event }) => event.type === 'crit').length).toBe(4)
    // A grant is where the queue moved: where the request was decided, or where the user before it left.
    expect(eventsOf(table, 1, 'granted').map(({ fence, to }) => [fence, to])).toEqual(
      fences.map((fence, place) => [fence, users[place]![0]]),
    )
  })

  it('a user that withdraws leaves the queue', () => {
    const table = new Table({ participants: 3, consensus })
    const ann = enter(table, 1, 'ann')
    wish(table, 2, 'bob')
    table.deliver()
    wish(table, 3, 'cid')
    table.deliver()
    expect(table.user(2, { type: 'withdraw', user: 'bob' })).toEqual([
      { type: 'withdrawn', user: 'bob', reason: 'asked' },
    ])
    table.deliver()
    expect(table.state(3).durable.machine.queue.map(({ participant }) => participant)).toEqual([3])
    exit(table, ann)
    table.deliver()
    expect(toldTo(table, 'cid')).toEqual(['crit'])
    expect(table.user(2, { type: 'withdraw', user: 'bob' })).toMatchObject([
      { refusal: { code: 'not-waiting' } },
    ])
  })

  it('a grant for which nobody waits any longer is given back', () => {
    const table = new Table({ participants: 3, consensus })
    wish(table, 2, 'ann', { waitMs: 100 })
    wish(table, 3, 'bob')
    table.deliver(ofType('request'))
    const rest = table.take(() => true)
    table.fire(2, 'wait')
    expect(toldTo(table, 'ann')).toEqual(['withdrawn'])
    for (const sent of rest) table.hand(sent)
    table.run(1_000)
    expect(toldTo(table, 'ann')).toEqual(['withdrawn'])
    expect(toldTo(table, 'bob')).toEqual(['crit'])
  })

  it('a user that comes while the request of one that gave up is being taken back asks anew', () => {
    const table = new Table({ participants: 3, consensus })
    const ann = enter(table, 1, 'ann')
    wish(table, 2, 'bob')
    table.deliver()
    table.user(2, { type: 'withdraw', user: 'bob' })
    wish(table, 2, 'cid')
    exit(table, ann)
    table.run(1_000)
    expect(toldTo(table, 'cid')).toEqual(['crit'])
    issue(table, holder(table, 2, 'cid'), 'op-1')
    table.run(1_000)
    expect(toldTo(table, 'cid')).toEqual(['crit', 'outcome'])
  })

  it('everything said twice is answered again and changes nothing', () => {
    const table = new Table({ participants: 3, consensus })
    const ann = enter(table, 2, 'ann')
    expect(wish(table, 2, 'ann')).toMatchObject([
      { type: 'crit', fence: ann.fence, sequence: ann.fence, confirmed: true },
    ])
    issue(table, ann, 'op-1')
    expect(issue(table, ann, 'op-1')).toEqual([])
    expect(issue(table, ann, 'op-1', [{ increment: 'm' }])).toMatchObject([{ refusal: { code: 'conflict' } }])
    expect(issue(table, ann, 'op-2')).toMatchObject([{ refusal: { code: 'busy' }, opId: 'op-2' }])
    expect(exit(table, ann)).toMatchObject([{ refusal: { code: 'busy' } }])
    table.deliver()
    const [outcome] = eventsOf(table, 2, 'outcome')
    expect(issue(table, ann, 'op-1')).toEqual([outcome])
    exit(table, ann)
    expect(exit(table, ann)).toEqual([])
    expect(issue(table, ann, 'op-3')).toMatchObject([{ refusal: { code: 'grant-over' } }])
    table.deliver()
    expect(exit(table, ann)).toEqual([{ type: 'rem', user: 'ann', fence: ann.fence }])
    expect(valueAt(table, 3)).toBe(1)
  })

  it('an operation is applied once, under whichever grant it is asked for again', () => {
    const table = new Table({ participants: 3, consensus })
    const ann = enter(table, 2, 'ann')
    issue(table, ann, 'op-1')
    table.deliver()
    exit(table, ann)
    table.deliver()
    const bob = enter(table, 3, 'bob')
    expect(issue(table, bob, 'op-1')).toMatchObject([{ type: 'outcome', user: 'bob', fence: bob.fence }])
    expect(issue(table, bob, 'op-1', [{ increment: 'm' }])).toMatchObject([{ refusal: { code: 'conflict' } }])
    expect(valueAt(table, 1)).toBe(1)
  })

  it.each([0, 1])('an operation that may have been forgotten is unknown, from epoch %i on', startEpoch => {
    const table = new Table({ participants: 3, consensus, startEpoch, limits: { resultsKept: 3 } })
    const ann = enter(table, 2, 'ann')
    issue(table, ann, 'op-1')
    table.deliver()
    exit(table, ann)
    const bob = enter(table, 1, 'bob')
    for (const opId of ['a', 'b']) {
      issue(table, bob, opId)
      table.deliver()
    }
    expect(issue(table, ann, 'op-1')).toMatchObject([{ type: 'outcome' }])
    expect(issue(table, ann, 'op-2')).toMatchObject([{ refusal: { outcome: 'not-applied' } }])
    issue(table, bob, 'c')
    table.deliver()
    for (const opId of ['op-1', 'op-2']) {
      expect(issue(table, ann, opId)).toMatchObject([{ refusal: { code: 'grant-over', outcome: 'unknown' } }])
    }
  })

  it('a command that two coordinators propose is applied once', () => {
    const table = new Table({ participants: 3, consensus })
    const ann = enter(table, 2, 'ann')
    issue(table, ann, 'op-1')
    table.deliver()
    // The same entry once more, in a later instance, as a coordinator might propose that had not heard of the
    // first.
    const { durable } = table.state(1)
    const twice = durable.log.find(({ command }) => command.kind === 'operation')!.command
    const { applied } = durable.machine
    const body = {
      type: 'propose',
      ballot: 1,
      previous: applied,
      digest: durable.machine.digest,
      commands: [twice],
      decided: applied + 1,
    } as const
    for (const to of [2, 3]) table.hand({ from: 1, to, message: { format: 1, configuration: 1, body } })
    expect(table.state(2).durable.machine.applied).toBe(applied + 1)
    expect(appliedAt(table, 2)).toEqual(['op-1'])
    expect(valueAt(table, 2)).toBe(1)
  })

  it('limits and what this protocol has not', () => {
    const table = new Table({ participants: 3, consensus, limits: { waiters: 1, operationWeight: 20 } })
    const ann = enter(table, 2, 'ann')
    wish(table, 2, 'bob')
    expect(wish(table, 2, 'cid')).toMatchObject([{ refusal: { code: 'too-many-waiters' } }])
    expect(wish(table, 2, 'dan', { mode: 'shared' })).toMatchObject([{ refusal: { code: 'not-supported' } }])
    expect(issue(table, ann, 'op-1', [{ put: 'k', value: 'x'.repeat(30) }])).toMatchObject([
      { refusal: { code: 'too-large' }, opId: 'op-1' },
    ])
    expect(table.user(2, { type: 'membership', request: 'r', wish: 'leave' })).toMatchObject([
      { refusal: { code: 'not-supported' } },
    ])
  })

  it('a user is let in by what was stored, whenever its participant crashed', () => {
    // After the save of the request, of the acceptance, of the application.
    for (const rounds of [0, 1, 2]) {
      const table = new Table({ participants: 3, consensus })
      if (rounds === 0) table.crashDuringNextStep(2, 1)
      wish(table, 2, 'ann')
      for (let round = 1; round <= rounds; round++) table.deliverStep()
      if (rounds > 0) table.crashDuringNextStep(2, 1)
      table.run(100)
      expect(table.isUp(2)).toBe(false)
      table.start(2)
      table.run(2_000)
      const again = wish(table, 2, 'ann')
      expect(again).toMatchObject([{ type: 'crit', user: 'ann' }])
      expect(table.view(2).holders).toMatchObject([{ user: 'ann', isIssuing: false }])
    }
  })

  describe('a linearizable read', () => {
    it('sees what was answered before, though this replica had missed it', () => {
      const table = new Table({ participants: 3, consensus })
      const ann = enter(table, 2, 'ann')
      table.isolate(3)
      issue(table, ann, 'op-1')
      table.deliver()
      expect(toldTo(table, 'ann')).toEqual(['crit', 'outcome'])
      table.user(3, { type: 'read', request: 'r1' })
      table.run(1_000)
      expect(eventsOf(table, 3, 'readable')).toEqual([])
      table.reconnect(3)
      table.run(6_000)
      expect(eventsOf(table, 3, 'readable')).toMatchObject([{ request: 'r1' }])
      expect(valueAt(table, 3)).toBe(1)
    })

    it('waits for a barrier that began after it was asked for', () => {
      const table = new Table({ participants: 3, consensus })
      table.user(2, { type: 'read', request: 'r1' })
      table.deliver(ofType('request'))
      table.user(2, { type: 'read', request: 'r2' })
      table.user(2, { type: 'read', request: 'r3' })
      table.user(2, { type: 'cancel-read', request: 'r3' })
      table.deliver()
      const readable = eventsOf(table, 2, 'readable')
      expect(readable.map(({ request }) => request)).toEqual(['r1', 'r2'])
      expect(readable[1]!.sequence).toBeGreaterThan(readable[0]!.sequence)
      table.run(1)
      for (const id of [1, 2, 3]) expect(table.timers(id)).toEqual([])
    })
  })

  it('the view says who waits, who is inside and what is pending', () => {
    const table = new Table({ participants: 3, consensus })
    const ann = enter(table, 2, 'ann')
    wish(table, 2, 'bob')
    issue(table, ann, 'op-1', INCREMENT)
    expect(table.view(2)).toMatchObject({
      membership: 'member',
      phase: 'cs-issuing',
      owner: 2,
      waiters: [{ user: 'bob' }],
      holders: [{ user: 'ann', fence: ann.fence, isIssuing: true }],
    })
    table.deliver()
    exit(table, ann)
    table.deliver()
    expect(table.view(2)).toMatchObject({ endings: [{ user: 'ann', reason: 'released' }] })
  })
})
