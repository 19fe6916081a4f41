/** The contract for what only some protocols can do: readers, guarded state. The others say so. */
import { expect } from 'vitest'
import { appliedAt, enter, eventsOf, exit, INCREMENT, issue, valueAt, wish } from '../scenes.ts'
import type { ContractTest, Table } from './contract.ts'

const NOT_SUPPORTED = { code: 'not-supported' }

function entered(table: Table, participant: number) {
  return enter(table, participant, 'ann')
}

const sharingTests: readonly ContractTest[] = [
  {
    title: 'readers are inside together, and writers are not',
    run(create) {
      const table = create(3)
      for (const participant of [1, 2]) wish(table, participant, `reader-${participant}`, { mode: 'shared' })
      table.run(5_000)
      expect(table.inside()).toEqual(['reader-1', 'reader-2'])
      wish(table, 3, 'writer')
      table.run(5_000)
      expect(table.inside()).toEqual(['reader-1', 'reader-2'])
    },
  },
  {
    title: 'a reader is refused where every user is a writer',
    run(create) {
      const table = create(3)
      const refused = { type: 'refused', event: 'try', refusal: NOT_SUPPORTED }
      expect(wish(table, 1, 'bob', { mode: 'shared' })).toEqual([{ ...refused, user: 'bob' }])
      // Also if it is inside as a writer, or waits as one.
      entered(table, 1)
      expect(wish(table, 1, 'ann', { mode: 'shared' })).toEqual([{ ...refused, user: 'ann' }])
    },
  },
]

const guardedTests: readonly ContractTest[] = [
  {
    title: 'an operation is applied at all participants, once, and answered once',
    run(create) {
      const table = create(3)
      const ann = entered(table, 2)
      issue(table, ann, 'op-1')
      issue(table, ann, 'op-1')
      table.run(10_000)
      for (const participant of table.everybody) {
        expect(appliedAt(table, participant)).toEqual(['op-1'])
        expect(valueAt(table, participant)).toBe(1)
      }
      expect(eventsOf(table, 2, 'outcome')).toHaveLength(1)
    },
  },
  {
    title: 'an operation said again, under any grant, has the outcome of the first time',
    run(create) {
      const table = create(3)
      const ann = entered(table, 2)
      issue(table, ann, 'op-1')
      table.run(5_000)
      const [outcome] = eventsOf(table, 2, 'outcome')
      expect(issue(table, ann, 'op-1')).toEqual([outcome])
      exit(table, ann)
      table.run(5_000)
      wish(table, 3, 'bob')
      const bob = table.runUntilIn(3, 'bob')
      issue(table, bob, 'op-1')
      table.run(5_000)
      expect(eventsOf(table, 3, 'outcome')).toEqual([{ ...outcome!, user: 'bob', fence: bob.fence }])
      expect(valueAt(table, 1)).toBe(1)
    },
  },
  {
    title: 'an operation that cannot be run is refused by its name: busy, conflict, too large, over',
    run(create) {
      const table = create(3, { operationWeight: 100 })
      const ann = entered(table, 2)
      const refused = (code: string, opId: string) => [
        { type: 'refused', user: 'ann', event: 'issue', opId, refusal: { code } },
      ]
      const heavy = [{ put: 'n', value: 'x'.repeat(200) }]
      expect(issue(table, ann, 'heavy', heavy)).toEqual(refused('too-large', 'heavy'))
      issue(table, ann, 'op-1')
      expect(issue(table, ann, 'op-2')).toEqual(refused('busy', 'op-2'))
      expect(issue(table, ann, 'op-1', [{ increment: 'm' }])).toEqual(refused('conflict', 'op-1'))
      table.run(5_000)
      expect(issue(table, ann, 'op-1', [{ increment: 'm' }])).toEqual(refused('conflict', 'op-1'))
      exit(table, ann)
      table.run(5_000)
      expect(issue(table, ann, 'op-3')).toMatchObject(refused('grant-over', 'op-3'))
      expect(valueAt(table, 2)).toBe(1)
    },
  },
  {
    title: 'an operation whose participant is not a member is refused by its name',
    run(create) {
      const table = create(3)
      table.wipe(3)
      table.start(3)
      const event = { type: 'issue', user: 'ann', fence: 1, opId: 'op-1', operation: INCREMENT } as const
      const refusal = { code: 'not-a-member' }
      expect(table.user(3, event)).toEqual([
        { type: 'refused', user: 'ann', event: 'issue', opId: 'op-1', refusal },
      ])
    },
  },
  {
    title: 'a user whose time is over while its operation is pending gets the outcome first (A4)',
    run(create) {
      const table = create(3)
      const ann = enter(table, 2, 'ann', { ttlMs: 1_000 })
      issue(table, ann, 'op-1')
      table.now += 1_000
      expect(table.fire(2, 'ttl')).toEqual([])
      table.run(5_000)
      const told = table.emitted.filter(({ event }) => 'user' in event && event.user === 'ann')
      expect(told.map(({ event }) => event.type).slice(-2)).toEqual(['outcome', 'ejected'])
      expect(valueAt(table, 1)).toBe(1)
    },
  },
  {
    title: 'state and results are what was written, over a restart of all',
    run(create) {
      const table = create(3)
      const ann = entered(table, 2)
      issue(table, ann, 'op-1')
      table.run(5_000)
      const [outcome] = eventsOf(table, 2, 'outcome')
      for (const participant of table.everybody) table.restart(participant)
      for (const participant of table.everybody) expect(valueAt(table, participant)).toBe(1)
      expect(issue(table, ann, 'op-1')).toEqual([outcome])
    },
  },
  {
    title: 'a read anywhere sees what was answered before it was asked for',
    run(create) {
      const table = create(3)
      const ann = entered(table, 2)
      issue(table, ann, 'op-1')
      table.deliver()
      const [outcome] = eventsOf(table, 2, 'outcome')
      for (const participant of table.everybody) {
        table.user(participant, { type: 'read', request: 'read' })
        table.run(5_000)
        expect(eventsOf(table, participant, 'readable')).toHaveLength(1)
        expect(eventsOf(table, participant, 'readable')[0]!.sequence).toBeGreaterThanOrEqual(
          outcome!.sequence,
        )
        expect(valueAt(table, participant)).toBe(1)
      }
    },
  },
]

const lockOnlyTests: readonly ContractTest[] = [
  {
    title: 'operations and reads are refused where nothing is guarded',
    run(create) {
      const table = create(3)
      const ann = entered(table, 1)
      const refused = { type: 'refused', refusal: NOT_SUPPORTED }
      expect(issue(table, ann, 'op-1')).toEqual([{ ...refused, user: 'ann', event: 'issue', opId: 'op-1' }])
      expect(table.user(1, { type: 'read', request: 'r' })).toEqual([
        { ...refused, user: 'r', event: 'read' },
      ])
      expect(table.user(1, { type: 'cancel-read', request: 'r' })).toEqual([])
      expect(table.view(1).cells).toBeNull()
    },
  },
]

export const abilityTests: readonly ContractTest[] = [...sharingTests, ...guardedTests, ...lockOnlyTests]

/** The titles of the tests for protocols that guard state, to be skipped by the others, and the reverse. */
export const skipGuarded = (reason: string) => skipAll(guardedTests, reason)
export const skipLockOnly = (reason: string) => skipAll(lockOnlyTests, reason)

const skipAll = (tests: readonly ContractTest[], reason: string): { [title: string]: string } =>
  Object.fromEntries(tests.map(({ title }) => [title, reason]))
