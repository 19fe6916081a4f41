/**
 * Weak mutual exclusion (Romano, Rodrigues 2009) as a pure state machine: `wme-1` and `wme-2`.
 *
 * Where to look: Figure 1 (normal phase), Figure 2 (termination), Figure 3 (states) and Figure 4 (centralised
 * acknowledgement) are in the files of that name. What the paper takes for granted is beside them: consensus
 * (paxos.ts), the use of the failure detector (pre-vote.ts), reliable channels (repeat.ts, catch-up.ts),
 * processes that never come back (records.ts, membership.ts), one user per stub (users.ts, grants.ts).
 */
import { noteHeard } from '../../detector.ts'
import { dispatch, type Handlers } from '../dispatch.ts'
import type { Context, Effect, Input, ParticipantId, Protocol, Refusal, UserInput } from '../protocol.ts'
import { NOT_A_MEMBER, refuseUnsupported } from '../refusals.ts'
import * as snapshots from '../snapshots.ts'
import { setWaitTimer } from '../waiting-users.ts'
import type { Acknowledgement } from './acknowledgement.ts'
import * as catchUp from './catch-up.ts'
import * as changes from './change-requests.ts'
import { concludeCommitted } from './commit.ts'
import { distributedAcknowledgement } from './figure-1-acknowledgement.ts'
import * as normal from './figure-1-normal-phase.ts'
import * as termination from './figure-2-termination.ts'
import { centralisedAcknowledgement } from './figure-4-acknowledgement.ts'
import * as grants from './grants.ts'
import { guarded } from './guarded.ts'
import * as handover from './handover.ts'
import * as learner from './learner.ts'
import { isMember } from './members.ts'
import * as membership from './membership.ts'
import type { WmeMessage } from './messages.ts'
import { type HelpMessage, isHelp, onHelp, onMessageWhenJoining, onMessageWhenRemoved } from './outsiders.ts'
import { onReject } from './paxos.ts'
import * as preVote from './pre-vote.ts'
import * as reads from './reads.ts'
import { recover } from './records.ts'
import * as repeat from './repeat.ts'
import * as replicate from './replicate.ts'
import { onChangeMembers, settleChanges } from './requested-changes.ts'
import type { TimerName, WmeState } from './state.ts'
import { askForCatchUp, beginStep, type Step, send, takeEffects } from './step.ts'
import * as users from './users.ts'
import { view } from './view.ts'

export const wme1 = createWme(distributedAcknowledgement)
export const wme2 = createWme(centralisedAcknowledgement)

function createWme(variant: Acknowledgement): Protocol<WmeState, WmeMessage> {
  return {
    name: variant.name,
    recover,
    step(context: Context, state: WmeState, input: Input<WmeMessage>): Effect<WmeMessage>[] {
      const step = beginStep(context, variant, state, input.now)
      // Nothing may be sent that the seal forbids: in answer to a message, the handlers decide (rule M7).
      if (input.type === 'timer') changes.endEpochForChange(step)
      dispatch(handlers, step, input)
      if (input.type === 'message') noteHeard(state.soft.detector, input.from, input.now)
      if (input.type === 'user') changes.endEpochForChange(step)
      finish(step)
      return takeEffects(step)
    },
    view,
    guarded,
    changesMembers: () => true,
  }
}

/**
 * What follows from the state, whatever the input was: the token moves, entries leave, timers are set or
 * cancelled.
 */
function finish(step: Step): void {
  if (step.state.durable.membership.status === 'member') {
    if (step.appended) concludeCommitted(step)
    normal.proceed(step)
    if (step.appended) {
      concludeCommitted(step)
      replicate.replicateAppended(step)
    }
    replicate.armConfirmTimer(step)
    replicate.armSpreadTimer(step)
    replicate.armFlushTimer(step)
    users.settleEjects(step)
    reads.proceedReads(step)
    preVote.updateWatch(step)
  }
  settleChanges(step)
  repeat.armRepeatTimer(step)
}

// ---------------------------------------------------------------- start

function onStart(step: Step, genesis: boolean, incarnation: number): void {
  const { durable, soft } = step.state
  const { status } = durable.membership
  soft.life = incarnation
  if (status === 'blank') {
    if (genesis) membership.initializeMember(step)
    else membership.startJoining(step, incarnation)
  }
  grants.separateEndings(step)
  if (durable.membership.status === 'joining') return learner.sendJoin(step)
  handover.sendHandover(step)
  if (durable.membership.status === 'removed') return
  grants.resumeGrant(step)
  setWaitTimer(step)
  if (durable.epoch.sealed) termination.sendNewEpoch(step)
}

// ---------------------------------------------------------------- messages

function onMessage(step: Step, from: ParticipantId, message: WmeMessage): void {
  const { durable } = step.state
  const { status } = durable.membership
  handover.noteInstalled(step, from, message)
  if (status === 'removed') return onMessageWhenRemoved(step, from, message)
  if (status !== 'member') return onMessageWhenJoining(step, from, message)
  if (isHelp(message)) return onHelp(step, from, message)
  switch (message.type) {
    case 'join':
      return membership.onJoin(step, from, message)
    case 'elsewhere':
      return learner.onElsewhere(step, from, message)
    case 'handover':
      return handover.onHandover(step, from, message)
    case 'catch-up-request':
      return catchUp.onCatchUpRequest(step, from, message)
    case 'snapshot-request':
      return catchUp.onSnapshotRequest(step, from, message)
  }
  // A request is good in every epoch: it says what its sender wants, not what anybody has.
  if (message.type === 'request') normal.onRequest(step, message)
  const { epoch, sealed } = durable.epoch
  // A participant that is behind is told so, and asks (traps C5, C9).
  if (message.epoch < epoch) return preVote.sendAlive(step, from)
  if (message.epoch > epoch) return askForCatchUp(step, from)
  // A participant that is no member of this epoch is not counted, whatever it says (rule M10).
  if (!isMember(step, from)) return
  preVote.onSignOfLife(step, from)
  if (sealed) onMessageWhenSealed(step, from, message)
  else onMessageInNormalPhase(step, from, message)
}

