/** What an operator asks for, as a set of members (shared/api/members-change.ts). */
import { describe, expect, it } from 'vitest'
import type { ParticipantPlace } from '../../shared/api/configuration.ts'
import { placeAt, readAddress, writeAddress } from '../../shared/api/member-address.ts'
import {
  isByItself,
  type MembersChange,
  nameOfChange,
  wantedMembers,
} from '../../shared/api/members-change.ts'

const place = (id: number, location: string | null, url: string | null = null): ParticipantPlace => ({
  id,
  location,
  url,
})
const DEFAULTS = [place(1, 'weur'), place(2, 'enam'), place(3, 'apac')]
const PROCESSES = [1, 2, 3, 4, 5].map(id => place(id, id > 3 ? 'oc' : 'weur', `https://p${id}.example`))

const inOneService = (change: MembersChange, places: readonly ParticipantPlace[] = DEFAULTS, highest = 3) =>
  wantedMembers(change, { places, highest, processes: DEFAULTS })

const inProcesses = (change: MembersChange, places = PROCESSES.slice(0, 3), highest = 3) =>
  wantedMembers(change, { places, highest, processes: PROCESSES })

describe('the members that an operator wants', () => {
  it.each<[MembersChange, object]>([
    [{ add: { location: 'oc' } }, { 1: '', 2: '', 3: '', 4: 'oc@' }],
    [{ add: {} }, { 1: '', 2: '', 3: '', 4: '@' }],
    [{ remove: 2 }, { 1: '', 3: '' }],
    [
      { replace: 2, location: 'me' },
      { 1: '', 3: '', 4: 'me@' },
    ],
    [{ participants: [{ id: 3 }, { location: 'oc' }, {}] }, { 3: '', 4: 'oc@', 5: '@' }],
    [{ participants: [{ location: 'enam' }, { location: 'enam' }] }, { 2: '', 4: 'enam@' }],
  ])('%j', (change, members) => {
    expect(inOneService(change)).toEqual({ type: 'set', members })
  })

  it('have numbers that nobody had, neither a member nor a default participant', () => {
    const places = [place(1, 'weur'), placeAt(7, 'oc@', DEFAULTS)]
    expect(inOneService({ add: {} }, places, 9)).toEqual({
      type: 'set',
      members: { 1: '', 7: 'oc@', 10: '@' },
    })
    expect(inProcesses({ add: {} }, PROCESSES.slice(0, 2), 2)).toMatchObject({
      members: { 1: '', 2: '', 6: 'weur@3' },
    })
  })

  it.each<MembersChange>([
    { remove: 2 },
    { replace: 2, location: 'oc' },
    { participants: [{ id: 1 }, { location: 'apac' }] },
    { participants: [{ location: 'weur' }, { id: 3 }] },
  ])('%j: are those that there are, if it was done before', change => {
    expect(inOneService(change, [DEFAULTS[0]!, DEFAULTS[2]!])).toEqual({ type: 'nothing' })
  })

  it.each<[MembersChange, RegExp]>([
    [{ remove: 9 }, /no participant 9, and never had/],
    [{ replace: 4 }, /no participant 4/],
    [{ participants: [{ id: 5 }] }, /Participant 5 is not/],
    [{ participants: [{ id: 1 }, { id: 1 }] }, /named twice/],
    [{ participants: new Array(14).fill({}) }, /at most 13/],
  ])('%j: cannot be', (change, detail) => {
    expect(inOneService(change)).toMatchObject({ type: 'impossible', detail: expect.stringMatching(detail) })
  })

  it('are never nobody', () => {
    expect(inOneService({ remove: 1 }, [DEFAULTS[0]!])).toMatchObject({
      detail: expect.stringMatching(/least one/),
    })
  })

  it('end when all numbers are used up', () => {
    expect(inOneService({ add: {} }, DEFAULTS, 4_094)).toMatchObject({ type: 'set' })
    expect(inOneService({ add: {} }, DEFAULTS, 4_095)).toMatchObject({ type: 'impossible' })
  })
})

describe('where processes are apart', () => {
  it('a new participant is in one that has none, and in the one that was left only if it must', () => {
    expect(inProcesses({ replace: 2 })).toMatchObject({ members: { 1: '', 3: '', 6: 'oc@4' } })
    expect(inProcesses({ replace: 2, location: 'weur' })).toMatchObject({ members: { 6: 'weur@2' } })
    expect(inProcesses({ add: { location: 'oc' } })).toMatchObject({ members: { 6: 'oc@4' } })
    const moved = [PROCESSES[0]!, placeAt(6, 'oc@4', PROCESSES)]
    expect(inProcesses({ add: { location: 'oc' } }, moved, 6)).toMatchObject({ members: { 7: 'oc@5' } })
  })

  it('two new ones are in two of them', () => {
    expect(inProcesses({ participants: [{ id: 1 }, { location: 'oc' }, { location: 'oc' }] })).toMatchObject({
      members: { 1: '', 6: 'oc@4', 7: 'oc@5' },
    })
  })

  it('there is no place for more than there are', () => {
    const all = inProcesses({ add: {} }, PROCESSES, 5)
    expect(all).toMatchObject({ type: 'impossible', detail: expect.stringMatching(/5 processes/) })
    const there = inProcesses({ add: { location: 'me' } })
    expect(there).toMatchObject({ type: 'impossible', detail: expect.stringMatching(/at me/) })
  })
})

describe('an address', () => {
  it.each([
    { location: 'weur', processNumber: null },
    { location: null, processNumber: null },
    { location: null, processNumber: 4 },
    { location: 'apac-ne', processNumber: 12 },
  ])('%j is read as it was written', address => {
    expect(readAddress(writeAddress(address))).toEqual(address)
  })

  it.each(['', 'weur', '@0', '@x', 'WEUR@', 'weur@4@5', '@99999', '../x@'])('is not %j', text => {
    expect(readAddress(text)).toBeNull()
  })

  it('says which process answers, if processes are apart', () => {
    expect(placeAt(6, 'oc@4', PROCESSES)).toMatchObject({ id: 6, location: 'oc', url: 'https://p4.example' })
    expect(placeAt(6, 'oc@', DEFAULTS)).toMatchObject({ id: 6, location: 'oc', url: null })
  })
})

it('is named by what is asked for', () => {
  const one = nameOfChange({ add: { location: 'oc' } })
  expect(nameOfChange({ add: { location: 'oc' } })).toBe(one)
  expect(nameOfChange({ add: { location: 'me' } })).not.toBe(one)
  expect(nameOfChange({ add: { location: 'oc' }, configuration: 2 })).not.toBe(one)
})

it('the name of a change tells whether the lock wanted it itself', () => {
  const change = { replace: 1, location: 'oc' }
  expect(isByItself(nameOfChange(change, 'follow'))).toBe(true)
  expect(isByItself(nameOfChange(change))).toBe(false)
  expect(isByItself(null)).toBe(false)
})
