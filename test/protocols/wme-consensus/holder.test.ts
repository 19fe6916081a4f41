/** The end of a grant: who decides it, and what becomes of the operation that is pending then. */
import { describe, expect, it } from 'vitest'
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

describe.each(FORMS)('%s', consensus => {
  it('a majority goes on without the participant of the holder, which is ejected', () => {
    const table = new Table({ participants: 5, consensus })
    const ann = enter(table, 4, 'ann')
    table.isolate(4)
    issue(table, ann, 'op-lost')
    wish(table, 2, 'bob')
    table.run(REPLACEMENT_MS)
    const bob = holder(table, 2, 'bob')
    expect(bob.fence).toBeGreaterThan(ann.fence)
    issue(table, bob, 'op-bob')
    table.deliver()
    // It was the holder that was suspected, not the coordinator.
    expect(table.view(2).epoch).toBe(0)
    table.reconnect(4)
    table.run(REPLACEMENT_MS)
    expect(eventsOf(table, 4, 'ejected')).toEqual([
      {
        type: 'ejected',
        user: 'ann',
        fence: ann.fence,
        reason: 'suspected',
        pending: { opId: 'op-lost', outcome: 'not-applied' },
      },
    ])
    for (let id = 1; id <= 5; id++) expect(appliedAt(table, id)).toEqual(['op-bob'])
    expect(issue(table, ann, 'op-late')).toMatchObject([
      { type: 'refused', opId: 'op-late', refusal: { code: 'grant-over', ending: { reason: 'suspected' } } },
    ])
  })

  it('an operation that is decided after the ejection changes nothing anywhere', () => {
    const table = new Table({ participants: 5, consensus })
    const ann = enter(table, 4, 'ann')
    issue(table, ann, 'op-late')
    const late = table.take(ofType('request'))
    table.isolate(4)
    wish(table, 2, 'bob')
    table.run(REPLACEMENT_MS)
    expect(toldTo(table, 'bob')).toEqual(['crit'])
    for (const sent of late) table.hand(sent)
    table.deliver()
    const decided = table.state(1).durable.log.map(({ command }) => command.kind)
    expect(decided).toContain('operation')
    for (const id of [1, 2, 3, 5]) expect(appliedAt(table, id)).toEqual([])
    table.reconnect(4)
    table.run(REPLACEMENT_MS)
    expect(toldTo(table, 'ann')).toEqual(['crit', 'ejected'])
  })

  it('an operation that was decided before the ejection is answered before it', () => {
    const table = new Table({ participants: 5, consensus })
    const ann = enter(table, 4, 'ann')
    issue(table, ann, 'op-1')
    table.deliver(ofType('request'))
    table.isolate(4)
    wish(table, 2, 'bob')
    table.run(REPLACEMENT_MS)
    table.reconnect(4)
    wish(table, 4, 'dan')
    table.run(REPLACEMENT_MS)
    expect(toldTo(table, 'ann')).toEqual(['crit', 'outcome', 'ejected'])
    expect(eventsOf(table, 4, 'ejected')[0]!.pending).toBeUndefined()
    expect(valueAt(table, 4)).toBe(1)
  })

  it('a user that has asked to leave and is ejected meanwhile has left', () => {
    const table = new Table({ participants: 5, consensus })
    const ann = enter(table, 4, 'ann')
    table.isolate(4)
    exit(table, ann)
    wish(table, 2, 'bob')
    table.run(REPLACEMENT_MS)
    expect(toldTo(table, 'bob')).toEqual(['crit'])
    table.reconnect(4)
    table.run(REPLACEMENT_MS)
    expect(toldTo(table, 'ann')).toEqual(['crit', 'rem'])
  })

  it('a suspicion from before does not eject a holder that is there', () => {
    const table = new Table({ participants: 5, consensus })
    const ann = enter(table, 4, 'ann')
    table.isolate(4)
    wish(table, 2, 'bob')
    wish(table, 3, 'cid')
    table.run(REPLACEMENT_MS)
    table.reconnect(4)
    table.run(20)
    for (const [id, user] of [
      [2, 'bob'],
      [3, 'cid'],
    ] as const) {
      exit(table, holder(table, id, user))
      table.deliver()
    }
    // The participants that found participant 4 silent have not had a reason to ask again.
    expect(table.view(2).suspects).toEqual([4])
    const dan = enter(table, 4, 'dan')
    for (const id of [1, 2, 3, 5]) wish(table, id, `user-${id}`)
    table.run(REPLACEMENT_MS)
    expect(toldTo(table, 'dan')).toEqual(['crit'])
    expect(dan.fence).toBeGreaterThan(ann.fence)
  })

  it('a suspected participant loses its place in the queue, and asks for another one', () => {
    const table = new Table({ participants: 5, consensus })
    enter(table, 4, 'ann')
    wish(table, 4, 'abe')
    table.deliver()
    wish(table, 2, 'bob')
    table.deliver()
    expect(table.state(1).durable.machine.queue.map(({ participant }) => participant)).toEqual([4, 2])
    table.isolate(4)
    table.run(REPLACEMENT_MS)
    expect(toldTo(table, 'bob')).toEqual(['crit'])
    expect(table.state(1).durable.machine.queue).toEqual([])
    expect(table.state(1).durable.log.filter(({ command }) => command.kind === 'eject')).toHaveLength(1)
    table.reconnect(4)
    table.run(REPLACEMENT_MS)
    exit(table, holder(table, 2, 'bob'))
    table.run(1_000)
    expect(toldTo(table, 'abe')).toEqual(['crit'])
  })

  it('time that runs out: told at once, decided afterwards', () => {
    const table = new Table({ participants: 3, consensus })
    enter(table, 2, 'ann', { ttlMs: 400 })
    wish(table, 3, 'bob')
    table.deliver()
    table.isolate(2)
    table.run(400)
    expect(toldTo(table, 'ann')).toEqual(['crit', 'ejected'])
    expect(toldTo(table, 'bob')).toEqual([])
    table.reconnect(2)
    table.run(1_000)
    expect(toldTo(table, 'bob')).toEqual(['crit'])
  })

  it('time that runs out, and the others eject the holder before they hear of it', () => {
    const table = new Table({ participants: 5, consensus })
    enter(table, 4, 'ann', { ttlMs: 1_000 })
    table.isolate(4)
    wish(table, 2, 'bob')
    table.run(REPLACEMENT_MS)
    expect(toldTo(table, 'ann')).toEqual(['crit', 'ejected'])
    exit(table, holder(table, 2, 'bob'))
    table.reconnect(4)
    wish(table, 4, 'dan')
    table.run(REPLACEMENT_MS)
    issue(table, holder(table, 4, 'dan'), 'op-1')
    table.run(1_000)
    expect(toldTo(table, 'dan')).toEqual(['crit', 'outcome'])
    expect(toldTo(table, 'ann')).toEqual(['crit', 'ejected'])
  })

  it('commands still to be decided for a grant that is over do not block the next user', () => {
    const table = new Table({ participants: 5, consensus })
    enter(table, 4, 'ann', { ttlMs: 1_000 })
    wish(table, 4, 'dan')
    table.deliver()
    table.fire(4, 'ttl')
    expect(toldTo(table, 'ann')).toEqual(['crit', 'ejected'])
    // Nobody hears that ann has left; an operator forces her out before it is repeated.
    table.take(({ from }) => from === 4)
    table.user(2, { type: 'eject', request: 'r1' })
    table.deliver()
    issue(table, holder(table, 4, 'dan'), 'op-1')
    table.deliver()
    expect(toldTo(table, 'dan')).toEqual(['crit', 'outcome'])
  })

  it('time that runs out while an operation is pending: outcome first', () => {
    const table = new Table({ participants: 3, consensus })
    const ann = enter(table, 2, 'ann', { ttlMs: 1_000 })
    table.isolate(2)
    issue(table, ann, 'op-1')
    table.run(1_500)
    expect(toldTo(table, 'ann')).toEqual(['crit'])
    expect(table.user(2, { type: 'keep-alive', ...ann, ttlMs: 9_000 })).toMatchObject([{ type: 'refused' }])
    table.reconnect(2)
    table.run(2_000)
    expect(toldTo(table, 'ann')).toEqual(['crit', 'refused', 'outcome', 'ejected'])
    expect(eventsOf(table, 2, 'ejected')[0]).toMatchObject({ reason: 'expired' })
    expect(table.state(1).durable.machine.holder).toBeNull()
  })

  it('the time of a grant goes on across a restart, and a keep-alive moves its end', () => {
    const table = new Table({ participants: 3, consensus })
    const ann = enter(table, 2, 'ann', { ttlMs: 1_000 })
    table.run(600)
    expect(table.user(2, { type: 'keep-alive', ...ann, ttlMs: 2_000 })).toMatchObject([
      { type: 'kept', expiresAt: 2_600 },
    ])
    table.crash(2)
    table.start(2)
    table.run(1_900)
    expect(toldTo(table, 'ann')).toEqual(['crit', 'kept'])
    table.run(200)
    expect(toldTo(table, 'ann')).toEqual(['crit', 'kept', 'ejected'])
  })

  it('the time of a grant is not longer because the clock was set back before a restart', () => {
    const table = new Table({ participants: 3, consensus })
    enter(table, 2, 'ann', { ttlMs: 1_000 })
    table.crash(2)
    table.now -= 3_600_000
    table.start(2)
    table.run(999)
    expect(toldTo(table, 'ann')).toEqual(['crit'])
    table.run(1)
    expect(toldTo(table, 'ann')).toEqual(['crit', 'ejected'])
  })

  it('an operator forces the holder out, wherever it is', () => {
    const table = new Table({ participants: 3, consensus })
    const ann = enter(table, 2, 'ann')
    table.user(3, { type: 'eject', request: 'r1' })
    expect(eventsOf(table, 3, 'eject-done')).toEqual([])
    table.deliver()
    expect(eventsOf(table, 3, 'eject-done')).toEqual([{ type: 'eject-done', request: 'r1', epoch: 0 }])
    expect(eventsOf(table, 2, 'ejected')).toMatchObject([
      { user: 'ann', fence: ann.fence, reason: 'operator' },
    ])
    enter(table, 2, 'bob')
    expect(table.user(2, { type: 'eject', request: 'r2' }).map(({ type }) => type)).toEqual([
      'ejected',
      'eject-done',
    ])
    table.deliver()
    expect(table.user(1, { type: 'eject', request: 'r3' })).toMatchObject([
      { type: 'eject-done', request: 'r3' },
    ])
    expect(table.state(1).durable.machine.holder).toBeNull()
  })

  it('an operator that names a grant forces no other out', () => {
    const table = new Table({ participants: 3, consensus })
    const ann = enter(table, 2, 'ann')
    const eject = (request: string, fence: number) => table.user(3, { type: 'eject', request, fence })
    expect(eject('r1', ann.fence - 1)).toMatchObject([{ type: 'refused', refusal: { code: 'conflict' } }])
    exit(table, ann)
    table.deliver()
    // It is out already.
    expect(eject('r2', ann.fence)).toMatchObject([{ type: 'eject-done', request: 'r2' }])
    const bob = enter(table, 1, 'bob')
    expect(eject('r3', ann.fence)).toMatchObject([{ type: 'refused', refusal: { code: 'conflict' } }])
    eject('r4', bob.fence)
    table.deliver()
    expect(toldTo(table, 'bob')).toEqual(['crit', 'ejected'])
  })
})