type EpochMessage = Exclude<
  WmeMessage,
  HelpMessage | { type: 'join' | 'catch-up-request' | 'snapshot-request' | 'elsewhere' | 'handover' }
>

/** Figure 1, and what may end it. */
function onMessageInNormalPhase(step: Step, from: ParticipantId, message: EpochMessage): void {
  switch (message.type) {
    case 'request':
    case 'invite':
    case 'installed':
      return
    case 'change':
      return changes.onChange(step, message)
    case 'invoke':
      return normal.onInvoke(step, from, message)
    case 'invoke-ack':
      return normal.onInvokeAck(step, from, message)
    case 'do-invoke':
      return normal.onDoInvoke(step, from, message)
    case 'ping':
      return preVote.onPing(step, from, message)
    case 'alive':
      return preVote.onAlive(step, from, message)
    case 'pre-vote':
      return preVote.onPreVote(step, from, message)
    case 'pre-vote-reply':
      return preVote.onPreVoteReply(step, from, message)
    case 'eject':
      return users.onEjectMessage(step, from, message)
    case 'eject-done':
      preVote.onAnswer(step, from)
      return users.onEjectDone(step, message)
    case 'read-index':
      return reads.onReadIndex(step, from, message)
    case 'read-index-reply':
      preVote.onAnswer(step, from)
      return reads.onReadIndexReply(step, from, message)
    default:
      return onTerminationMessage(step, from, message)
  }
}

/** Figure 2: a participant that is still in the normal phase learns from the answer that it is over. */
function onMessageWhenSealed(step: Step, from: ParticipantId, message: EpochMessage): void {
  switch (message.type) {
    case 'request':
    case 'invoke':
    case 'ping':
    case 'pre-vote':
    case 'eject':
    case 'change':
    case 'read-index':
      return send(step, from, termination.newEpochOf(step))
    case 'invoke-ack':
    case 'do-invoke':
    case 'alive':
    case 'pre-vote-reply':
    case 'eject-done':
    case 'read-index-reply':
    case 'invite':
    case 'installed':
      return
    default:
      return onTerminationMessage(step, from, message)
  }
}

type TerminationMessage = Extract<
  WmeMessage,
  { type: 'new-epoch' | 'prepare' | 'promise' | 'accept' | 'accepted' | 'reject' | 'decision' }
>

function onTerminationMessage(step: Step, from: ParticipantId, message: TerminationMessage): void {
  switch (message.type) {
    case 'new-epoch':
      return termination.onNewEpoch(step, from, message)
    case 'prepare':
      return termination.onPrepare(step, from, message)
    case 'promise':
      return termination.onPromise(step, from, message)
    case 'accept':
      return termination.onAccept(step, from, message)
    case 'accepted':
      return termination.onAccepted(step, from, message)
    case 'reject':
      return onReject(step, message)
    case 'decision':
      return termination.onDecision(step, from, message)
    default:
      return message satisfies never
  }
}

// ---------------------------------------------------------------- all inputs

/** Whoever asks about the past is answered by a participant that was removed, too. */
function refusalOf(step: Step, { type }: UserInput): Refusal | null {
  const { status } = step.state.durable.membership
  if (status === 'member') return null
  if (status !== 'removed') return NOT_A_MEMBER
  return type === 'try' || type === 'read' || type === 'eject' ? handover.elsewhere(step) : null
}

const handlers: Handlers<Step, WmeMessage, TimerName> = {
  start: onStart,
  message: onMessage,
  refusal: refusalOf,
  users: {
    try: normal.onTry,
    issue: normal.onIssue,
    exit: normal.onExit,
    withdraw: users.onWithdraw,
    'keep-alive': grants.onKeepAlive,
    eject: users.onEject,
    read: reads.onRead,
    'cancel-read': reads.onCancelRead,
    membership: refuseUnsupported,
    'change-members': onChangeMembers,
  },
  timers: {
    repeat: onRepeatTimer,
    heartbeat: preVote.onHeartbeatTimer,
    suspect: preVote.onSuspectTimer,
    propose: termination.onProposeTimer,
    flush: step => step.variant.flush(step),
    confirm: replicate.onConfirmTimer,
    spread: replicate.spread,
    ttl: grants.onTtlTimer,
    wait: users.onWaitTimer,
    snapshot: snapshots.onSnapshotTimer,
  },
  unreachable(step, peer) {
    if (!isMember(step, peer)) return
    replicate.onUnreachable(step, peer)
    preVote.onUnreachable(step, peer)
  },
}

/** Whatever has not had its effect is said again. */
function onRepeatTimer(step: Step): void {
  const { durable, derived, soft } = step.state
  repeat.beginRepeat(step)
  catchUp.repeatSnapshotRequest(step)
  if (snapshots.isComing(soft.incoming) && durable.membership.status === 'joining') return
  if (durable.membership.status === 'joining')
    return learner.isCalling(step) ? learner.sendJoin(step) : undefined
  handover.sendHandover(step)
  if (durable.membership.status === 'removed') return
  if (durable.epoch.sealed) return termination.sendNewEpoch(step)
  if (durable.stub.phase === 'requesting' && derived.owner !== step.context.config.self)
    normal.sendRequest(step)
  if (soft.preVote !== null) preVote.sendPreVote(step)
  users.sendEjects(step)
  changes.repeatChanges(step)
  reads.repeatReads(step)
  repeat.repeatEntries(step)
}
