/**
 * Maekawa's algorithm (1985) as a pure state machine. A node locks the members of its set S_i, about √N nodes
 * that share a member with every other set, and enters its critical section once it has locked all of them.
 *
 * Where to look: section 3 (the choice of the sets) is in sets/; section 4 (the algorithm) is in the two
 * files of that name, one for each role of a node. What the paper takes for granted is beside them: reliable
 * channels (repeat.ts), nodes that never stop (records.ts), one user per node (../lock-only/).
 *
 * While a node is down, the nodes whose sets it is in wait until it comes back with its storage; the
 * algorithm has no way around that.
 */

import { dispatch, type Handlers } from '../dispatch.ts'
import { onEject, onOperatorMessage } from '../lock-only/operators.ts'
import * as users from '../lock-only/users.ts'
import { refuseToChange } from '../members/which.ts'
import type { Context, Effect, Input, ParticipantId, Protocol, UserInput } from '../protocol.ts'
import { NOT_A_MEMBER, refuseUnsupported } from '../refusals.ts'
import { save, takeEffects } from '../step.ts'
import * as waiting from '../waiting-users.ts'
import type { MaekawaMessage } from './messages.ts'
import { recover } from './records.ts'
import { armRepeatTimer, onRepeatTimer } from './repeat.ts'
import { onRelease, onRelinquish, onRequest } from './section-4-arbiter.ts'
import {
  enter,
  handOver,
  invoke,
  leave,
  mayHandOver,
  missing,
  onAnswer,
  sendRequests,
} from './section-4-requester.ts'
import type { MaekawaState, TimerName } from './state.ts'
import { beginStep, observe, type Step } from './step.ts'
import { view } from './view.ts'

export const maekawa: Protocol<MaekawaState, MaekawaMessage> = {
  name: 'maekawa',
  recover,
  step(context: Context, state: MaekawaState, input: Input<MaekawaMessage>): Effect<MaekawaMessage>[] {
    const step = beginStep(context, state, input.now)
    dispatch(handlers, step, input)
    if (isMember(step)) finish(step)
    return takeEffects(step)
  },
  view,
  guarded: () => null,
  changesMembers: () => false,
}

const isMember = (step: Step): boolean => step.state.durable.membership.status === 'member'

function onStart(step: Step, genesis: boolean, incarnation: number): void {
  const { durable } = step.state
  step.operators.life = incarnation
  if (durable.membership.status === 'blank' && genesis) {
    durable.membership = { status: 'member' }
    save(step, 'membership', durable.membership)
  }
  if (!isMember(step)) return
  users.startLocalQueue(step)
  if (durable.own.phase === 'requesting') sendRequests(step)
}

/**
 * What follows from the state, whatever the input was: this node's messages to itself, and its way in and
 * out.
 */
function finish(step: Step): void {
  do {
    for (let message = step.toSelf.shift(); message !== undefined; message = step.toSelf.shift()) {
      onMessage(step, step.context.config.self, message)
    }
  } while (proceed(step))
  armRepeatTimer(step)
}

/** Returns whether there was anything to do. */
function proceed(step: Step): boolean {
  const { waiters, holders } = step.localQueue
  switch (step.state.durable.own.phase) {
    case 'idle':
      if (waiters.length === 0) return false
      invoke(step)
      return true
    case 'requesting':
      if (waiters.length === 0) leave(step)
      else if (missing(step).length === 0) enter(step)
      else return false
      return true
    case 'inside':
      if (holders.length > 0) return false
      if (waiters.length > 0 && mayHandOver(step)) handOver(step)
      else leave(step)
      return true
  }
}

function onMessage(step: Step, from: ParticipantId, message: MaekawaMessage): void {
  if (!('highest' in message)) return onOperatorMessage(step, from, message)
  observe(step, message)
  switch (message.type) {
    case 'request':
      return onRequest(step, from, message)
    case 'relinquish':
      return onRelinquish(step, message)
    case 'release':
      return onRelease(step, from, message)
    default:
      return onAnswer(step, from, message)
  }
}

/** An arbiter is locked for one request at a time, so there are no readers. */
function onTry(step: Step, event: Extract<UserInput, { type: 'try' }>): void {
  if (event.mode === 'shared') refuseUnsupported(step, event)
  else users.onTry(step, event)
}

function others(step: Step): ParticipantId[] {
  const { participants, self } = step.context.config
  const all = Array.from({ length: participants }, (_, index) => index + 1)
  return all.filter(peer => peer !== self)
}

// ---------------------------------------------------------------- all inputs

const handlers: Handlers<Step, MaekawaMessage, TimerName> = {
  start: onStart,
  message(step, from, message) {
    if (isMember(step)) onMessage(step, from, message)
  },
  refusal: step => (isMember(step) ? null : NOT_A_MEMBER),
  users: {
    try: onTry,
    exit: users.onExit,
    withdraw: waiting.onWithdraw,
    'keep-alive': users.onKeepAlive,
    eject: (step, event) => onEject(step, event, others(step)),
    issue: refuseUnsupported,
    read: refuseUnsupported,
    'cancel-read': refuseUnsupported,
    membership: refuseUnsupported,
    'change-members': refuseToChange,
  },
  timers: { repeat: onRepeatTimer, ttl: users.onTtlTimer, wait: waiting.onWaitTimer },
  unreachable() {},
}
