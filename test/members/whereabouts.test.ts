/** Where the participants of a lock are found (worker/participant/lock/whereabouts.ts). */
import { expect, it } from 'vitest'
import { blankBirth } from '../../shared/birth/lock-state.ts'
import type { BirthRecord } from '../../shared/birth/lock-types.ts'
import { Whereabouts } from '../../worker/participant/lock/whereabouts.ts'

const registrars = [1, 2, 3].map(id => ({ id, location: 'weur', url: null }))

function whereabouts(more: Partial<BirthRecord> = {}) {
  const birth = { ...blankBirth(1, 0), ...more }
  return new Whereabouts({ birth: () => birth, configuration: () => undefined, registrars: () => registrars })
}

it('a default participant is where the deployment says', () => {
  expect(whereabouts().placeOf(2)).toEqual(registrars[1])
})

it('one that nobody has said anything of is nowhere: to guess would make one', () => {
  expect(whereabouts().placeOf(7)).toBeNull()
})

it('one that is to come is where it was said to be, and a member where the members agreed', () => {
  const known = whereabouts({ members: { configuration: 1, members: { 7: 'oc@' } } })
  known.note(7, 'me@')
  known.note(8, 'sam@')
  known.note(9, 'not an address')
  known.expect({ 1: '', 10: 'afr@' })
  expect([7, 8, 9, 10].map(id => known.placeOf(id)?.address)).toEqual(['oc@', 'sam@', undefined, 'afr@'])
})

it('one that has gone is still found, and so is one that must hear that the lock is over', () => {
  const known = whereabouts({ former: { 6: 'oc@' }, untold: [5] })
  expect(known.placeOf(6)).toMatchObject({ address: 'oc@' })
  expect(known.placeOf(5)).toEqual({ id: 5, location: null, url: null })
})

it('remembers no more than a few that are to come', () => {
  const known = whereabouts()
  for (let id = 4; id < 200; id++) known.note(id, 'oc@')
  expect(known.placeOf(4)).toBeNull()
  expect(known.placeOf(199)).not.toBeNull()
})
