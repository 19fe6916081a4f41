/**
 * Section 5, message by message: 13 nodes with the sets of Figure 1(c). Every request has the sequence number
 * 1.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import { Table } from './table.ts'
import { deliver, follow, inFlight, insideAt } from './transcript.ts'

let table: Table
let sent: () => string[]

beforeEach(() => {
  table = new Table({ participants: 13, localHandoffs: 0 })
  sent = follow(table)
})

/** Figure 2a: nodes 7, 8 and 11 lock each other in a cycle. */
function lockInACircle(): void {
  // (1) Node 11's request has locked 12 and 13 and is on its way to 1.
  table.try(11)
  expect(sent()).toEqual(['11 → 1 request', '11 → 12 request', '11 → 13 request'])
  deliver(table, '11 → 12 request', '11 → 13 request', '12 → 11 locked', '13 → 11 locked')
  // (2) Node 7's has locked 2 and 10 and is on its way to 13.
  table.try(7)
  deliver(table, '7 → 2 request', '7 → 10 request', '2 → 7 locked', '10 → 7 locked')
  // (3) Node 8 locks itself, 1 and 9, but not 10.
  table.try(8)
  sent()
  deliver(table, '8 → 1 request', '8 → 9 request', '8 → 10 request')
  expect(sent()).toEqual(['1 → 8 locked', '9 → 8 locked', '10 → 8 failed'])
  deliver(table, '1 → 8 locked', '9 → 8 locked', '10 → 8 failed')
  // (4) What was on its way arrives.
  deliver(table, '11 → 1 request', '7 → 13 request')
  expect(sent()).toEqual(['1 → 11 failed', '13 → 11 inquire'])
  expect(inFlight(table)).toEqual(['1 → 11 failed', '13 → 11 inquire'])
  for (const node of [7, 8, 11]) expect(table.state(node).durable.own.sequence).toBe(1)
}

describe('Figure 2', () => {
  beforeEach(lockInACircle)

  it('a circle is broken by relinquishing, and all enter: 7, then 8, then 11', () => {
    deliver(table, '1 → 11 failed')
    expect(sent()).toEqual([])
    // Figure 2b.
    deliver(table, '13 → 11 inquire')
    expect(sent()).toEqual(['11 → 13 relinquish'])
    deliver(table, '11 → 13 relinquish')
    expect(sent()).toEqual(['13 → 7 locked'])
    expect(insideAt(table)).toEqual([])
    deliver(table, '13 → 7 locked')
    expect(insideAt(table)).toEqual([7])

    table.exit(7)
    expect(sent()).toEqual(['7 → 2 release', '7 → 10 release', '7 → 13 release'])
    deliver(table, '7 → 2 release', '7 → 10 release', '7 → 13 release')
    expect(sent()).toEqual(['10 → 8 locked', '13 → 11 locked'])
    deliver(table, '10 → 8 locked', '13 → 11 locked')
    expect(insideAt(table)).toEqual([8])

    table.exit(8)
    deliver(table, '8 → 1 release', '8 → 9 release', '8 → 10 release')
    expect(sent()).toEqual(['8 → 1 release', '8 → 9 release', '8 → 10 release', '1 → 11 locked'])
    deliver(table, '1 → 11 locked')
    expect(insideAt(table)).toEqual([11])

    table.exit(11)
    table.deliver()
    expect(table.sent.filter(({ message }) => message.body.type === 'are-you-there')).toEqual([])
    for (const node of table.everybody) {
      expect(table.state(node).durable.arbiter.locker).toBeNull()
      expect(table.state(node).durable.waiting).toEqual([])
      expect(table.timers(node)).toEqual([])
    }
  })

  it('also if the INQUIRE arrives before the FAILED: it is answered when that comes', () => {
    deliver(table, '13 → 11 inquire')
    expect(sent()).toEqual([])
    deliver(table, '1 → 11 failed')
    expect(sent()).toEqual(['11 → 13 relinquish'])
  })

  it('node 3 comes to node 13 between INQUIRE and RELINQUISH, and locks it instead of node 7', () => {
    table.try(3)
    expect(sent()).toEqual(['3 → 6 request', '3 → 8 request', '3 → 13 request'])
    deliver(table, '3 → 13 request')
    // No second INQUIRE. Node 7, which hoped for the first one, is told (the paper forgets it).
    expect(sent()).toEqual(['13 → 7 failed'])
    deliver(table, '3 → 6 request', '6 → 3 locked', '1 → 11 failed', '13 → 11 inquire', '11 → 13 relinquish')
    expect(sent()).toEqual(['6 → 3 locked', '11 → 13 relinquish', '13 → 3 locked'])
    deliver(table, '13 → 3 locked')
    expect(insideAt(table)).toEqual([])
    // Node 8 has failed at 10, so it relinquishes itself to node 3, in the same step.
    deliver(table, '3 → 8 request')
    expect(sent()).toEqual(['8 → 3 locked'])
    deliver(table, '8 → 3 locked')
    expect(insideAt(table)).toEqual([3])
    // Then the others, in order.
    const order: number[] = []
    while (table.inside.size > 0) {
      const [node] = insideAt(table)
      order.push(node!)
      table.exit(node!)
      table.deliver()
    }
    expect(order).toEqual([3, 7, 8, 11])
  })
})
