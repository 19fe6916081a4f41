/**
 * A protocol that guards no state as the explorer sees it: its three parts and its view, nothing else.
 * Invariants: mutual exclusion and increasing fences, of any two participants, unless both have readers; what
 * counts as durable is stored; each user is told what its automaton allows (user.ts); from every quiet world
 * all users get through (settle.ts).
 *
 * Who is inside at the same time is a matter of the whole world, so every world is visited.
 */
import type { Context, Effect, Input, Protocol, ProtocolOptions } from '../../shared/protocols/protocol.ts'
import { budgetOf } from './bound.ts'
import type { Findings } from './findings.ts'
import type { AnyMessage } from './mail.ts'
import { checkMembership } from './membership.ts'
import { changesOf, type Menu } from './menu.ts'
import type { Model } from './model.ts'
import type { Seat } from './seat.ts'
import { inputOfAction } from './seats.ts'
import { actionsOf } from './user.ts'
import { textOf } from './values.ts'

/** The parts that a protocol's state has by convention. */
export interface LockState {
  durable: object
  derived?: object
  soft: Partial<Counts> & {
    repeatAttempts: number
    readonly changes?: { invitations: number }[]
    readonly timers: { readonly [timer: string]: true | undefined }
  }
}

/** How often something was said in vain. Here an operator waits for ever. */
interface Counts {
  calls: number
  callRepeats: number
  welcomes: number
}

const COUNTS: readonly (keyof Counts)[] = ['calls', 'callRepeats', 'welcomes']

export const LOCK_COVERAGE_GOALS = [
  'a user in the critical section',
  'a user waits while another is inside',
  'a message that changes nothing',
  'a node asks again',
  'a crash between a save and what is sent',
  'recovered in the critical section',
] as const

export type LockSometimes = (typeof LOCK_COVERAGE_GOALS)[number]

/** Only where there are readers. */
export const READERS_TOGETHER = 'readers are inside together'

const areReaders = (one: Seat<unknown>, other: Seat<unknown>): boolean =>
  one.user?.mode === 'shared' && other.user?.mode === 'shared'

const WITHDRAWALS = budgetOf('withdrawals')

export function lockModel<State extends LockState, Message extends AnyMessage>(
  protocol: Protocol<State, Message>,
  options?: ProtocolOptions,
): Model<State, Message> {
  /** A view depends only on what all contexts have in common, and is asked for often. */
  const contexts = new Map<number, Context>()
  const viewOf = ({ participant, state }: Seat<State>) => protocol.view(contexts.get(participant)!, state)

  function checkPair(findings: Findings, one: Seat<State>, other: Seat<State>): void {
    const inside = [...viewOf(one).holders, ...viewOf(other).holders]
    const areTogether = viewOf(one).holders.length > 0 && viewOf(other).holders.length > 0
    if (areTogether && areReaders(one, other)) findings.reach(READERS_TOGETHER)
    else if (areTogether) {
      const names = inside.map(({ user, fence }) => `${user} with fence ${fence}`).join(' and ')
      findings.violate('nobody is inside together with another', names)
    }
    checkSets(findings, one, other)
    if (!areReaders(one, other)) {
      checkFences(findings, one, other)
      checkFences(findings, other, one)
    }
    const waits = (seat: Seat<State>) => viewOf(seat).waiters.length > 0
    if (inside.length > 0 && (waits(one) || waits(other)))
      findings.reach('a user waits while another is inside')
  }

  /** R9, R10: a set has one name, and whoever is not in it is no member. */
  function checkSets(findings: Findings, one: Seat<State>, other: Seat<State>): void {
    const [mine, theirs] = [viewOf(one).members, viewOf(other).members]
    if (mine === undefined || theirs === undefined || mine.configuration !== theirs.configuration) return
    if (textOf(mine.members) !== textOf(theirs.members))
      findings.violate('a set has one name (R9)', `${textOf(mine.members)} and ${textOf(theirs.members)}`)
  }

  /** Every other user that was let in was let in before the one that is inside now. */
  function checkFences(findings: Findings, one: Seat<State>, other: Seat<State>): void {
    for (const { fence, user } of viewOf(one).holders) {
      const later = other.user?.fences.find(given => given >= fence)
      if (later !== undefined)
        findings.violate('fences increase in the order of entering', `${user} has ${fence} after ${later}`)
    }
  }

  function checkSeat(findings: Findings, context: Context, seat: Seat<State>): void {
    contexts.set(seat.participant, context)
    const recovered = protocol.recover(context, seat.storage.records)
    for (const part of ['durable', 'derived'] as const) {
      const stored = textOf(recovered[part])
      const held = textOf(seat.state[part])
      if (stored === held) continue
      findings.violate('what counts as durable is stored (I20)', `${part}: ${stored} for ${held}`)
    }
  }

  function noteStep(
    findings: Findings,
    context: Context,
    seat: Seat<State>,
    input: Input<Message>,
    state: State,
    effects: readonly Effect<Message>[],
  ): void {
    const { holders, membership } = protocol.view(context, state)
    checkMembership(findings, protocol.view(context, seat.state).membership, membership, effects)
    if (holders.length > 0) findings.reach('a user in the critical section')
    if (holders.length > 0 && input.type === 'start') findings.reach('recovered in the critical section')
    if (input.type === 'timer' && effects.some(({ type }) => type === 'send'))
      findings.reach('a node asks again')
    const isSame = input.type === 'message' && effects.length === 0
    if (isSame && textOf(seat.state) === textOf(state)) findings.reach('a message that changes nothing')
  }

  return {
    protocol,
    ...(options && { options }),
    mayReduce: false,
    coverageGoals: LOCK_COVERAGE_GOALS,
    recorded: record => record,
    // It is read only to compute the interval of a timer, and here a timer may fire whenever the search
    // allows it.
    normalise: (_context, { soft }) => {
      soft.repeatAttempts = 0
      for (const count of COUNTS) if (soft[count] !== undefined) soft[count] = 0
      for (const change of soft.changes ?? []) change.invitations = 0
    },
    checkStep: (findings, context, _seat, _input, _state, effects) =>
      checkEffects(findings, context, effects),
    noteStep,
    checkSeat,
    checkPair,
    menuOf: seat => menuOf(seat, viewOf(seat).membership === 'member'),
  }
}

function checkEffects(findings: Findings, { config }: Context, effects: readonly Effect<unknown>[]): void {
  for (const [index, effect] of effects.entries()) {
    if (effect.type === 'save' && index > 0) findings.violate('a save comes first', `it comes at ${index}`)
    if (effect.type === 'send' && effect.to === config.self)
      findings.violate('messages go to others', `${config.self} sends to ${effect.to}`)
  }
}

function menuOf({ isUp, participant, state, user }: Seat<LockState>, isMember: boolean): Menu {
  const { timers } = state.soft
  const actions = user === null ? [] : actionsOf(user).filter(action => action !== 'issue')
  return {
    isUp,
    user: [
      ...actions.map(action => ({
        input: inputOfAction(action),
        budget: action === 'withdraw' ? WITHDRAWALS : -1,
      })),
      ...changesOf(participant, isMember),
    ],
    flushes: [],
    suspicions: [],
    isAsked: false,
    canExpire: timers.ttl === true,
    canRepeat: timers.repeat === true,
    isChanging: (state.soft.changes ?? []).length > 0,
    canCall: timers.members === true,
    canPropose: false,
    rounds: 0,
    canBeat: false,
  }
}
