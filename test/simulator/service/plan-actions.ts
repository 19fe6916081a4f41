/** What clients do. Each action stands for itself: any of them can be left out. */
import type { MembersChange } from '../../../shared/api/members-change.ts'
import type { Random } from '../random.ts'
import type { LockPlan, Wish } from './plan.ts'
import type { Look } from './plan-looks.ts'

interface Base {
  readonly id: number
  /** It begins then, or when the client has finished what it did before. */
  readonly at: number
  readonly lock: string
}

/** How a stay in the critical section ends. */
export type Ending = 'release' | 'vanish' | 'overstay'

export type Action =
  | (Base & {
      readonly type: 'transact'
      readonly waitMs: number
      readonly participant: number | null
      readonly abortAfterMs: number | null
      /** Says it again afterwards, as a client does that has crashed in between: with the same id. */
      readonly again: boolean
      readonly conditional: boolean
    })
  /** A single request, whatever becomes of it. */
  | (Base & { readonly type: 'raw-transact'; readonly waitMs: number; readonly participant: number | null })
  | (Base & {
      readonly type: 'hold'
      readonly waitMs: number
      readonly ttlMs: number
      readonly confirm: boolean
      readonly mode: 'exclusive' | 'shared'
      readonly operations: number
      readonly thinkMs: number
      readonly ending: Ending
      readonly abortAfterMs: number | null
      readonly participant: number | null
    })
  | (Base & {
      readonly type: 'ticket'
      readonly participant: number | null
      readonly ttlMs: number
      readonly polls: number
      readonly pollMs: number
      readonly ending: 'release' | 'withdraw' | 'vanish'
    })
  | (Base & {
      readonly type: 'session'
      /** How many times it transacts and reads before it tries. */
      readonly calls: number
      readonly operations: number
      readonly participant: number | null
      readonly waitMs: number
      readonly ttlMs: number
      readonly thinkMs: number
      /** `deaf`: the client stands still with its socket open. */
      readonly ending: 'exit' | 'close' | 'deaf'
    })
  | (Base & {
      readonly type: 'watch'
      readonly forMs: number
      readonly since: number | null
      readonly participant: number | null
    })
  | (Base & {
      readonly type: 'get'
      readonly consistency: 'local' | 'linearizable'
      readonly participant: number | null
    })
  | (Base & { readonly type: 'list' })
  | (Base & { readonly type: 'status' })
  | (Base & { readonly type: 'history' })
  | (Base & { readonly type: 'eject'; readonly byFence: boolean })
  | (Base & { readonly type: 'configure'; readonly wish: Wish })
  /** A single request for a configuration. */
  | (Base & { readonly type: 'put'; readonly wish: Wish })
  /** `again`: it is said again later, as after a lost answer. */
  | (Base & { readonly type: 'delete'; readonly force: boolean; readonly again: boolean })
  /** `again`: it is said again at once, as after a lost answer. */
  | (Base & { readonly type: 'members'; readonly change: MembersChange; readonly again: boolean })
  /** Exports the lock, and imports it under another name. */
  | (Base & { readonly type: 'copy'; readonly copy: string; readonly thinkMs: number })
  | (Base & { readonly type: 'look'; readonly look: Look; readonly participant: number })

interface Surroundings {
  readonly index: number
  readonly locks: readonly LockPlan[]
  readonly durationMs: number
  readonly sites: number
}

/** Ids of faults are below this. */
export const FIRST_BIRTH_ID = 900
export const FIRST_ACTION_ID = 1_000
const MAX_ACTIONS = 1_000

export function drawActions(random: Random, surroundings: Surroundings): Action[] {
  const { index, locks, durationMs } = surroundings
  let id = FIRST_ACTION_ID + index * MAX_ACTIONS
  const actions: Action[] = []
  for (const lock of locks) {
    // Both wishes at the same moment, from the first two clients.
    const wish = lock.wishes[index]
    const wishAt = lock.kind === 'late' ? durationMs / 2 : 0
    if (wish !== undefined) actions.push({ id: id++, at: wishAt, lock: lock.name, type: 'configure', wish })
    if (lock.kind === 'idle' && index === 0) actions.push(plainTransact(id++, 0, lock.name))
  }
  const used = locks.filter(({ kind }) => kind !== 'idle')
  const pauseMs = durationMs / random.between(5, 14)
  for (let at = random.exponential(pauseMs); at < durationMs; at += random.exponential(pauseMs)) {
    const lock = random.chance(0.5) ? used[0]! : random.pick(used)
    const isEarly = lock.kind === 'late' && at < durationMs / 2
    const isEnd = lock.kind === 'mortal' && random.chance(0.2)
    if (isEnd) actions.push(drawDelete(random, id++, at, lock.name))
    else actions.push(drawAction(random, id++, at, (isEarly ? used[0]! : lock).name, surroundings))
  }
  return actions.sort((left, right) => left.at - right.at)
}

