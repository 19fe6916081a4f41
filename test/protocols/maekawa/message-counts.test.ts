/**
 * Section 1: between 3√N and 5√N messages for each critical section; exactly, between 3(K - 1) and 5(K - 1).
 * Links are FIFO and lose nothing, as in the paper, and no node waits so long that it asks twice. The upper
 * bound holds for the mean over a run: a single request that is relinquished again and again, always to
 * another one, costs its own 3(K - 1) and 3 for each time.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memberSets } from '../../../shared/protocols/maekawa/sets/sets.ts'
import { type Sent, Table } from './table.ts'

const linkOf = ({ from, to }: Sent): string => `${from}/${to}`

/** Every node wants the critical section `times` times, once at a time; `choose` says what comes next. */
function contend(participants: number, times: number, choose: (among: number) => number): Table {
  const table = new Table({ participants, localHandoffs: 0 })
  const wishes = table.everybody.flatMap(node => new Array<number>(times).fill(node))
  let users = 0
  const isIdle = (node: number): boolean => table.state(node).durable.own.phase === 'idle'
  for (;;) {
    const links = [...new Set(table.network.map(linkOf))]
    const moves: (() => void)[] = links.map(link => () => {
      const index = table.network.findIndex(sent => linkOf(sent) === link)
      table.hand(table.network.splice(index, 1)[0]!)
    })
    for (const name of table.inside.keys()) {
      const [node, user] = name.split('/')
      moves.push(() => table.exit(Number(node), user))
    }
    const idle = wishes.filter(isIdle)
    if (idle.length > 0) {
      moves.push(() => {
        const node = idle[choose(idle.length)]!
        wishes.splice(wishes.indexOf(node), 1)
        table.try(node, `user-${users++}`)
      })
    }
    if (moves.length === 0) return table
    moves[choose(moves.length)]!()
  }
}

describe.each([
  [3, 2],
  [7, 3],
  [13, 4],
  [21, 5],
])('%i nodes, K = %i', (participants, size) => {
  it('alone: exactly 3(K - 1) messages', () => {
    const table = new Table({ participants })
    for (const node of table.everybody) {
      expect(memberSets(participants)[node - 1]).toHaveLength(size)
      const before = table.sent.length
      table.try(node)
      table.deliver()
      expect(table.inside.size).toBe(1)
      expect(table.sent.length - before).toBe(2 * (size - 1))
      table.exit(node)
      table.deliver()
      expect(table.sent.length - before).toBe(3 * (size - 1))
    }
    expect(table.now).toBe(0)
  })

  it('when everybody wants it: between 3(K - 1) and 5(K - 1) for each critical section of the run', () => {
    const perCycle: number[] = []
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(2 ** 20)), fc.integer({ min: 1, max: 3 }), (numbers, times) => {
        const table = contend(participants, times, among => numbers.next().value! % among)
        const cycles = table.emitted.filter(({ event }) => event.type === 'rem').length
        expect(cycles).toBe(participants * times)
        expect(table.sent.some(({ message }) => message.body.type === 'are-you-there')).toBe(false)
        perCycle.push(table.sent.length / cycles / (size - 1))
      }),
      { numRuns: participants > 10 ? 6 : 30, seed: 1 },
    )
    expect(Math.min(...perCycle)).toBeGreaterThanOrEqual(3)
    expect(Math.max(...perCycle)).toBeLessThanOrEqual(5)
  })
})
