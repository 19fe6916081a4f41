/** What a seat may do of its own accord: which timers are set, what its user may say. */
import { roundOf } from '../../shared/protocols/ballots.ts'
import { budgetOf } from './bound.ts'
import type { Seat } from './seat.ts'
import { CHANGE, inputOfAction, inputOfTimer } from './seats.ts'
import { actionsOf } from './user.ts'

export interface Menu {
  readonly isUp: boolean
  readonly user: readonly UserItem[]
  /** Timers whose only purpose is that something leaves later, with something else. */
  readonly flushes: readonly number[]
  /** The inputs by which its detector suspects a peer. */
  readonly suspicions: readonly number[]
  /** Another participant asked this one whether it hears the owner. */
  readonly isAsked: boolean
  readonly canExpire: boolean
  readonly canRepeat: boolean
  /** An operator waits for an answer here. */
  readonly isChanging: boolean
  /** Newcomers, or members of a new set, can be called once more. */
  readonly canCall: boolean
  readonly canPropose: boolean
  /** Rounds of ballots that this participant has begun in its epoch. */
  readonly rounds: number
  readonly canBeat: boolean
}

export interface UserItem {
  readonly input: number
  /** What it costs; -1: nothing. */
  readonly budget: number
}

const FLUSHES = (['flush', 'spread'] as const).map(timer => ({ timer, input: inputOfTimer(timer) }))
const SUSPECT: readonly number[] = [inputOfTimer('suspect')]
const NOBODY: readonly number[] = []
const OPERATIONS = budgetOf('operations')
const WITHDRAWALS = budgetOf('withdrawals')
/** The participant that operators ask: neither the first owner nor the one that has to go. */
const OPERATED = 2
const CHANGES: readonly UserItem[] = [{ input: CHANGE, budget: budgetOf('changes') }]
const NO_CHANGES: readonly UserItem[] = []

/** What an operator may ask of this participant. */
export const changesOf = (participant: number, isMember: boolean): readonly UserItem[] =>
  participant === OPERATED && isMember ? CHANGES : NO_CHANGES

export function menuOf({ isUp, participant, state, user }: Seat): Menu {
  const { timers, voters } = state.soft
  const changes = changesOf(participant, state.durable.membership.status === 'member')
  const actions = (user === null ? [] : actionsOf(user)).map(action => ({
    input: inputOfAction(action),
    budget: action === 'issue' ? OPERATIONS : action === 'withdraw' ? WITHDRAWALS : -1,
  }))
  return {
    isUp,
    user: [...actions, ...changes],
    flushes: FLUSHES.filter(({ timer }) => timers[timer] === true).map(({ input }) => input),
    suspicions: timers.suspect === true ? SUSPECT : NOBODY,
    isAsked: Object.keys(voters).length > 0,
    canExpire: timers.ttl === true,
    canRepeat: timers.repeat === true,
    isChanging: state.soft.changes.length > 0,
    canCall: false,
    canPropose: timers.propose === true,
    rounds: roundOf(state.durable.paxos.ballot),
    canBeat: timers.heartbeat === true,
  }
}
