/** Where the participants of a lock are, those that are to come, and those of a lock that was deleted. */
import { expect, it } from 'vitest'
import type { ParticipantPlace } from '../../shared/api/configuration.ts'
import { blankBirth } from '../../shared/birth/lock-state.ts'
import type { BirthRecord } from '../../shared/birth/lock-types.ts'
import { Whereabouts } from '../../worker/participant/lock/whereabouts.ts'

const registrars: ParticipantPlace[] = [1, 2, 3].map(id => ({ id, location: null, url: null }))

function whereabouts(birth: Partial<BirthRecord> = {}) {
  const record = { ...blankBirth(2, 0), ...birth }
  return new Whereabouts({
    birth: () => record,
    configuration: () => undefined,
    registrars: () => registrars,
  })
}

const addressOf = (made: Whereabouts, peer: number) => made.placeOf(peer)?.address ?? null

it('a newcomer is where the operator wants it, not where one of its number was in an earlier lock', () => {
  const made = whereabouts({ former: { 4: 'enam@' } })
  expect(addressOf(made, 4)).toBe('enam@')
  made.expect({ 1: '', 4: 'weur@' })
  expect(addressOf(made, 4)).toBe('weur@')
  // The one of the earlier lock still speaks.
  made.note(4, 'enam@')
  expect(addressOf(made, 4)).toBe('weur@')
})

it('members are where they agreed, and the default participants where they always were', () => {
  const made = whereabouts({ members: { configuration: 3, members: { 4: 'oc@' } }, former: { 2: 'apac@' } })
  made.expect({ 4: 'weur@' })
  made.note(1, 'weur@')
  expect([1, 2, 4].map(peer => addressOf(made, peer))).toEqual([null, null, 'oc@'])
  expect(made.placeOf(1)).toEqual(registrars[0])
})

it('one that nobody has spoken of is not looked for, unless it must hear of the end', () => {
  expect(whereabouts().placeOf(9)).toBeNull()
  expect(whereabouts({ untold: [9] }).placeOf(9)).toEqual({ id: 9, location: null, url: null })
})

it('with the lock all that was heard of its newcomers is forgotten', () => {
  const made = whereabouts()
  made.expect({ 4: 'weur@' })
  made.note(5, 'oc@')
  made.forget()
  expect([4, 5].map(peer => made.placeOf(peer))).toEqual([null, null])
})
