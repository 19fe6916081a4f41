/** The contract for users that are inside, and for how a grant ends. */
import { expect } from 'vitest'
import { ejectHolder, enter, eventsOf, exit, keepAlive, wish } from '../scenes.ts'
import type { ContractTest } from './contract.ts'

export const insideTests: readonly ContractTest[] = [
  {
    title: 'a user that is inside and asks again gets the same grant',
    run(create) {
      const table = create(3)
      const ann = enter(table, 2, 'ann')
      expect(wish(table, 2, 'ann')).toMatchObject([{ type: 'crit', user: 'ann', fence: ann.fence }])
      expect(table.view(2).waiters).toEqual([])
    },
  },
  {
    title: 'the view says who is inside and who waits',
    run(create) {
      const table = create(3)
      const { fence } = enter(table, 1, 'ann', { ttlMs: 5_000 })
      wish(table, 1, 'bob', { waitMs: 700 })
      const { holders, waiters, membership } = table.view(1)
      expect(membership).toBe('member')
      expect(holders).toMatchObject([{ user: 'ann', fence, ttlMs: 5_000, isIssuing: false }])
      expect(waiters).toMatchObject([{ user: 'bob', waitUntil: table.now + 700 }])
      expect(table.view(3).holders).toEqual([])
    },
  },
  {
    title: 'a release said again is a release, also after another user is in and after a restart',
    run(create) {
      const table = create(3)
      const ann = enter(table, 1, 'ann')
      exit(table, ann)
      table.run(1_000)
      const rem = [{ type: 'rem', user: 'ann', fence: ann.fence }]
      expect(exit(table, ann)).toEqual(rem)
      enter(table, 1, 'bob')
      expect(exit(table, ann)).toEqual(rem)
      table.restart(1)
      expect(exit(table, ann)).toEqual(rem)
      expect(table.inside()).toEqual(['bob'])
    },
  },
  {
    title: 'an event with the fence or the name of another grant is refused, and ends nothing (A7)',
    run(create) {
      const table = create(3)
      const ann = enter(table, 1, 'ann')
      const over = { type: 'refused', refusal: { code: 'grant-over', ending: null } }
      for (const other of [
        { ...ann, fence: ann.fence + 1 },
        { ...ann, user: 'bob' },
      ]) {
        expect(exit(table, other)).toMatchObject([over])
        expect(keepAlive(table, other, 60_000)).toMatchObject([over])
      }
      table.run(1_000)
      expect(table.inside()).toEqual(['ann'])
    },
  },
  {
    title: 'only the last endings are remembered',
    run(create) {
      const table = create(3, { endingsKept: 2 })
      const grants = ['ann', 'bob', 'cid'].map(user => {
        const grant = enter(table, 1, user)
        exit(table, grant)
        table.run(1_000)
        return grant
      })
      const refusal = { code: 'grant-over', ending: null }
      expect(exit(table, grants[0]!)).toMatchObject([{ type: 'refused', refusal }])
      for (const grant of grants.slice(1)) expect(exit(table, grant)).toMatchObject([{ type: 'rem' }])
      expect(table.view(1).endings).toMatchObject([{ user: 'bob' }, { user: 'cid' }])
    },
  },
  {
    title: 'a user whose time is over is out, knows it, and the next one is in',
    run(create) {
      const table = create(3)
      const { fence } = enter(table, 1, 'ann', { ttlMs: 1_000 })
      wish(table, 2, 'bob')
      table.run(999)
      expect(table.inside()).toEqual(['ann'])
      table.runUntilIn(2, 'bob')
      const reason = 'expired'
      expect(eventsOf(table, 1, 'ejected')).toEqual([{ type: 'ejected', user: 'ann', fence, reason }])
      expect(
        keepAlive(table, { participant: 1, user: 'ann', fence, epoch: 0, sequence: 0 }, 1),
      ).toMatchObject([
        { type: 'refused', refusal: { code: 'grant-over', ending: { user: 'ann', fence, reason } } },
      ])
    },
  },
  {
    title: 'a keep-alive moves the end of a grant, also over a restart',
    run(create) {
      const table = create(3)
      const ann = enter(table, 1, 'ann', { ttlMs: 1_000 })
      table.now += 900
      const expiresAt = table.now + 10_000
      expect(keepAlive(table, ann, 10_000)).toEqual([
        { type: 'kept', user: 'ann', fence: ann.fence, expiresAt },
      ])
      table.restart(1)
      expect(table.timerAt(1, 'ttl')).toBe(expiresAt)
      expect(table.fire(1, 'ttl')).toMatchObject([{ type: 'ejected', user: 'ann', reason: 'expired' }])
    },
  },
  {
    title: 'a clock that was set back before a restart does not make a grant longer',
    run(create) {
      const table = create(3)
      table.now = 7_200_000
      enter(table, 1, 'ann', { ttlMs: 1_000 })
      table.crash(1)
      table.now -= 3_600_000
      table.start(1)
      table.run(999)
      expect(table.inside()).toEqual(['ann'])
      table.run(1)
      expect(table.inside()).toEqual([])
    },
  },
  {
    title: 'an operator forces the holder out, wherever it is, and hears when that is done',
    run(create) {
      for (const operator of [1, 2]) {
        const table = create(3)
        const { fence } = enter(table, 1, 'ann')
        wish(table, 3, 'bob')
        ejectHolder(table, operator, 'request')
        table.runUntilIn(3, 'bob')
        expect(eventsOf(table, 1, 'ejected')).toMatchObject([{ user: 'ann', fence, reason: 'operator' }])
        expect(eventsOf(table, operator, 'eject-done')).toMatchObject([{ request: 'request' }])
      }
    },
  },
  {
    title: 'an operator is heard also where nobody is inside',
    run(create) {
      const table = create(3)
      ejectHolder(table, 2, 'request')
      table.run(10_000)
      expect(eventsOf(table, 2, 'eject-done')).toMatchObject([{ request: 'request' }])
      wish(table, 2, 'ann')
      table.runUntilIn(2, 'ann')
    },
  },
  {
    title: 'operators have a limit, too',
    run(create) {
      const table = create(3, { waiters: 1 })
      enter(table, 1, 'ann')
      ejectHolder(table, 2, 'first')
      expect(ejectHolder(table, 2, 'second')).toEqual([
        { type: 'refused', user: 'second', event: 'eject', refusal: { code: 'too-many-waiters' } },
      ])
    },
  },
]
