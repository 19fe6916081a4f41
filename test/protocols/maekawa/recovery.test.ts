/** Messages that are lost, and nodes that stop and come back with what they saved. */
import { beforeEach, describe, expect, it } from 'vitest'
import { type Sent, Table } from './table.ts'
import { deliver, follow, inFlight, insideAt, line, say } from './transcript.ts'

let table: Table
let sent: () => string[]

/**
 * S_1 = {1, 2, 3}, S_2 = {2, 4, 6}, S_3 = {3, 5, 6}, S_4 = {1, 4, 5}, S_5 = {2, 5, 7}, S_6 = {1, 6, 7}, S_7 =
 * {3, 4, 7}.
 */
beforeEach(() => {
  table = new Table({ participants: 7, localHandoffs: 0 })
  sent = follow(table)
})

function restart(...nodes: number[]): void {
  for (const node of nodes) table.crash(node)
  for (const node of nodes) table.start(node)
}

/** Nodes that wait ask again, once each, and everything is delivered. */
function askAgain(...nodes: number[]): void {
  for (const node of nodes) table.fire(node, 'repeat')
  table.deliver()
}

describe('a message that is lost', () => {
  const isOf = (type: string) => (message: Sent) => message.message.body.type === type

  it.each(['request', 'locked', 'failed', 'inquire', 'relinquish', 'release'])('%s', type => {
    const all = new Table({ participants: 13, localHandoffs: 0 })
    let lost = 0
    // The cycle of section 5; the first of the messages in question never arrives.
    const pass = (): void => {
      for (;;) {
        if (lost === 0 && all.network.some(isOf(type))) {
          all.network.splice(all.network.findIndex(isOf(type)), 1)
          lost++
        }
        const next = all.network.shift()
        if (next === undefined) return
        all.hand(next)
      }
    }
    for (const node of [11, 7, 8]) all.try(node)
    const early = ['11 → 12 request', '11 → 13 request', '7 → 2 request', '7 → 10 request', '8 → 1 request']
    all.network.sort((a, b) => Number(early.includes(line(b))) - Number(early.includes(line(a))))
    const order: number[] = []
    for (let turns = 0; order.length < 3; turns++) {
      pass()
      const [node] = insideAt(all)
      if (node !== undefined) {
        order.push(node)
        all.exit(node)
      } else {
        const next = all.nextTimer()
        expect(next, 'somebody waits and asks again').not.toBeNull()
        all.fire(next!.participant, next!.timer)
      }
      expect(turns).toBeLessThan(50)
    }
    expect(lost).toBe(1)
    expect(order.toSorted((a, b) => a - b)).toEqual([7, 8, 11])
  })

  it('RELINQUISH, when the node it was for is gone: the locker that asks again gives it back first', () => {
    // Node 4 has locked 5, which node 3 wants before it; it gives 5 back for that, but then node 3 gives up.
    table.try(4)
    deliver(table, '4 → 1 request', '4 → 5 request', '5 → 4 locked')
    table.take(() => true)
    table.try(3)
    deliver(table, '3 → 5 request', '5 → 4 inquire')
    say(table, 1, 4, { type: 'failed', sequence: 1 })
    expect(inFlight(table)).toContain('4 → 5 relinquish')
    table.take(message => line(message) === '4 → 5 relinquish')
    table.withdraw(3)
    table.deliver()
    expect(insideAt(table)).toEqual([])
    // The LOCKED that it hears is of the round that it gave back: it gives it back again, and is locked in a
    // new one.
    sent()
    askAgain(4)
    expect(sent()).toEqual(expect.arrayContaining(['5 → 4 locked', '4 → 5 relinquish']))
    expect(table.state(5).durable.arbiter.round).toBe(2)
    expect(insideAt(table)).toEqual([4])
  })
})

