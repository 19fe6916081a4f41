/**
 * A grant has a user and a fence: nobody can end another user's grant, by mistake, late, or as an operator.
 */
import { expect, it } from 'vitest'
import { Table } from '../maekawa/table.ts'

const isInside = (table: Table, node: number): string[] =>
  table.state(node).durable.localQueue.holders.map(({ user }) => user)

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
  expect(table.state(1).durable.localQueue.holders).toMatchObject([{ user: 'ann', fence: present }])
  expect(table.user(1, { type: 'exit', user: 'ann', fence: present + 1 })).toMatchObject([
    { type: 'refused', refusal: { code: 'grant-over', ending: null } },
  ])
  expect(isInside(table, 1)).toEqual(['ann'])
})

it('a user that knows the fence of another one cannot end its grant', () => {
  const { table, present } = twice()
  expect(table.user(1, { type: 'exit', user: 'bob', fence: present })).toMatchObject([{ type: 'refused' }])
  expect(isInside(table, 1)).toEqual(['ann'])
})

it.each([1, 2])('an operator at node %i that means an old grant forces nobody out', node => {
  const { table, old, present } = twice()
  const conflict = { type: 'refused', user: 'e', event: 'eject', refusal: { code: 'conflict' } }
  table.user(node, { type: 'eject', request: 'e', fence: old })
  table.deliver()
  expect(table.emitted.at(-1)).toEqual({ participant: node, event: conflict })
  expect(isInside(table, 1)).toEqual(['ann'])
  table.user(node, { type: 'eject', request: 'f', fence: present })
  table.deliver()
  expect(isInside(table, 1)).toEqual([])
  expect(table.emitted.at(-1)).toMatchObject({
    participant: node,
    event: { type: 'eject-done', request: 'f' },
  })
})

it('an operator whose message comes late forces nobody out that came in since', () => {
  const { table } = twice()
  table.user(2, { type: 'eject', request: 'e' })
  table.deliver(({ message }) => message.body.type !== 'eject')
  table.exit(1, 'ann')
  table.try(1, 'bob')
  table.deliver(({ message }) => message.body.type !== 'eject')
  expect(isInside(table, 1)).toEqual(['bob'])
  table.deliver()
  expect(isInside(table, 1)).toEqual(['bob'])
})

const isDone = (table: Table): boolean => table.emitted.some(({ event }) => event.type === 'eject-done')

it('an ejection is done when all have answered; one that did not is asked again', () => {
  const { table } = twice()
  table.user(2, { type: 'eject', request: 'e' })
  table.take(({ to }) => to === 1)
  table.deliver()
  expect(isDone(table)).toBe(false)
  table.fire(2, 'repeat')
  table.deliver()
  expect(isDone(table)).toBe(true)
  expect(isInside(table, 1)).toEqual([])
})

it('a late answer to a question of an earlier life does not count for this one', () => {
  const { table } = twice()
  table.user(2, { type: 'eject', request: 'e' })
  table.deliver(({ to }) => to !== 2)
  // Node 1's answer is altered to say that nobody was inside there.
  const late = table.take(({ from, to }) => from === 1 && to === 2)
  table.take(() => true)
  table.crash(2)
  table.start(2)
  table.user(2, { type: 'eject', request: 'f' })
  for (const sent of late) {
    const body = { ...sent.message.body, fences: [] } as typeof sent.message.body
    table.hand({ ...sent, message: { ...sent.message, body } })
  }
  expect(late).toHaveLength(1)
  table.deliver()
  expect(isInside(table, 1)).toEqual([])
})
