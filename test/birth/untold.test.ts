/** The end of a lock is told to everybody who had a part in it, however late (G12). */
import { expect, it } from 'vitest'
import { END_OPERATION } from '../../shared/birth/lock-core.ts'
import { configurationOf } from './scenario.ts'
import { among, Table } from './table.ts'

const wme = (participants: number) => configurationOf('wme-2', participants, 30_000, false)

function deleteAt(table: Table, id: number, there: number[], generation: number) {
  table.acquire(id, `operator-${generation}`)
  table.deliver(among(...there))
  const fence = table.fenceOf(id, `operator-${generation}`)
  expect(fence).toBeGreaterThan(0)
  table.user(id, {
    type: 'issue',
    user: `operator-${generation}`,
    fence,
    opId: 'last',
    operation: END_OPERATION,
  })
  table.deliver(among(...there))
  expect(table.birth(id)).toMatchObject({ generation })
}

it('one that was away when a lock was deleted is told, also if the next one is deleted before', () => {
  const table = Table.founded({ registrars: 3, processes: 5, first: 1, defaults: () => wme(3) })
  table.configure(1, 'put', wme(5))
  table.deliver()
  table.enter(1, 'a')
  table.deliver()
  table.exit(1, 'a')
  table.deliver()
  expect(table.birth(5)).toMatchObject({ generation: 1, core: expect.anything() })
  table.stop(5)
  deleteAt(table, 1, [1, 2, 3, 4], 2)
  expect(table.birth(1).untold).toEqual([5])
  table.take()
  // The next lock of this name has the participants of the defaults.
  table.enter(1, 'b')
  table.deliver(among(1, 2, 3))
  table.exit(1, 'b')
  table.deliver(among(1, 2, 3))
  deleteAt(table, 1, [1, 2, 3], 3)
  table.take()
  table.start(5)
  table.settle(6)
  expect(table.birth(5).generation).toBe(3)
})
