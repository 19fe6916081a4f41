/** The contract for changes of the members. Protocols whose members stay say so, and which can. */
import { expect } from 'vitest'
import { PROTOCOLS } from '../../../shared/protocols/all.ts'
import type { Members } from '../../../shared/protocols/protocol.ts'
import { enter, eventsOf, exit, wish } from '../scenes.ts'
import type { ContractTest, Table } from './contract.ts'

const CHANGE_MS = 20_000

const setOf = (...numbers: number[]): Members => Object.fromEntries(numbers.map(number => [number, '']))

const configurationAt = (table: Table, at: number): number => table.view(at).members!.configuration

/** An operator asks `at` for these members. The request has the name of the change. */
function change(table: Table, at: number, id: string, members: Members, base = 0, request = id) {
  return table.user(at, { type: 'change-members', request, id, base, members })
}

const doneAt = (table: Table, at: number): string[] =>
  eventsOf(table, at, 'members-changed').map(({ request }) => request)

const refusalsAt = (table: Table, at: number) =>
  eventsOf(table, at, 'refused')
    .filter(({ event }) => event === 'change-members')
    .map(({ refusal }) => refusal)

/** Machines that are no members yet. */
function withMachines(table: Table, count: number): Table {
  for (let added = 0; added < count; added++) table.add()
  return table
}

function use(table: Table, at: number, user: string): number {
  wish(table, at, user)
  const by = table.runUntilIn(at, user)
  exit(table, by)
  table.run(1_000)
  return by.fence
}

const CASES: readonly (readonly [what: string, members: readonly number[], at: number])[] = [
  ['one is added', [1, 2, 3, 4], 1],
  ['one is removed', [1, 3], 1],
  ['one is replaced', [1, 2, 4], 2],
  ['all but one are replaced', [3, 4, 5], 3],
]

