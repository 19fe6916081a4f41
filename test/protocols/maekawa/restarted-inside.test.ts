/**
 * A node that restarts inside knows that it is inside, but no longer who is locked for it. These tests ask it
 * then.
 */
import { expect, it } from 'vitest'
import { Table } from './table.ts'
import { follow, insideAt, say } from './transcript.ts'

const locked = (round: number) => ({ type: 'locked', sequence: 1, round, fence: 0 }) as const

it('gives nothing back, though it gave a lock back before it was inside', () => {
  const table = new Table({ participants: 13, localHandoffs: 0 })
  // S_7 = {2, 7, 10, 13}
  table.try(7)
  table.network = []
  const sent = follow(table)
  say(table, 2, 7, locked(1))
  say(table, 10, 7, { type: 'failed', sequence: 1 })
  say(table, 2, 7, { type: 'inquire', sequence: 1, round: 1 })
  expect(sent()).toEqual(['7 → 2 relinquish'])
  for (const member of [2, 10, 13]) say(table, member, 7, locked(3))
  expect(insideAt(table)).toEqual([7])
  table.crash(7)
  table.start(7)
  say(table, 13, 7, { type: 'inquire', sequence: 1, round: 3 })
  say(table, 2, 7, { type: 'inquire', sequence: 1, round: 3 })
  expect(sent()).toEqual([])
  expect(insideAt(table)).toEqual([7])
  table.exit(7)
  expect(sent()).toEqual(['7 → 2 release', '7 → 10 release', '7 → 13 release'])
})
