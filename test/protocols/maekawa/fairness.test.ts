/**
 * Section 4, step (1): a request's number is greater than any that was "sent, received, or observed" at its
 * node. A node that waits is overtaken by at most two requests of each other node, the bound that
 * shared/history/fairness.ts judges by.
 */
import { describe, expect, it } from 'vitest'
import { Table } from './table.ts'
import { insideAt, say } from './transcript.ts'

/** Two requests of each of the two others, one grant for each of them: no node hands over here. */
const MAX_OVERTAKEN = 2 * 2

/** S_1 = {1, 3, 4}, S_2 = {2, 3, 4}, S_5 = {1, 2, 5}: 1 never asks 2 or 5, and shares a member with both. */
const five = (): Table => new Table({ participants: 5, localHandoffs: 0 })

function useAlone(table: Table, node: number, times: number): void {
  for (let use = 0; use < times; use++) {
    table.try(node)
    table.deliver()
    table.exit(node)
    table.deliver()
  }
}

/**
 * The others leave and ask again at once, until this node is inside. Returns how often others were let in
 * before.
 */
function othersLetInBefore(table: Table, node: number, most: number): number {
  for (let others = 0; others <= most; others++) {
    const [inside] = insideAt(table)
    if (inside === node) return others
    expect(inside, 'somebody is inside').toBeDefined()
    table.exit(inside!)
    table.try(inside!)
    table.deliver()
  }
  return most
}

describe('a node that has used the lock often, and now waits with two that have not', () => {
  it.each([5, 50, 324])('is let in by its turn, after %i uses', uses => {
    const table = five()
    useAlone(table, 1, uses)
    for (const node of [5, 2, 1]) table.try(node)
    table.deliver()
    expect(othersLetInBefore(table, 1, 2_000)).toBeLessThanOrEqual(MAX_OVERTAKEN)
  })

  it('is let in by its turn, though the others crash after each of theirs', () => {
    const table = five()
    useAlone(table, 1, 100)
    for (const node of [5, 2, 1]) table.try(node)
    table.deliver()
    let others = 0
    for (; insideAt(table)[0] !== 1 && others < 500; others++) {
      const [inside] = insideAt(table)
      table.exit(inside!)
      table.deliver()
      table.crash(inside!)
      table.start(inside!)
      table.try(inside!)
      table.deliver()
    }
    expect(others).toBeLessThanOrEqual(MAX_OVERTAKEN)
  })
})

describe('a number that was heard of', () => {
  const numberOf = (table: Table, node: number) => table.state(node).durable.own.sequence

  it.each(['locked', 'failed', 'inquire', 'are-you-there', 'relinquish', 'release', 'request'] as const)(
    'in %s is below the next one that is chosen, also after a crash',
    type => {
      const table = five()
      say(table, 3, 2, { type, sequence: 1, round: 1, fence: 0 }, 40)
      table.crash(2)
      table.start(2)
      table.try(2)
      expect(numberOf(table, 2)).toBe(41)
    },
  )

  it('is stored before it is passed on', () => {
    const table = five()
    table.crashDuringNextStep(2, 1)
    say(table, 3, 2, { type: 'request', sequence: 1, fence: 0 }, 40)
    expect(table.network).toEqual([])
    expect(table.storage(2).get('observed')).toEqual({ sequence: 40 })
    table.start(2)
    say(table, 3, 2, { type: 'request', sequence: 1, fence: 0 }, 1)
    expect(table.network.map(({ message }) => message.body)).toEqual([
      expect.objectContaining({ type: 'locked', highest: 40 }),
    ])
  })

  it('goes from one that asks to one that is never asked by it', () => {
    const table = five()
    useAlone(table, 1, 20)
    expect(table.state(2).derived.highest).toBe(0)
    table.try(2)
    table.deliver()
    expect(table.state(2).derived.highest).toBe(20)
  })

  it('needs no record of its own while a request holds it', () => {
    const table = five()
    useAlone(table, 1, 3)
    for (const node of table.everybody) expect(table.storage(node).has('observed')).toBe(false)
  })
})
