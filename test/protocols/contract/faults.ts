/** The contract for storage, for channels that lose and double, and for participants that stop. */
import { expect } from 'vitest'
import type { UserInput } from '../../../shared/protocols/protocol.ts'
import { enter, exit, wish } from '../scenes.ts'
import type { ContractTest, Table } from './contract.ts'

/** A short life: two users at each of three participants. */
function live(table: Table): void {
  for (const participant of [2, 1, 3]) {
    for (const user of ['a', 'b']) {
      wish(table, participant, `${user}-${participant}`)
      exit(table, table.runUntilIn(participant, `${user}-${participant}`))
    }
  }
  table.run(60_000)
}

export const faultTests: readonly ContractTest[] = [
  {
    title: 'the same inputs have the same effects',
    run(create) {
      const [one, other] = [create(3), create(3)]
      for (const table of [one, other]) live(table)
      expect(one.sent).toEqual(other.sent)
      expect(one.emitted).toEqual(other.emitted)
      expect(one.saves).toEqual(other.saves)
      expect(one.sent.length).toBeGreaterThan(0)
    },
  },
  {
    title: 'a message of another configuration or format is ignored',
    run(create) {
      const table = create(3)
      // Participant 1 may have the token: its users need nobody.
      wish(table, 2, 'ann')
      const sent = table.take(() => true)
      const before = table.saves.length
      expect(sent.length).toBeGreaterThan(0)
      for (const one of sent) {
        for (const other of [{ configuration: 2 }, { format: 3 }])
          expect(table.hand({ ...one, message: { ...one.message, ...other } })).toEqual([])
      }
      expect(table.network).toEqual([])
      expect(table.saves).toHaveLength(before)
      for (const one of sent) table.hand(one)
      table.runUntilIn(2, 'ann')
    },
  },
  {
    title: 'regression: a timer that another protocol had set before the lock was born is ignored',
    run(create) {
      const table = create(3)
      const before = table.saves.length
      for (const timer of ['suspect', 'dead', 'silence', 'confirm', 'unheard-of', 'constructor'])
        expect(table.fireForeign(1, timer)).toEqual([])
      expect(table.network).toEqual([])
      expect(table.saves).toHaveLength(before)
    },
  },
  {
    title: 'a lock of one participant needs no message',
    run(create) {
      const table = create(1)
      const ann = enter(table, 1, 'ann')
      exit(table, ann)
      expect(enter(table, 1, 'bob').fence).toBeGreaterThan(ann.fence)
      expect(table.sent).toEqual([])
    },
  },
  {
    title: 'what is lost is said again until it has its effect (C1-C4)',
    run(create) {
      const table = create(3)
      const ann = enter(table, 1, 'ann')
      wish(table, 2, 'bob')
      table.take(() => true)
      exit(table, ann)
      table.take(() => true)
      table.runUntilIn(2, 'bob')
    },
  },
  {
    title: 'a lock that nobody uses falls silent: no timer is set, and nothing is in flight',
    run(create) {
      const table = create(3)
      live(table)
      table.run(600_000)
      const sent = table.sent.length
      expect(table.everybody.flatMap(participant => table.timers(participant))).toEqual([])
      table.run(600_000)
      expect(table.sent).toHaveLength(sent)
      expect(table.network).toEqual([])
    },
  },
  {
    title: 'a participant comes back with what it wrote: users that wait, and the one that is inside',
    run(create) {
      const table = create(3)
      const ann = enter(table, 2, 'ann')
      wish(table, 2, 'bob')
      wish(table, 3, 'cid')
      table.deliver()
      for (const participant of table.everybody) table.restart(participant)
      expect(table.inside()).toEqual(['ann'])
      expect(table.view(2).waiters.map(({ user }) => user)).toEqual(['bob'])
      const served: string[] = []
      exit(table, ann)
      for (let seconds = 0; seconds < 120 && served.length < 2; seconds++) {
        table.run(1_000)
        for (const participant of [2, 3]) {
          for (const { user, fence } of table.view(participant).holders) {
            if (user !== 'ann' && !served.includes(user)) served.push(user)
            table.user(participant, { type: 'exit', user, fence })
          }
        }
      }
      expect(served.sort()).toEqual(['bob', 'cid'])
      table.run(10_000)
      expect(table.everybody.flatMap(participant => [...table.view(participant).waiters])).toEqual([])
    },
  },
  {
    title: 'a crash between any two effects of a step loses no user and lets nobody in twice',
    run(create) {
      for (let effects = 0; effects < 8; effects++) {
        for (const crashed of [1, 2]) {
          const table = create(3)
          const ann = enter(table, 1, 'ann')
          wish(table, 2, 'bob')
          table.deliver()
          table.crashDuringNextStep(crashed, effects)
          exit(table, ann)
          if (table.isUp(crashed)) table.deliver()
          // A step with fewer effects is no crash; then it stops by itself.
          if (table.isUp(crashed)) table.crash(crashed)
          table.take(sent => !table.isUp(sent.to))
          table.start(crashed)
          // The users say again what they said, as users do that hear nothing.
          exit(table, ann)
          wish(table, 2, 'bob')
          const bob = table.runUntilIn(2, 'bob')
          expect(bob.fence).toBeGreaterThan(ann.fence)
          expect(table.inside()).toEqual(['bob'])
        }
      }
    },
  },
  {
    title: 'a participant whose storage is gone, or that was never born, refuses users and says why (D2)',
    run(create) {
      const table = create(3)
      table.wipe(3)
      table.start(3)
      const event: UserInput = { type: 'try', user: 'ann', ttlMs: 1_000 }
      const refused = { type: 'refused', user: 'ann', refusal: { code: 'not-a-member' } }
      expect(table.user(3, event)).toEqual([{ ...refused, event: 'try' }])
      expect(table.view(3).holders).toEqual([])
      expect(table.user(3, { type: 'eject', request: 'ann' })).toEqual([{ ...refused, event: 'eject' }])
    },
  },
]
