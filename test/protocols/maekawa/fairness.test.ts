/**
 * Section 4, step (1): a request's number is greater than any that was "sent, received, or observed" at its node. Whoever waits
 * is overtaken by no more than two requests of each other node, the bound that shared/history/fairness.ts judges by.
 */
import { describe, expect, it } from 'vitest'
import { Table } from './table.ts'
import { insideAt } from './transcript.ts'

/** Two requests of each of the two others, one grant for each of them: nobody hands over here. */
const MOST_OVERTAKEN = 2 * 2

/** S_1 = {1, 3, 4}, S_2 = {2, 3, 4}, S_5 = {1, 2, 5}: neither 2 nor 5 is ever asked by 1, and both have a member in common with it. */
const five = (): Table => new Table({ participants: 5, localHandoffs: 0 })

function useAlone(table: Table, node: number, times: number): void {
  for (let use = 0; use < times; use++) {
    table.try(node)
    table.deliver()
    table.exit(node)
    table.deliver()
  }
}

/** Others leave and ask again at once, until this node is inside. How often others were let in before. */
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
    expect(othersLetInBefore(table, 1, 2_000)).toBeLessThanOrEqual(MOST_OVERTAKEN)
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
    expect(others).toBeLessThanOrEqual(MOST_OVERTAKEN)
  })
})
