/**
 * The users: one automaton each (the paper's section 2), as the user knows it. It tries, is in, issues,
 * leaves, and tries again.
 *
 * When its participant crashes, a user may miss answers. Then it is in `doubt`: it asks again for what it
 * still waits for, once the participant is back, and it may learn of an end that it was not told of. A user
 * that is not in doubt must be told everything.
 */
import type { Emitted, Mode, UserInput, UserOutput } from '../../shared/protocols/protocol.ts'

export interface User {
  readonly name: string
  readonly mode: Mode
  readonly phase: 'out' | 'waiting' | 'in' | 'issuing' | 'leaving'
  readonly triesLeft: number
  /** The fence of the grant that the user has; 0 if it has none. */
  readonly fence: number
  /** All fences that the user was ever given, in order. */
  readonly fences: readonly number[]
  readonly operations: readonly UserOperation[]
  readonly doubt: boolean
  /** The last event must be said again. */
  readonly mustRepeat: boolean
}

export interface UserOperation {
  readonly opId: string
  readonly outcome: 'pending' | 'applied' | 'not-applied' | 'unknown'
  /** Its place in the log, once it is applied. */
  readonly sequence: number
}

export type UserAction = 'try' | 'issue' | 'exit' | 'withdraw' | 'repeat'

export const newUser = (participant: number, tries: number, mode: Mode = 'exclusive'): User => ({
  name: `u${participant}`,
  mode,
  phase: 'out',
  triesLeft: tries,
  fence: 0,
  fences: [],
  operations: [],
  doubt: false,
  mustRepeat: false,
})

// ---------------------------------------------------------------- speaking

export function actionsOf(user: User): UserAction[] {
  if (user.mustRepeat) return ['repeat']
  switch (user.phase) {
    case 'out':
      return user.triesLeft > 0 ? ['try'] : []
    case 'waiting':
      return ['withdraw']
    case 'in':
      return ['issue', 'exit']
    default:
      return []
  }
}

/** Returns the user after it spoke, and what it says. */
export function speak(user: User, action: UserAction): { user: User; event: UserInput } {
  const { name, fence, operations } = user
  switch (action) {
    case 'try':
      return { user: { ...user, phase: 'waiting', triesLeft: user.triesLeft - 1 }, event: tryOf(user) }
    case 'issue': {
      const opId = `${name}.${operations.length + 1}`
      const operation: UserOperation = { opId, outcome: 'pending', sequence: 0 }
      return {
        user: { ...user, phase: 'issuing', operations: [...operations, operation] },
        event: issueOf(user, opId),
      }
    }
    case 'exit':
      return { user: { ...user, phase: 'leaving' }, event: { type: 'exit', user: name, fence } }
    case 'withdraw':
      return { user, event: { type: 'withdraw', user: name } }
    case 'repeat': {
      const after = { ...user, mustRepeat: false }
      if (user.phase === 'waiting') return { user: after, event: tryOf(user) }
      if (user.phase === 'issuing') return { user: after, event: issueOf(user, operations.at(-1)!.opId) }
      return { user: after, event: { type: 'exit', user: name, fence } }
    }
  }
}

/**
 * A time to live of 0 ends at the instant at which all worlds stand still: the `ttl` timer may fire at any
 * moment.
 */
const tryOf = ({ name, mode }: User): UserInput => ({
  type: 'try',
  user: name,
  ttlMs: 0,
  ...(mode === 'shared' && { mode }),
})

/** Appending makes the order of the operations visible in the replica. */
const issueOf = (user: User, opId: string): UserInput => ({
  type: 'issue',
  user: user.name,
  fence: user.fence,
  opId,
  operation: [{ append: 'list', value: opId }],
})

export function crash(user: User): User {
  if (user.phase === 'out') return user
  return { ...user, doubt: true, mustRepeat: user.phase !== 'in' }
}

// ---------------------------------------------------------------- hearing

