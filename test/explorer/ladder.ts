/**
 * The default bound has far more worlds than ten minutes can visit. The rungs below it do not: each leaves
 * out some of it so that the rest can be searched to its end, and every two faults come together in one of
 * them.
 */
import type { Bound } from './bound.ts'
import { boundOf } from './options.ts'

export interface Rung {
  readonly name: string
  readonly bound: Bound
  /** A rung of the whole bound, except for the number of faults that may come together. */
  readonly isWhole: boolean
}

const NO_FAULTS = { crashes: 0, suspicions: 0, losses: 0, duplicates: 0 } as const
const SMALL = { ...NO_FAULTS, tries: 1, operations: 1 } as const

const rung = (name: string, changes: Partial<Bound>): Rung => ({
  name,
  bound: boundOf(changes),
  isWhole: false,
})

/** The bound with no fault, with one, with two and so on up to all of them. */
export const wholeRungs = (bound: Bound): Rung[] =>
  Array.from({ length: bound.faults + 1 }, (_, faults) => ({
    name: faults === bound.faults ? 'whole' : `whole, at most ${faults} faults`,
    bound: { ...bound, faults },
    isWhole: true,
  }))

export const LADDER: readonly Rung[] = [
  rung('unordered', { ...SMALL, order: 'none' }),
  rung('crash', { ...SMALL, crashes: 1 }),
  rung('loss-duplicate', { ...SMALL, losses: 1, duplicates: 1, lag: 2 }),
  rung('suspicion', { ...SMALL, suspicions: 1, lag: 2 }),
]

/** One of three members is replaced. */
const REPLACED = { participants: 4, newcomers: 1, changes: 1, users: [1], operations: 0, lag: 1 } as const

/** Of the protocols whose members can change. */
export const MEMBERS_LADDER: readonly Rung[] = [...LADDER, rung('members', { ...SMALL, ...REPLACED })]

// ---------------------------------------------------------------- locks that guard no state

/** The same bound for a lock without operations, in which nobody is suspected. */
export function lockBoundOf(bound: Bound): Bound {
  return boundOf({ ...bound, operations: 0, suspicions: 0 })
}

const lockRung = (name: string, changes: Partial<Bound>): Rung =>
  rung(name, { ...NO_FAULTS, tries: 1, operations: 0, ...changes })

export const LOCK_LADDER: readonly Rung[] = [
  lockRung('unordered', { order: 'none' }),
  lockRung('three', { users: [1, 2, 3] }),
  lockRung('loss', { order: 'none', losses: 1 }),
  lockRung('duplicate', { order: 'none', duplicates: 1 }),
  lockRung('crash', { crashes: 1 }),
  lockRung('withdrawal', { order: 'none', withdrawals: 1 }),
  lockRung('expiry', { expiries: 1 }),
  lockRung('three, unordered', { users: [1, 2, 3], order: 'none' }),
  lockRung('three, loss', { users: [1, 2, 3], losses: 1 }),
  lockRung('three, duplicate', { users: [1, 2, 3], duplicates: 1 }),
  lockRung('three, crash', { users: [1, 2, 3], crashes: 1 }),
  // From four participants on, Maekawa's sets are such that INQUIRE and RELINQUISH are needed.
  lockRung('four', { participants: 4, users: [1, 2, 3] }),
  lockRung('four, loss', { participants: 4, users: [1, 2, 3], losses: 1 }),
]

/** Of the protocols whose members can change. */
export const LOCK_MEMBERS_LADDER: readonly Rung[] = [...LOCK_LADDER, lockRung('members', REPLACED)]
