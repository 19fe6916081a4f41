/** A Worker that comes back without the resource of a lock that it has. */
import { expect, it } from 'vitest'
import type { LockContext } from '../../shared/birth/lock-types.ts'
import { configurationOf } from './scenario.ts'
import { Table } from './table.ts'

/** Participant 1 has begun the lock, and the others know of it or not. */
function withoutResource(isChosen: boolean): Table {
  const table = Table.founded({ first: 1 })
  table.enter(1, 'a')
  if (isChosen) table.deliver()
  table.letters = []
  expect(table.birth(1).chosen !== null).toBe(isChosen)
  const seat = table.seats[1] as unknown as { context: LockContext }
  seat.context = { ...seat.context, resourceNamed: () => undefined }
  table.crash(1)
  return table
}

it('regression: whoever uses the lock is told so', () => {
  for (const isChosen of [false, true]) {
    const table = withoutResource(isChosen)
    table.use(1)
    expect(table.events(1, 'unavailable')).toMatchObject([{ reason: 'no-resource' }])
    // Nothing is lost: the next version may have it.
    expect(table.birth(1).core).not.toBeNull()
  }
})

it('whoever configures it hears what is chosen', () => {
  const table = withoutResource(false)
  table.configure(1, 'put', configurationOf('wme-2', 3, 5_000, false))
  table.use(1)
  expect(table.events(1, 'unavailable')).toEqual([])
  table.deliver()
  expect(table.events(1, 'configured')).toMatchObject([{ request: 'put' }])
  // The core that waited for the choice has begun anew, and so does whoever waits for it.
  table.use(1)
  expect(table.events(1, 'unavailable')).toHaveLength(1)
})