const drawDelete = (random: Random, id: number, at: number, lock: string): Action => ({
  ...{ id, at, lock, type: 'delete', force: random.chance(0.6), again: random.chance(0.3) },
})

export const plainTransact = (id: number, at: number, lock: string): Action => ({
  id,
  at,
  lock,
  type: 'transact',
  waitMs: 10_000,
  participant: null,
  abortAfterMs: null,
  again: false,
  conditional: false,
})

export const configureAction = (id: number, lock: string, wish: Wish): Action => ({
  ...{ id, at: 0, lock, type: 'configure', wish },
})

function drawAction(random: Random, id: number, at: number, lock: string, { sites }: Surroundings): Action {
  const base = { id, at, lock }
  const type = random.pick(WEIGHTED)
  const participant = random.chance(0.5) ? random.between(1, sites) : null
  const waitMs = random.pick([0, 200, 2_000, 10_000])
  const ttlMs = random.pick([1_000, 1_500, 3_000, 30_000])
  const abortAfterMs = random.chance(0.12) ? random.logUniform(1, 3_000) : null
  const thinkMs = random.logUniform(1, 800)
  const operations = random.below(4)
  const chance = random.fraction()
  switch (type) {
    case 'transact': {
      const again = chance < 0.25
      return { ...base, type, waitMs, participant, abortAfterMs, again, conditional: random.chance(0.15) }
    }
    case 'raw-transact':
      return { ...base, type, waitMs, participant }
    case 'hold': {
      const ending = chance < 0.75 ? 'release' : chance < 0.9 ? 'vanish' : 'overstay'
      const mode = random.chance(0.1) ? 'shared' : 'exclusive'
      const confirm = random.chance(0.3)
      return {
        ...base,
        ...{ type, waitMs: random.chance(0.1) ? 40_000 : waitMs, ttlMs, confirm, mode, operations },
        ...{ thinkMs, ending, abortAfterMs, participant },
      }
    }
    case 'ticket': {
      const ending = chance < 0.7 ? 'release' : chance < 0.85 ? 'withdraw' : 'vanish'
      const polls = random.between(1, 5)
      return { ...base, type, participant, ttlMs, polls, pollMs: random.between(0, 2_000), ending }
    }
    case 'session': {
      const ending = chance < 0.6 ? 'exit' : chance < 0.8 ? 'close' : 'deaf'
      const calls = Math.floor(chance * 1_000) % 4
      return { ...base, type, participant, calls, operations, waitMs: waitMs + 1_000, ttlMs, thinkMs, ending }
    }
    case 'watch':
      return {
        ...{ ...base, type, participant, forMs: random.logUniform(100, 8_000) },
        since: chance < 0.5 ? 0 : null,
      }
    case 'get':
      return { ...base, type, participant, consistency: chance < 0.8 ? 'linearizable' : 'local' }
    case 'eject':
      return { ...base, type, byFence: chance < 0.5 }
    default:
      return { ...base, type }
  }
}

type Drawn = Exclude<Action['type'], 'configure' | 'put' | 'delete' | 'members' | 'copy' | 'look'>

const WEIGHTS: { readonly [type in Drawn]: number } = {
  transact: 10,
  'raw-transact': 5,
  hold: 8,
  ticket: 3,
  session: 4,
  watch: 2,
  get: 6,
  list: 1,
  status: 1,
  history: 0.5,
  eject: 1.5,
}

const WEIGHTED = Object.entries(WEIGHTS).flatMap(([type, weight]) =>
  new Array<Drawn>(weight * 2).fill(type as Drawn),
)
