/** Many users at a node, operators, and participants that must not take part. */
import { beforeEach, describe, expect, it } from 'vitest'
import { maekawa } from '../../../shared/protocols/maekawa/maekawa.ts'
import { Table } from './table.ts'
import { deliver, follow, insideAt } from './transcript.ts'

let table: Table
let sent: () => string[]

beforeEach(() => {
  table = new Table({ participants: 7, localHandoffs: 1 })
  sent = follow(table)
})

describe('local users', () => {
  it('follow each other without a message while nobody else is known to wait, with growing fences', () => {
    for (const user of ['a', 'b', 'c', 'd']) table.try(1, user)
    table.deliver()
    sent()
    for (const user of ['a', 'b', 'c']) table.exit(1, user)
    expect(sent()).toEqual([])
    expect([...table.inside]).toEqual([['1/d', 4]])
    table.exit(1, 'd')
    expect(sent()).toEqual(['1 → 2 release', '1 → 3 release'])
    // Their last fence is known to the next node, which shares only node 2 with them.
    table.deliver()
    table.try(5)
    table.deliver()
    expect([...table.inside.values()]).toEqual([5])
  })

  it('follow each other as often as allowed while another node waits', () => {
    for (const user of ['a', 'b', 'c']) table.try(1, user)
    table.deliver()
    table.try(4)
    table.deliver()
    // Node 1 is in S_4: it knows.
    table.exit(1, 'a')
    expect(insideAt(table)).toEqual([1])
    table.exit(1, 'b')
    table.deliver()
    expect(insideAt(table)).toEqual([4])
    table.exit(4)
    table.deliver()
    expect([...table.inside.keys()]).toEqual(['1/c'])
  })

  it('learn from one that asks twice that it waits, where only another arbiter knows it', () => {
    for (const user of ['a', 'b', 'c', 'd', 'e']) table.try(1, user)
    table.deliver()
    // Node 5 shares only node 2 with node 1.
    table.try(5)
    table.deliver()
    table.exit(1, 'a')
    table.exit(1, 'b')
    expect([...table.inside.keys()]).toEqual(['1/c'])
    table.fire(5, 'repeat')
    table.deliver()
    table.exit(1, 'c')
    expect([...table.inside.keys()]).toEqual(['1/d'])
    table.exit(1, 'd')
    table.deliver()
    expect(insideAt(table)).toEqual([5])
  })

  it('that come later are not held back by those that waited then', () => {
    const quiet = new Table({ participants: 7, localHandoffs: 0 })
    quiet.try(1, 'a')
    quiet.deliver()
    quiet.try(5)
    quiet.deliver()
    quiet.fire(5, 'repeat')
    quiet.deliver()
    quiet.exit(1, 'a')
    quiet.deliver()
    quiet.exit(5)
    quiet.deliver()
    for (const user of ['b', 'c']) quiet.try(1, user)
    quiet.deliver()
    quiet.exit(1, 'b')
    expect([...quiet.inside.keys()]).toEqual(['1/c'])
  })

  it('learn it also from an INQUIRE that came before they were in', () => {
    const alone = new Table({ participants: 7, localHandoffs: 0 })
    for (const user of ['a', 'b']) alone.try(5, user)
    // Node 1 shares only node 2 with node 5; its request is the earlier one.
    alone.try(1)
    deliver(alone, '5 → 2 request', '1 → 2 request', '2 → 5 locked', '2 → 5 inquire')
    deliver(alone, '5 → 7 request', '7 → 5 locked')
    expect([...alone.inside.keys()]).toEqual(['5/a'])
    alone.exit(5, 'a')
    alone.deliver()
    expect(insideAt(alone)).toEqual([1])
  })

  it('that give up before they are in make the node give back what it has', () => {
    table.try(1, 'a', { waitMs: 100 })
    sent()
    expect(table.fire(1, 'wait')).toMatchObject([{ type: 'withdrawn', user: 'a', reason: 'timeout' }])
    expect(sent()).toEqual(['1 → 2 release', '1 → 3 release'])
    table.deliver()
    expect(table.inside.size).toBe(0)
    for (const node of table.everybody) expect(table.state(node).durable.arbiter.locker).toBeNull()
  })

  it('whose time is over are out, and the next node is in', () => {
    table.try(1, 'a', { ttlMs: 100 })
    table.deliver()
    table.try(2)
    table.deliver()
    expect(table.fire(1, 'ttl')).toMatchObject([{ type: 'ejected', user: 'a', reason: 'expired' }])
    table.deliver()
    expect(insideAt(table)).toEqual([2])
  })

  it('get no shared locks, operations, reads or changes of the group', () => {
    const refusal = { code: 'not-supported' }
    expect(table.user(1, { type: 'try', user: 'a', ttlMs: 1000, mode: 'shared' })).toMatchObject([
      { refusal },
    ])
    expect(table.user(1, { type: 'issue', user: 'a', fence: 1, opId: 'o', operation: null })).toMatchObject([
      { refusal },
    ])
    expect(table.user(1, { type: 'read', request: 'r' })).toMatchObject([{ refusal }])
    expect(table.user(1, { type: 'membership', request: 'r', wish: 'leave' })).toMatchObject([{ refusal }])
    expect(sent()).toEqual([])
  })
})

