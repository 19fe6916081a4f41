/**
 * The coordinator is gone, or wrongly believed to be: nothing that was decided is lost, and nothing is
 * decided twice.
 */
import { describe, expect, it } from 'vitest'
import { proposerOf as coordinatorOf } from '../../../shared/protocols/ballots.ts'
import {
  appliedAt,
  enter,
  eventsOf,
  exit,
  FORMS,
  holder,
  issue,
  ofType,
  REPLACEMENT_MS,
  toldTo,
  valueAt,
  wish,
} from './scenes.ts'
import { type Sent, Table } from './table.ts'

const coordinatorAt = (table: Table, participant: number): number =>
  coordinatorOf(table.state(participant).durable.acceptor.promised)

/** Time passes and everything arrives, until something of this kind is in flight. */
function deliverUntil(table: Table, matches: (sent: Sent) => boolean): void {
  for (let round = 0; round < 200 && !table.network.some(matches); round++) {
    if (table.network.length === 0) {
      const { timer, participant } = table.nextTimer()!
      table.fire(participant, timer)
    } else {
      const [sent] = table.network.splice(0, 1)
      if (table.isUp(sent!.to)) table.hand(sent!)
    }
  }
  expect(table.network.some(matches)).toBe(true)
}

describe.each(FORMS)('%s', consensus => {
  it('the first coordinator is the first owner, without a prepare phase', () => {
    const table = new Table({ participants: 3, consensus, firstOwner: 2 })
    wish(table, 2, 'ann')
    expect(table.network.map(({ message }) => message.body.type)).toEqual(['propose', 'propose'])
    table.deliver()
    expect(toldTo(table, 'ann')).toEqual(['crit'])
  })

  it('a crashed coordinator is replaced, and the lock goes on', () => {
    const table = new Table({ participants: 3, consensus })
    table.crash(1)
    wish(table, 2, 'ann')
    table.run(REPLACEMENT_MS)
    const ann = holder(table, 2, 'ann')
    expect(coordinatorAt(table, 2)).toBe(2)
    expect(coordinatorAt(table, 3)).toBe(2)
    issue(table, ann, 'op-1')
    exit(table, { ...ann, fence: ann.fence + 1 })
    table.run(100)
    expect(toldTo(table, 'ann')).toEqual(['crit', 'refused', 'outcome'])
    table.start(1)
    wish(table, 1, 'bob')
    exit(table, ann)
    table.run(REPLACEMENT_MS)
    expect(toldTo(table, 'bob')).toEqual(['crit'])
    expect(valueAt(table, 1)).toBe(1)
  })

  it('what may have been decided is proposed again by the next coordinator', () => {
    const table = new Table({ participants: 5, consensus })
    const ann = enter(table, 2, 'ann')
    issue(table, ann, 'op-1')
    table.deliver(ofType('request'))
    // A majority accepts; nobody hears of it but the coordinator, which applies the operation and is gone.
    table.deliver(sent => ofType('propose')(sent) && sent.to <= 3)
    table.deliver(sent => ofType('ack')(sent) && sent.to === 1)
    expect(appliedAt(table, 1)).toEqual(['op-1'])
    table.crash(1)
    table.take(() => true)
    // Participants 4 and 5 have seen nothing of it, and 5 is the one that replaces the coordinator.
    table.isolate(2)
    wish(table, 5, 'bob')
    table.run(REPLACEMENT_MS)
    expect(appliedAt(table, 5)).toEqual(['op-1'])
    expect(toldTo(table, 'bob')).toEqual(['crit'])
    table.reconnect(2)
    wish(table, 2, 'cid')
    table.run(REPLACEMENT_MS)
    expect(toldTo(table, 'ann')).toEqual(['crit', 'outcome', 'ejected'])
    for (const id of [2, 3, 4, 5]) expect(valueAt(table, id)).toBe(1)
  })

  it('what only the old coordinator had accepted may be lost, and its requester asks for it again', () => {
    const table = new Table({ participants: 3, consensus })
    const ann = enter(table, 2, 'ann')
    issue(table, ann, 'op-1')
    table.deliver(ofType('request'))
    table.crash(1)
    table.take(() => true)
    table.run(REPLACEMENT_MS)
    expect(toldTo(table, 'ann')).toEqual(['crit', 'outcome'])
    // Its accepted instance is replaced by what the others decided there.
    table.start(1)
    wish(table, 1, 'bob')
    table.run(REPLACEMENT_MS)
    expect(appliedAt(table, 1)).toEqual(['op-1'])
    expect(table.state(1).durable.machine).toEqual(table.state(3).durable.machine)
  })

  it('a coordinator that restarts goes on in its ballot', () => {
    const table = new Table({ participants: 3, consensus })
    const ann = enter(table, 2, 'ann')
    issue(table, ann, 'op-1')
    table.crashDuringNextStep(1, 1)
    table.deliver(ofType('request'))
    table.start(1)
    table.run(1_000)
    expect(toldTo(table, 'ann')).toEqual(['crit', 'outcome'])
    expect(table.view(2).epoch).toBe(0)
  })

  it('a wrongly suspected coordinator can decide nothing in its old ballot, and follows the new one', () => {
    const table = new Table({ participants: 5, consensus })
    const ann = enter(table, 1, 'ann')
    table.isolate(1)
    issue(table, ann, 'op-1')
    wish(table, 2, 'bob')
    table.run(REPLACEMENT_MS)
    const bob = holder(table, 2, 'bob')
    issue(table, bob, 'op-2')
    table.deliver()
    expect(toldTo(table, 'ann')).toEqual(['crit'])
    table.reconnect(1)
    table.run(REPLACEMENT_MS)
    expect(coordinatorAt(table, 1)).toBe(coordinatorAt(table, 2))
    const [ejected] = eventsOf(table, 1, 'ejected')
    expect(ejected).toMatchObject({
      user: 'ann',
      reason: 'suspected',
      pending: { opId: 'op-1', outcome: 'not-applied' },
    })
    for (let id = 1; id <= 5; id++) expect(appliedAt(table, id)).toEqual(['op-2'])
  })

  it('a prepare that got lost is said again', () => {
    const table = new Table({ participants: 3, consensus })
    table.crash(1)
    wish(table, 2, 'ann')
    deliverUntil(table, ofType('prepare'))
    table.take(ofType('prepare'))
    table.run(2_000)
    expect(toldTo(table, 'ann')).toEqual(['crit'])
  })

  it('if two take a ballot at once, one wins, and nobody keeps trying', () => {
    const table = new Table({ participants: 5, consensus })
    table.crash(1)
    wish(table, 2, 'ann')
    wish(table, 3, 'bob')
    table.run(REPLACEMENT_MS)
    const first = table.emitted.find(({ event }) => event.type === 'crit')!
    exit(table, holder(table, first.participant, first.participant === 2 ? 'ann' : 'bob'))
    table.run(1_000)
    expect([...toldTo(table, 'ann'), ...toldTo(table, 'bob')].sort()).toEqual(['crit', 'crit', 'rem'])
    for (const id of [2, 3, 4, 5]) expect(table.view(id).epoch).toBeLessThanOrEqual(2)
  })

  it('of two commands accepted for one instance, that of the higher ballot is proposed again', () => {
    const table = new Table({ participants: 3, consensus })
    // Only participant 1 accepts the operation of ann, in the first ballot.
    const ann = enter(table, 1, 'ann')
    table.isolate(1)
    issue(table, ann, 'op-1')
    // In the second ballot something else is decided there, and only participant 2 knows.
    wish(table, 2, 'bob')
    table.user(3, { type: 'read', request: 'r1' })
    deliverUntil(table, sent => ofType('propose')(sent) && sent.from === 2)
    table.take(ofType('propose')).map(sent => table.hand(sent))
    table.take(({ to }) => to === 2).map(sent => table.hand(sent))
    const { applied } = table.state(2).durable.machine
    expect(table.state(1).durable.log.length).toBe(2)
    expect(applied).toBeGreaterThanOrEqual(2)
    const decided = table.state(2).durable.log.map(({ command }) => command)
    table.crash(2)
    table.take(() => true)
    table.reconnect(1)
    table.run(2 * REPLACEMENT_MS)
    expect(table.state(3).durable.machine.applied).toBeGreaterThanOrEqual(applied)
    for (const id of [1, 3]) {
      const commands = table.state(id).durable.log.map(({ command }) => command)
      expect(commands.slice(0, applied)).toEqual(decided.slice(0, applied))
    }
  })

  it('a candidate that finds out in its prepare phase that more is decided learns that first', () => {
    const table = new Table({ participants: 5, consensus })
    const ann = enter(table, 2, 'ann')
    issue(table, ann, 'op-1')
    table.deliver(ofType('request'))
    table.deliver(sent => ofType('propose')(sent) && sent.to <= 3)
    table.deliver(({ to }) => to === 1)
    const late = table.take(() => true).filter(({ to }) => to === 2 || to === 3)
    expect(appliedAt(table, 1)).toEqual(['op-1'])
    table.crash(1)
    wish(table, 5, 'bob')
    deliverUntil(table, ofType('prepare'))
    expect(appliedAt(table, 3)).toEqual([])
    for (const sent of late) table.hand(sent)
    expect([...appliedAt(table, 2), ...appliedAt(table, 3)]).toEqual(['op-1', 'op-1'])
    table.run(REPLACEMENT_MS)
    for (const id of [2, 3, 4, 5]) {
      expect(appliedAt(table, id)).toEqual(['op-1'])
      expect(table.state(id).durable.machine).toEqual(table.state(5).durable.machine)
    }
  })

  it('a minority that does not hear the coordinator replaces nobody', () => {
    const table = new Table({ participants: 5, consensus })
    const isCut = ({ from, to }: Sent) => (from === 1 && to > 3) || (to === 1 && from > 3)
    wish(table, 5, 'eve')
    wish(table, 4, 'dan')
    for (let round = 0; round < 60; round++) {
      const { timer, participant } = table.nextTimer()!
      table.fire(participant, timer)
      table.deliver(sent => !isCut(sent))
      table.take(isCut)
    }
    for (const id of [1, 2, 3]) expect(coordinatorAt(table, id)).toBe(1)
    expect(table.view(4).suspects).toEqual([1])
    expect([...toldTo(table, 'dan'), ...toldTo(table, 'eve')]).toEqual(['crit'])
  })

  it('one participant that hears nobody does not disturb the others (B10)', () => {
    const table = new Table({ participants: 3, consensus })
    const deaf = (sent: { to: number }) => sent.to !== 3
    wish(table, 3, 'cid')
    for (let round = 0; round < 40; round++) {
      const { timer, participant } = table.nextTimer()!
      table.fire(participant, timer)
      table.deliver(deaf)
    }
    expect(coordinatorAt(table, 1)).toBe(1)
    expect(coordinatorAt(table, 2)).toBe(1)
    expect(table.view(3).suspects).toEqual([1])
  })

  it('a participant that cannot reach the coordinator is helped by the others', () => {
    const table = new Table({ participants: 3, consensus })
    const isCut = ({ from, to }: { from: number; to: number }) => from + to === 4 && from !== to
    wish(table, 3, 'cid')
    for (let round = 0; round < 60 && toldTo(table, 'cid').length === 0; round++) {
      const { timer, participant } = table.nextTimer()!
      table.fire(participant, timer)
      table.deliver(sent => !isCut(sent))
      table.take(isCut)
    }
    expect(toldTo(table, 'cid')).toEqual(['crit'])
    expect(coordinatorAt(table, 2)).toBe(1)
  })

  it('a participant whose storage is gone neither votes nor serves (D2)', () => {
    const table = new Table({ participants: 3, consensus })
    const ann = enter(table, 2, 'ann')
    table.wipe(3)
    table.start(3)
    expect(wish(table, 3, 'cid')).toEqual([
      { type: 'refused', user: 'cid', event: 'try', refusal: { code: 'not-a-member' } },
    ])
    expect(table.view(3).membership).toBe('joining')
    table.crash(1)
    issue(table, ann, 'op-1')
    table.run(REPLACEMENT_MS)
    expect(table.network.concat(table.deliver()).filter(({ from }) => from === 3)).toEqual([])
    expect(toldTo(table, 'ann')).toEqual(['crit'])
    table.crash(3)
    table.start(3)
    expect(table.view(3).membership).toBe('joining')
  })
})
