/** Those that have left a lock, to whom members may still have to speak (shared/birth/moving.ts). */
import { expect, it } from 'vitest'
import { lock } from '../../shared/birth/lock.ts'
import { BIRTH, blankBirth, type Step } from '../../shared/birth/lock-state.ts'
import { noteMembers } from '../../shared/birth/moving.ts'
import type { Json } from '../../shared/json.ts'
import type { Members } from '../../shared/protocols/protocol.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import { contextOf } from '../../worker/participant/lock/lock.ts'
import { configurationOf } from './scenario.ts'
import { nameFor } from './table.ts'

/** Participant 1 of a lock with these members now, which gets others. */
function formerAfter(former: Members, ...sets: Members[]): Members {
  const defaults = configurationOf('wme-2', 3, 30_000, false)
  const context = contextOf({ lock: nameFor(1, 3), id: 1 }, defaults, () => keyValue)
  const birth = { ...blankBirth(2, 5), former }
  const state = lock.recover(context, [[BIRTH, birth as unknown as Json]])
  lock.step(context, state, { type: 'start', now: 0, incarnation: 1, random: 'r' })
  for (const [index, members] of sets.entries()) {
    const step: Step = {
      ...{ context, state, now: 0, records: new Map(), mayWait: true, effects: [] },
      ...{ clear: false, end: null, ended: false, restart: false },
    }
    noteMembers(step, { configuration: index + 1, members })
  }
  return state.birth.former!
}

/** As many as are kept, with the highest numbers that there can be. */
const MANY = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`${index + 500}`, 'oc@']))

it('regression: one that has just left is kept, whatever the numbers in a lock that was deleted', () => {
  const former = formerAfter(MANY, { 1: '', 2: '', 4: 'weur@' }, { 1: '', 2: '', 5: 'enam@' })
  expect(former[4]).toBe('weur@')
})

it('those that left long ago are forgotten', () => {
  const sets = Array.from({ length: 100 }, (_, index) => ({ 1: '', [index + 4]: 'weur@' }))
  const former = formerAfter(MANY, ...sets)
  expect(Object.keys(former).length).toBeLessThan(50)
  expect(former[102]).toBe('weur@')
})
