/** What a seat may do of its own accord: which timers are set, what its user may say. */
import { budgetOf } from './bound.ts'
import type { Seat } from './seat.ts'
import { inputOfAction } from './seats.ts'
import { actionsOf } from './user.ts'

export interface Menu {
  readonly isUp: boolean
  readonly user: readonly UserItem[]
  readonly canFlush: boolean
  readonly canSuspect: boolean
  /** Somebody asked this participant whether it hears the owner. */
  readonly isAsked: boolean
  readonly canExpire: boolean
  readonly canRepeat: boolean
  readonly canPropose: boolean
  readonly canBeat: boolean
}

export interface UserItem {
  readonly input: number
  /** What it costs; -1: nothing. */
  readonly budget: number
}

const OPERATIONS = budgetOf('operations')
const WITHDRAWALS = budgetOf('withdrawals')

export function menuOf({ isUp, state, user }: Seat): Menu {
  const { timers, voters } = state.soft
  return {
    isUp,
    user: (user === null ? [] : actionsOf(user)).map(action => ({
      input: inputOfAction(action),
      budget: action === 'issue' ? OPERATIONS : action === 'withdraw' ? WITHDRAWALS : -1,
    })),
    canFlush: timers.flush === true,
    canSuspect: timers.suspect === true,
    isAsked: Object.keys(voters).length > 0,
    canExpire: timers.ttl === true,
    canRepeat: timers.repeat === true,
    canPropose: timers.propose === true,
    canBeat: timers.heartbeat === true,
  }
}
