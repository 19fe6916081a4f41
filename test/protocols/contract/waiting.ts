/** The contract for users that wait. */
import { expect } from 'vitest'
import { protocolNamed } from '../../../shared/protocols/all.ts'
import { enter, exit, holder, wish, withdraw } from '../scenes.ts'
import type { ContractTest, Table } from './contract.ts'

const waitingAt = (table: Table, participant: number): string[] =>
  table.view(participant).waiters.map(({ user }) => user)

const NAMES = Array.from({ length: 12 }, (_, index) => `user-${index + 1}`)

export const waitingTests: readonly ContractTest[] = [
  {
    title: 'a user is let in when nobody else is inside, wherever it asks, and fences grow',
    run(create) {
      const table = create(3)
      const ann = enter(table, 1, 'ann')
      wish(table, 2, 'bob')
      table.run(10_000)
      expect(table.inside()).toEqual(['ann'])
      exit(table, ann)
      const bob = table.runUntilIn(2, 'bob')
      expect(bob.fence).toBeGreaterThan(ann.fence)
      exit(table, bob)
      wish(table, 3, 'cid')
      expect(table.runUntilIn(3, 'cid').fence).toBeGreaterThan(bob.fence)
      expect(table.inside()).toEqual(['cid'])
    },
  },
  {
    title: 'users of one participant enter in the order in which they came',
    run(create) {
      const table = create(3)
      let inside = enter(table, 2, 'first')
      for (const user of NAMES) wish(table, 2, user)
      for (const user of NAMES) {
        exit(table, inside)
        inside = table.runUntilIn(2, user)
        expect(table.inside()).toEqual([user])
      }
    },
  },
  {
    title: 'the queue keeps its order over a restart, in whatever order storage gives its records back',
    run(create) {
      const table = create(3)
      enter(table, 2, 'first')
      for (const user of NAMES) wish(table, 2, user)
      // As text, waiter/10 comes before waiter/2.
      const records = [...table.storage(2)].sort(([a], [b]) => (a < b ? -1 : 1))
      table.storage(2).clear()
      for (const [key, value] of records) table.storage(2).set(key, value)
      table.restart(2)
      expect(waitingAt(table, 2)).toEqual(NAMES)
    },
  },
  {
    title: 'a user that asks again while it waits has one place, and may wait longer',
    run(create) {
      const table = create(3)
      enter(table, 1, 'ann')
      wish(table, 1, 'bob', { waitMs: 1_000 })
      wish(table, 1, 'cid')
      table.now += 900
      wish(table, 1, 'bob', { waitMs: 1_000 })
      expect(waitingAt(table, 1)).toEqual(['bob', 'cid'])
      table.run(999)
      expect(waitingAt(table, 1)).toEqual(['bob', 'cid'])
      table.run(1)
      expect(waitingAt(table, 1)).toEqual(['cid'])
    },
  },
  {
    title: 'a user that withdraws leaves the queue, and takes no other with it',
    run(create) {
      const table = create(3)
      const ann = enter(table, 1, 'ann')
      for (const user of ['bob', 'cid', 'dan']) wish(table, 1, user)
      expect(withdraw(table, 1, 'cid')).toEqual([{ type: 'withdrawn', user: 'cid', reason: 'asked' }])
      expect(waitingAt(table, 1)).toEqual(['bob', 'dan'])
      const refusal = { code: 'not-waiting' }
      const refused = { type: 'refused', event: 'withdraw', refusal }
      expect(withdraw(table, 1, 'cid')).toEqual([{ ...refused, user: 'cid' }])
      expect(withdraw(table, 1, 'ann')).toEqual([{ ...refused, user: 'ann' }])
      exit(table, ann)
      exit(table, table.runUntilIn(1, 'bob'))
      table.runUntilIn(1, 'dan')
    },
  },
  {
    title: 'a user that gives up is let in nowhere, and keeps nobody out',
    run(create) {
      const table = create(3)
      const ann = enter(table, 1, 'ann')
      wish(table, 2, 'bob')
      table.deliver()
      withdraw(table, 2, 'bob')
      wish(table, 3, 'cid')
      exit(table, ann)
      table.runUntilIn(3, 'cid')
      expect(table.emitted.filter(({ event }) => event.type === 'crit' && event.user === 'bob')).toEqual([])
    },
  },
  {
    title: 'a time to wait ends, for each user at its own time, also after a restart',
    run(create) {
      const table = create(3)
      enter(table, 1, 'ann')
      wish(table, 1, 'bob', { waitMs: 500 })
      wish(table, 1, 'cid', { waitMs: 300 })
      table.run(200)
      table.restart(1)
      table.run(99)
      expect(waitingAt(table, 1)).toEqual(['bob', 'cid'])
      table.run(1)
      expect(waitingAt(table, 1)).toEqual(['bob'])
      table.run(200)
      expect(waitingAt(table, 1)).toEqual([])
      expect(table.hasTimer(1, 'wait')).toBe(false)
    },
  },
  {
    title: 'the queue has a limit',
    run(create) {
      const table = create(3, { waiters: 2 })
      enter(table, 1, 'ann')
      for (const user of ['bob', 'cid']) wish(table, 1, user)
      const refused = { type: 'refused', event: 'try', refusal: { code: 'too-many-waiters' } }
      expect(wish(table, 1, 'dan')).toEqual([{ ...refused, user: 'dan' }])
      expect(waitingAt(table, 1)).toEqual(['bob', 'cid'])
    },
  },
  {
    title: 'regression: a user that is let in at once is never written down as waiting',
    run(create) {
      const table = create(1)
      const before = table.saves.length
      wish(table, 1, 'ann')
      expect(table.inside()).toEqual(['ann'])
      const written = table.saves.slice(before).flat()
      expect(written.filter(({ key }) => key.startsWith('waiter/'))).toEqual([])
    },
  },
  {
    title: 'nobody is let in twice with the same fence, though everything is said twice',
    run(create) {
      const table = create(3)
      for (const [participant, user] of [1, 2, 3].map(at => [at, `user-${at}`] as const)) {
        wish(table, participant, user)
        for (let rounds = 0; rounds < 40 && table.network.length > 0; rounds++) {
          for (const sent of table.take(() => true)) {
            table.hand(sent)
            table.hand(sent)
          }
        }
        expect(table.inside()).toEqual([user])
        exit(table, holder(table, participant, user))
      }
      const fences = table.emitted.flatMap(({ event }) => (event.type === 'crit' ? [event.fence] : []))
      expect(new Set(fences).size).toBe(3)
    },
  },
  {
    title: 'the state before anything was written is that of a participant that never started',
    run(create) {
      const table = create(3)
      const blank = protocolNamed(table.protocol.name)
      const view = blank.view(table.context(1), blank.recover(table.context(1), []))
      expect(view).toMatchObject({ membership: 'blank', waiters: [], holders: [], endings: [] })
    },
  },
]