const changingTests: readonly ContractTest[] = [
  ...CASES.map(
    ([what, members, at]): ContractTest => ({
      title: `${what}: the new members go on with higher fences, and the others are removed`,
      run(create) {
        const table = withMachines(create(3), 2)
        const fences = [use(table, 2, 'ann')]
        change(table, at, 'A', setOf(...members))
        table.run(CHANGE_MS)
        expect(doneAt(table, at)).toEqual(['A'])
        for (const member of members) {
          expect(table.view(member).membership).toBe('member')
          expect(table.view(member).members).toMatchObject({ members: setOf(...members), isHandedOver: true })
          expect(configurationAt(table, member)).toBe(configurationAt(table, at))
        }
        for (const old of [1, 2, 3])
          if (!members.includes(old)) expect(table.view(old).membership).toBe('removed')
        for (const member of members) fences.push(use(table, member, `user-${member}`))
        expect(fences).toEqual([...fences].sort((one, other) => one - other))
        expect(new Set(fences).size).toBe(fences.length)
      },
    }),
  ),
  {
    title: 'all members are replaced at once, and those that come know everything that counts',
    run(create) {
      const table = withMachines(create(3), 3)
      const before = use(table, 1, 'ann')
      change(table, 2, 'A', setOf(4, 5, 6))
      table.run(CHANGE_MS)
      for (const old of [1, 2, 3]) {
        expect(table.view(old).membership).toBe('removed')
        table.crash(old)
      }
      for (const member of [4, 5, 6])
        expect(table.view(member).members).toMatchObject({ members: setOf(4, 5, 6), isHandedOver: true })
      expect(use(table, 5, 'bob')).toBeGreaterThan(before)
      // Asked once more where the members are now, it is done.
      change(table, 4, 'A', setOf(4, 5, 6))
      expect(doneAt(table, 4)).toEqual(['A'])
    },
  },
  {
    title: 'a change said again, by its name or by what it asks for, is done already',
    run(create) {
      const table = withMachines(create(3), 1)
      change(table, 1, 'A', setOf(1, 2, 4))
      change(table, 1, 'A', setOf(1, 2, 4))
      table.run(CHANGE_MS)
      expect(doneAt(table, 1)).toEqual(['A'])
      const configuration = configurationAt(table, 1)
      change(table, 2, 'A', setOf(1, 2, 4), 0, 'by name')
      change(table, 2, 'B', setOf(1, 2, 4), 0, 'by content')
      expect(doneAt(table, 2)).toEqual(['by name', 'by content'])
      table.run(CHANGE_MS)
      expect(configurationAt(table, 1)).toBe(configuration)
    },
  },
  {
    title: 'of two changes at once one is made, and the other hears who the members are',
    run(create) {
      const table = withMachines(create(3), 2)
      change(table, 2, 'A', setOf(1, 2, 4))
      change(table, 3, 'B', setOf(1, 3, 5))
      table.run(CHANGE_MS)
      const done = [2, 3].flatMap(at => doneAt(table, at))
      const lost = [2, 3].flatMap(at => refusalsAt(table, at))
      const { members, configuration } = table.view(1).members!
      expect([setOf(1, 2, 4), setOf(1, 3, 5)]).toContainEqual(members)
      // Whoever was asked and had to go is told where to ask.
      const codes = expect.stringMatching(/^(other-members|elsewhere)$/)
      expect(done.length).toBeLessThanOrEqual(1)
      expect(done.length + lost.length).toBe(2)
      for (const refusal of lost) expect(refusal).toMatchObject({ code: codes, members, configuration })
    },
  },
  {
    title: 'a change that was made for an earlier set changes nothing, however late it comes',
    run(create) {
      const table = withMachines(create(3), 2)
      change(table, 1, 'A', setOf(1, 2, 4))
      table.run(CHANGE_MS)
      change(table, 1, 'B', setOf(1, 2, 5), configurationAt(table, 1))
      table.run(CHANGE_MS)
      expect(doneAt(table, 1)).toEqual(['A', 'B'])
      change(table, 2, 'C', setOf(1, 2), 0)
      table.run(CHANGE_MS)
      const { members, configuration } = table.view(2).members!
      expect(members).toEqual(setOf(1, 2, 5))
      expect(refusalsAt(table, 2)).toEqual([{ code: 'other-members', members, configuration }])
    },
  },
  {
    title: 'a participant that is no member sends its users on, and so does its storage',
    run(create) {
      const table = withMachines(create(3), 1)
      wish(table, 4, 'early')
      expect(eventsOf(table, 4, 'refused')).toMatchObject([{ refusal: { code: 'not-a-member' } }])
      change(table, 1, 'A', setOf(1, 2, 4))
      table.run(CHANGE_MS)
      for (let life = 0; life < 2; life++) {
        const refused = [
          ...wish(table, 3, 'ann'),
          ...table.user(3, { type: 'eject', request: 'o' }),
          ...change(table, 3, 'B', setOf(1, 2), configurationAt(table, 1)),
        ]
        const refusal = { code: 'elsewhere', members: setOf(1, 2, 4) }
        expect(refused).toMatchObject([{ refusal }, { refusal }, { refusal }])
        expect(table.inside()).toEqual([])
        table.restart(3)
      }
      expect(table.view(3).membership).toBe('removed')
    },
  },
  {
    title:
      'a newcomer that is not there is not made a member, the operator hears of it, and the lock goes on',
    run(create) {
      const table = withMachines(create(3), 1)
      table.run(1_000)
      table.crash(4)
      change(table, 1, 'A', setOf(1, 2, 4))
      table.run(600_000)
      expect(refusalsAt(table, 1)).toEqual([{ code: 'not-reached', participants: [4] }])
      expect(table.view(2).members).toMatchObject({ configuration: 0, members: setOf(1, 2, 3) })
      use(table, 3, 'ann')
    },
  },
  {
    title: 'a set that is none is refused, and so is a number that was used',
    run(create) {
      const table = withMachines(create(3), 1)
      const none: Members[] = [
        {},
        { 1: '', x: '' },
        { 1: '', 2: 'over there' },
        setOf(1, 4_096),
        { '01': '' },
      ]
      for (const [index, members] of none.entries()) change(table, 1, `${index}`, members)
      expect(refusalsAt(table, 1)).toEqual(none.map(() => ({ code: 'no-such-members' })))
      change(table, 1, 'A', setOf(1, 2))
      table.run(CHANGE_MS)
      change(table, 1, 'B', setOf(1, 2, 3), configurationAt(table, 1))
      expect(refusalsAt(table, 1).at(-1)).toEqual({ code: 'no-such-members' })
    },
  },
  {
    title: 'a holder that stays keeps its grant, one that has to go may finish, and waiting users wait on',
    run(create) {
      for (const at of [1, 3]) {
        const table = withMachines(create(3), 1)
        const ann = enter(table, at, 'ann')
        wish(table, 2, 'bob')
        change(table, 2, 'A', setOf(1, 2, 4))
        table.run(3_000)
        expect(table.inside()).toEqual(['ann'])
        exit(table, ann)
        table.runUntilIn(2, 'bob')
        expect(eventsOf(table, at, 'rem')).toHaveLength(1)
        expect(eventsOf(table, at, 'ejected')).toEqual([])
        exit(table, { ...ann, ...table.runUntilIn(2, 'bob') })
        table.run(CHANGE_MS)
        expect(doneAt(table, 2)).toEqual(['A'])
      }
    },
  },
  {
    title: 'a lock whose members have changed falls silent',
    run(create) {
      const table = withMachines(create(3), 3)
      change(table, 1, 'A', setOf(1, 4, 5))
      table.run(600_000)
      expect(doneAt(table, 1)).toEqual(['A'])
      expect(table.everybody.flatMap(participant => table.timers(participant))).toEqual([])
    },
  },
]

const stayingTests: readonly ContractTest[] = [
  {
    title: 'other members are refused where they stay, and the refusal says which protocols can',
    run(create) {
      const table = create(3)
      const can = Object.values(PROTOCOLS).filter(({ changesMembers }) => changesMembers({}))
      const refusal = { code: 'not-supported', protocols: can.map(({ name }) => name) }
      const refused = { type: 'refused', user: 'A', event: 'change-members', refusal }
      expect(change(table, 1, 'A', setOf(1, 2))).toEqual([refused])
      expect(table.view(1).members).toBeUndefined()
    },
  },
]

export const memberTests: readonly ContractTest[] = [...changingTests, ...stayingTests]

const skipAll = (tests: readonly ContractTest[], reason: string): { [title: string]: string } =>
  Object.fromEntries(tests.map(({ title }) => [title, reason]))

/** For protocols whose members stay, and for those whose members change. */
export const skipChanging = (reason: string) => skipAll(changingTests, reason)
export const skipStaying = () => skipAll(stayingTests, 'its members can be changed')