/** Returns the user after it heard this, or why it must not hear it. */
export function hear(user: User, event: Emitted): User | string {
  switch (event.type) {
    case 'crit':
      return hearCrit(user, event)
    case 'outcome':
      return hearOutcome(user, event)
    case 'rem':
      if (user.phase !== 'leaving' || event.fence !== user.fence) return `rem in phase ${user.phase}`
      return leave(user)
    case 'ejected':
      return hearEjected(user, event)
    case 'withdrawn':
      return user.phase === 'waiting' ? leave(user) : `withdrawn in phase ${user.phase}`
    case 'refused':
      return hearRefused(user, event)
    default:
      return user
  }
}

type Heard<Type extends UserOutput['type']> = Extract<UserOutput, { type: Type }>

const settled = { doubt: false, mustRepeat: false } as const

const leave = (user: User): User => ({ ...user, ...settled, phase: 'out', fence: 0 })

function hearCrit(user: User, { fence }: Heard<'crit'>): User | string {
  if (user.phase !== 'waiting') return `crit in phase ${user.phase}: more crit than try`
  if (user.fences.some(earlier => earlier >= fence)) return `the fence ${fence} is not above ${user.fences}`
  return { ...user, ...settled, phase: 'in', fence, fences: [...user.fences, fence] }
}

function hearOutcome(user: User, event: Heard<'outcome'>): User | string {
  const pending = user.operations.at(-1)
  if (isToldAgain(user, event)) return { ...user, mustRepeat: user.phase !== 'in' }
  if (user.phase !== 'issuing' || event.fence !== user.fence) return `outcome in phase ${user.phase}`
  if (pending?.opId !== event.opId) return `an outcome of ${event.opId}, which is not pending`
  // A user in doubt stays in doubt: the answer may come from the results table, and the grant may be over.
  return { ...settle(user, 'applied', event.sequence), mustRepeat: false, phase: 'in' }
}

/** A participant that crashed before it wrote an outcome settles the operation again, and says the same. */
function isToldAgain({ doubt, operations }: User, { opId, sequence }: Heard<'outcome'>): boolean {
  const isSame = (told: UserOperation) =>
    told.opId === opId && told.outcome === 'applied' && told.sequence === sequence
  return doubt && operations.some(isSame)
}

function hearEjected(user: User, event: Heard<'ejected'>): User | string {
  // A user that missed its crit is told the end of a grant that it does not know.
  if (user.phase === 'waiting' && user.doubt) return leave(user)
  if (user.fence !== event.fence) return `ejected in phase ${user.phase} from ${event.fence}`
  return leaveForced(user, event.pending)
}

function hearRefused(user: User, { event, refusal }: Heard<'refused'>): User | string {
  // Its participant was removed: it goes elsewhere.
  if (refusal.code === 'elsewhere' && user.phase === 'waiting') return { ...leave(user), triesLeft: 0 }
  // Its participant settles the operation before, which it has been told of, again. Then it says this again.
  if (user.doubt && refusal.code === 'busy') return user
  if (!user.doubt || refusal.code !== 'grant-over') return `${event} refused: ${refusal.code}`
  if (refusal.ending === null) return 'the end of a grant was forgotten'
  if (refusal.ending.reason === 'released') return `${event} refused after the release`
  // An operation that is refused is not in the results table, so nobody has applied it, and its grant is
  // over.
  if (event === 'issue') return leave(settle(user, refusal.ending.pending?.outcome ?? 'not-applied', 0))
  return leaveForced(user, refusal.ending.pending)
}

function leaveForced(user: User, told: { opId: string; outcome: 'not-applied' | 'unknown' } | undefined) {
  const pending = user.phase === 'issuing' ? user.operations.at(-1)! : undefined
  if (told !== undefined && told.opId !== pending?.opId)
    return `ejected with ${told.opId}, which is not pending`
  if (pending === undefined) return leave(user)
  // Its outcome may have been said, and missed.
  if (told === undefined && !user.doubt) return `ejected without a word of the pending ${pending.opId}`
  return leave(settle(user, told?.outcome ?? 'unknown', 0))
}

function settle(user: User, outcome: UserOperation['outcome'], sequence: number): User {
  const pending = user.operations.at(-1)!
  return { ...user, operations: [...user.operations.slice(0, -1), { ...pending, outcome, sequence }] }
}