describe('RELEASE', () => {
  it('reaches an arbiter that missed it when another node has asked twice, though both have crashed', () => {
    table.try(1)
    table.deliver()
    table.exit(1)
    table.take(() => true)
    restart(1, 2, 3)
    // Node 3 is in S_1: it is still locked.
    table.try(3)
    table.deliver()
    expect(insideAt(table)).toEqual([])
    sent()
    askAgain(3)
    expect(sent()).toEqual(expect.arrayContaining(['3 → 1 are-you-there', '1 → 3 release']))
    expect(insideAt(table)).toEqual([3])
  })

  it('is implied by the next request of the same node, with its fence', () => {
    table.try(1)
    table.deliver()
    table.exit(1)
    table.take(() => true)
    table.try(1)
    table.deliver()
    expect(insideAt(table)).toEqual([1])
    expect(table.state(2).durable).toMatchObject({ ended: { 1: 1 }, fence: { fence: 1 } })
  })

  it('gives its fence to an arbiter whether it comes first or has to be asked for', () => {
    table.try(1)
    table.deliver()
    table.exit(1)
    table.take(message => message.to === 2)
    table.deliver()
    restart(1, 2)
    table.try(5)
    table.deliver()
    askAgain(5)
    expect(table.emitted.at(-1)).toMatchObject({ participant: 5, event: { type: 'crit', fence: 2 } })
  })

  it('ends also what waits: a request that nobody waits for any longer leaves the queues', () => {
    table.try(1)
    table.deliver()
    table.try(2)
    table.deliver()
    expect(table.state(2).durable.waiting).toEqual([{ node: 2, sequence: 2 }])
    table.withdraw(2)
    expect(sent().slice(-2)).toEqual(['2 → 4 release', '2 → 6 release'])
    table.deliver()
    for (const node of [2, 4, 6]) expect(table.state(node).durable.waiting).toEqual([])
    expect(table.timers(2)).toEqual([])
  })
})

describe('what is durable before it is said', () => {
  it('a request: after a crash it is repeated, not made anew', () => {
    const save = 1
    table.user(1, { type: 'try', user: 'user-1', ttlMs: 1000 }, save)
    expect(inFlight(table)).toEqual([])
    table.start(1)
    expect(inFlight(table)).toEqual(['1 → 2 request', '1 → 3 request'])
    expect(table.network[0]!.message.body).toMatchObject({ sequence: 1 })
    table.deliver()
    expect(insideAt(table)).toEqual([1])
  })

  it('a lock and a queue: an arbiter that comes back knows whom it is locked for and who waits', () => {
    table.try(1)
    deliver(table, '1 → 2 request')
    table.try(5)
    deliver(table, '5 → 2 request')
    restart(2)
    expect(table.state(2).durable).toMatchObject({
      arbiter: { locker: { node: 1, sequence: 1 } },
      waiting: [{ node: 5, sequence: 1 }],
    })
    table.deliver()
    expect(insideAt(table)).toEqual([1])
    table.exit(1)
    table.deliver()
    expect(insideAt(table)).toEqual([5])
  })

  it('being inside: a node that comes back is still inside, and keeps the others out', () => {
    table.try(1)
    table.deliver()
    const [fence] = table.inside.values()
    restart(1, 2, 3)
    expect(table.state(1).durable.own.phase).toBe('inside')
    table.try(2)
    table.try(3)
    table.deliver()
    askAgain(2, 3)
    expect(insideAt(table)).toEqual([1])
    table.user(1, { type: 'exit', user: 'user-1', fence: fence! })
    table.deliver()
    expect(insideAt(table)).toHaveLength(1)
  })

  it('a fence: a crash right after it was saved does not give it to anybody else', () => {
    table.try(1)
    deliver(table, '1 → 2 request', '1 → 3 request', '2 → 1 locked')
    const last = table.take(message => line(message) === '3 → 1 locked')[0]!
    const save = 1
    table.hand(last, save)
    expect(table.inside.size).toBe(0)
    table.start(1)
    expect(table.state(1).durable.localQueue.holders).toMatchObject([{ fence: 1 }])
    // The user says again that it wants in, and hears that it is.
    expect(table.try(1)).toMatchObject([{ type: 'crit', fence: 1 }])
    table.exit(1)
    table.deliver()
    table.try(2)
    table.deliver()
    expect([...table.inside.values()]).toEqual([2])
  })
})

describe('the repeat timer', () => {
  it('is set exactly while a lock is missing, with growing intervals', () => {
    table.try(1)
    expect(table.timers(1)).toEqual(['repeat'])
    const intervals: number[] = []
    for (let i = 0; i < 8; i++) {
      const before = table.now
      intervals.push(table.timerAt(1, 'repeat')! - before)
      table.take(() => true)
      table.fire(1, 'repeat')
    }
    expect(intervals).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000, 5000])
    table.deliver()
    expect(table.timers(1)).toEqual(['ttl'])
    table.exit(1)
    table.deliver()
    for (const node of table.everybody) expect(table.timers(node)).toEqual([])
    // The next request begins with the shortest interval again.
    table.try(1)
    expect(table.timerAt(1, 'repeat')! - table.now).toBe(250)
  })

  it('asks only those again whose LOCKED is missing', () => {
    table.try(1)
    deliver(table, '1 → 2 request', '2 → 1 locked')
    table.take(() => true)
    sent()
    table.fire(1, 'repeat')
    expect(sent()).toEqual(['1 → 3 request'])
  })
})
