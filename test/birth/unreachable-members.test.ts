/** Who counts when a registrar proposes what a lock is, and others cannot be reached. */
import { expect, it } from 'vitest'
import { configurationOf } from './scenario.ts'
import { among, Table } from './table.ts'

const configuration = configurationOf('wme-2', 3, 5_000, false)

function proposing(): Table {
  const table = Table.founded({ first: 1 })
  table.configure(2, 'put', configuration)
  expect(table.birth(2).ballot).toBeGreaterThan(0)
  return table
}

const lose = (table: Table, ...peers: number[]) => {
  for (const peer of peers) table.step(2, { type: 'unreachable', now: table.now, peer })
}

it('regression: members that the lock before this one had are none of those that must answer', () => {
  const table = proposing()
  lose(table, 4, 5)
  expect(table.events(2, 'unavailable')).toEqual([])
  table.deliver(among(1, 2, 3))
  expect(table.events(2, 'configured')).toMatchObject([{ request: 'put', created: true }])
})

it('without the other registrars whoever waits is told so', () => {
  const table = proposing()
  lose(table, 1, 3)
  expect(table.events(2, 'unavailable')).toMatchObject([{ reason: 'no-majority' }])
})
