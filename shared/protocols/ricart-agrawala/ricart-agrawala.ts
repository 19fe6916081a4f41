/**
 * "An Optimal Algorithm for Mutual Exclusion in Computer Networks" (Ricart, Agrawala 1981) as a pure state
 * machine.
 *
 * Where to look: the algorithm of section 2 and the modifications of sections 6 and 7 are in the files of
 * that name. What the paper takes for granted is beside them: channels that lose nothing (repeat.ts), nodes
 * that do not stop (records.ts), one process per node (proceed.ts, ../lock-only/), agreement about who takes
 * part (group-change.ts). Fences are ours (fence.ts), and so is what operators may want of the members
 * (members.ts).
 */

import { dispatch, type Handlers } from '../dispatch.ts'
import { onEject, onOperatorMessage } from '../lock-only/operators.ts'
import * as users from '../lock-only/users.ts'
import type { Context, Effect, Input, ParticipantId, Protocol, UserInput } from '../protocol.ts'
import { refuseUnsupported } from '../refusals.ts'
import * as waiting from '../waiting-users.ts'
import * as groupChange from './group-change.ts'
import * as members from './members.ts'
import type { RicartAgrawalaMessage } from './messages.ts'
import { proceed } from './proceed.ts'
import { recover } from './records.ts'
import * as repeat from './repeat.ts'
import * as algorithm from './section-2-algorithm.ts'
import * as implicitReply from './section-6-1-implicit-reply.ts'
import * as ring from './section-6-3-ring.ts'
import * as insertion from './section-7-2-insertion.ts'
import * as removal from './section-7-3-removal.ts'
import * as failures from './section-7-4-failures.ts'
import type { RicartAgrawalaState, TimerName } from './state.ts'
import { beginStep, isActive, others, type Step, takeEffects } from './step.ts'
import { view } from './view.ts'

export { checkOptions } from './options.ts'

export const ricartAgrawala: Protocol<RicartAgrawalaState, RicartAgrawalaMessage> = {
  name: 'ricart-agrawala',
  recover,
  step(context: Context, state: RicartAgrawalaState, input: Input<RicartAgrawalaMessage>) {
    const step = beginStep(context, state, input.now)
    dispatch(handlers, step, input)
    proceed(step)
    removal.stayIfAlone(step)
    members.settleChanges(step)
    implicitReply.endSilence(step)
    repeat.armRepeatTimer(step)
    members.armMembersTimer(step)
    return takeEffects(step) as Effect<RicartAgrawalaMessage>[]
  },
  view,
  guarded: () => null,
  changesMembers: ({ modulus }) => modulus === undefined,
}

/**
 * A node that comes back knows whether it requests, is inside, or defers. It asks again those that it must
 * hear from.
 */
function onStart(step: Step, genesis: boolean, incarnation: number): void {
  step.operators.life = incarnation
  if (step.state.durable.membership.status === 'blank') {
    if (genesis) insertion.initializeMember(step)
    else insertion.startJoining(step, incarnation, null)
    return
  }
  users.startLocalQueue(step)
  failures.assumeDeclaredDead(step)
  members.repeatCalls(step)
  repeat.repeatAll(step)
}

// ---------------------------------------------------------------- messages

function onMessage(step: Step, from: ParticipantId, message: RicartAgrawalaMessage): void {
  failures.onSignOfLife(step, from)
  if (message.type === 'are-you-there' || message.type === 'change') insertion.onContact(step, from)
  switch (message.type) {
    case 'request':
      return algorithm.onRequest(step, from, message)
    case 'reply':
      return algorithm.onReply(step, from, message)
    case 'deferred':
      return implicitReply.onDeferred(step, from, message)
    case 'ring-request':
      return ring.onRingRequest(step, message)
    case 'are-you-there':
      return failures.onAreYouThere(step, from, message)
    case 'yes-i-am-here':
      return
    case 'not-a-member':
      return insertion.onNotAMember(step, message)
    case 'join':
      return insertion.onJoin(step, from, message)
    case 'invite':
      return insertion.onInvite(step, from, message)
    case 'elsewhere':
      return insertion.onElsewhere(step, message)
    case 'change':
      return groupChange.onChange(step, from, message)
    case 'change-ack':
      return groupChange.onChangeAck(step, from, message)
    case 'welcome':
      return insertion.onWelcome(step, from, message)
    case 'welcome-ack':
      return groupChange.onWelcomeAck(step, from, message)
    default:
      return onOperatorMessage(step, from, message)
  }
}

// ---------------------------------------------------------------- all inputs

/**
 * A node that is leaving takes no new users. With a modulus there are no readers (section-6-4-numbers.ts).
 */
function onTry(step: Step, event: Extract<UserInput, { type: 'try' }>): void {
  const isKnown = [...step.localQueue.holders, ...step.localQueue.waiters].some(
    ({ user }) => user === event.user,
  )
  if (step.state.durable.membership.status !== 'member' && !isKnown) return members.refuseOutside(step, event)
  if (event.mode === 'shared' && step.options.modulus !== undefined) return refuseUnsupported(step, event)
  users.onTry(step, event)
}

/** A node that is leaving still knows whom to ask. */
function onOperator(step: Step, event: Extract<UserInput, { type: 'eject' }>): void {
  if (isActive(step)) onEject(step, event, others(step))
  else members.refuseOutside(step, event)
}

const handlers: Handlers<Step, RicartAgrawalaMessage, TimerName> = {
  start: onStart,
  message: onMessage,
  // A node on its way in or out serves the users that it has; see `onTry` and `onOperator`.
  refusal: () => null,
  users: {
    try: onTry,
    withdraw: waiting.onWithdraw,
    exit: users.onExit,
    'keep-alive': users.onKeepAlive,
    eject: onOperator,
    membership: removal.onMembershipWish,
    'change-members': members.onChange,
    issue: refuseUnsupported,
    read: refuseUnsupported,
    'cancel-read': refuseUnsupported,
  },
  timers: {
    repeat: repeat.onRepeatTimer,
    silence: implicitReply.onSilenceTimer,
    dead: failures.onDeadTimer,
    members: members.onMembersTimer,
    ttl: users.onTtlTimer,
    wait: waiting.onWaitTimer,
  },
  unreachable: implicitReply.onUnreachable,
}