it('an operator forces the holder out, wherever it is', () => {
  table.try(1)
  table.deliver()
  table.try(2)
  table.deliver()
  table.user(7, { type: 'eject', request: 'force' })
  table.deliver()
  const events = table.emitted.map(({ participant, event }) => `${participant} ${event.type}`)
  expect(events).toEqual(['1 crit', '1 ejected', '7 eject-done', '2 crit'])
  expect(table.timers(7)).toEqual([])
})

it('an operator is heard though a message of every kind was lost', () => {
  table.try(1)
  table.deliver()
  table.user(7, { type: 'eject', request: 'force' })
  for (const type of ['who-is-inside', 'inside', 'eject', 'ejected']) {
    table.deliver(({ message }) => message.body.type !== type)
    expect(table.take(() => true)).not.toEqual([])
    table.fire(7, 'repeat')
  }
  table.deliver()
  expect(table.emitted.at(-1)).toMatchObject({
    participant: 7,
    event: { type: 'eject-done', request: 'force' },
  })
  expect(table.inside.size).toBe(0)
  expect(table.timers(7)).toEqual([])
})

describe('nodes that must not take part', () => {
  it('a node that lost its storage is silent and refuses its users: it no longer knows its locker', () => {
    table.try(1)
    table.deliver()
    table.wipe(2)
    table.start(2)
    expect(maekawa.view(table.context(2), table.state(2)).membership).toBe('blank')
    expect(table.try(2)).toMatchObject([{ type: 'refused', refusal: { code: 'not-a-member' } }])
    sent()
    table.try(5)
    table.deliver()
    table.fire(5, 'repeat')
    table.deliver()
    expect(insideAt(table)).toEqual([1])
    expect(sent().filter(one => one.startsWith('2 →'))).toEqual([])
    expect(table.storage(2).size).toBe(0)
  })
})

it('the view says what a node is doing', () => {
  const view = () => maekawa.view(table.context(1), table.state(1))
  expect(view()).toMatchObject({ membership: 'member', phase: 'idle', sequence: 0, owner: null, cells: null })
  table.try(1, 'a')
  table.try(1, 'b')
  expect(view()).toMatchObject({ phase: 'requesting', owner: null })
  table.deliver()
  expect(view()).toMatchObject({
    phase: 'inside',
    sequence: 1,
    owner: 1,
    waiters: [{ user: 'b' }],
    holders: [{ user: 'a', fence: 1, isIssuing: false }],
    suspects: [],
  })
})
