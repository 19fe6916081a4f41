/** A grant has a user and a fence: nobody ends another one, by mistake, late, or as an operator. */
import { expect, it } from 'vitest'
import { Table } from '../maekawa/table.ts'

const isInside = (table: Table, node: number): string[] =>
  table.state(node).durable.desk.holders.map(({ user }) => user)

/** Ann was inside at node 1, and is again. */
function twice(): { table: Table; old: number; present: number } {
  const table = new Table({ participants: 3 })
  const enter = (): number => {
    table.try(1, 'ann')
    table.deliver()
    return table.inside.get('1/ann')!
  }
  const old = enter()
  table.exit(1, 'ann')
  table.deliver()
  return { table, old, present: enter() }
}

it('an exit with an old fence is a release said twice, and ends nothing', () => {
  const { table, old, present } = twice()
  expect(table.user(1, { type: 'exit', user: 'ann', fence: old })).toEqual([
    { type: 'rem', user: 'ann', fence: old },
  ])
  expect(table.state(1).durable.desk.holders).toMatchObject([{ user: 'ann', fence: present }])
  expect(table.user(1, { type: 'exit', user: 'ann', fence: present + 1 })).toMatchObject([
    { type: 'refused', refusal: { code: 'grant-over', ending: null } },
  ])
  expect(isInside(table, 1)).toEqual(['ann'])
})

it('whoever knows the fence of another user cannot end its grant', () => {
  const { table, present } = twice()
  expect(table.user(1, { type: 'exit', user: 'bob', fence: present })).toMatchObject([{ type: 'refused' }])
  expect(isInside(table, 1)).toEqual(['ann'])
})

it.each([1, 2])('an operator at node %i that means an old grant forces nobody out', node => {
  const { table, old, present } = twice()
  const conflict = { type: 'refused', user: 'e', event: 'eject', refusal: { code: 'conflict' } }
  table.user(node, { type: 'eject', request: 'e', fence: old })
  table.deliver()
  expect(table.emitted.at(-1)).toEqual({ node, event: conflict })
  expect(isInside(table, 1)).toEqual(['ann'])
  table.user(node, { type: 'eject', request: 'f', fence: present })
  table.deliver()
  expect(isInside(table, 1)).toEqual([])
  expect(table.emitted.at(-1)).toMatchObject({ node, event: { type: 'eject-done', request: 'f' } })
})
