/** The coordinator is gone, or wrongly believed to be: nothing that was decided is lost, and nothing is decided twice. */
import { describe, expect, it } from 'vitest'
import { coordinatorOf } from '../../../shared/protocols/wme-consensus/log.ts'
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
import { Table } from './table.ts'

const coordinatorAt = (table: Table, participant: number): number =>
  coordinatorOf(table.state(participant).durable.acceptor.promised)

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

  it('what only the old coordinator had accepted may be lost, and is asked for again by its requester', () => {
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

  it('a coordinator that was wrongly suspected can decide nothing in its old ballot, and follows the new one', () => {
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

  it('of two that take a ballot at once one wins, and nobody keeps trying', () => {
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
