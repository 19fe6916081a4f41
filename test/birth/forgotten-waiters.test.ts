/** Users that wait at a participant which learns that it is of an earlier life of its process. */
import { expect, it } from 'vitest'
import { Table } from './table.ts'

it('regression: they are told that they wait no longer', () => {
  const table = Table.founded({ first: 1, hasLedger: true })
  table.acquire(1, 'a')
  table.try(1, 'b')
  table.letters = []
  expect(table.birth(1)).toMatchObject({ chosen: null, accepted: { ballot: 0 } })
  expect(table.view(1)).toMatchObject({ holders: [{ user: 'a' }], waiters: [{ user: 'b' }] })
  table.step(1, { type: 'finish', now: table.now, incarnation: 2 })
  expect(table.events(1, 'ejected')).toMatchObject([{ user: 'a' }])
  expect(table.events(1, 'refused')).toMatchObject([{ user: 'b', event: 'try' }])
})
