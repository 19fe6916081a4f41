/**
 * The earlier algorithm for weak mutual exclusion, with which the WME paper compares itself (section 5, Table
 * 1): a consensus instance to enter, one to leave and one for each operation, each preceded by a broadcast of
 * what is to be decided. It is the baseline to measure against, but built to be used: a replicated log
 * decided by multi-Paxos, and a state machine that applies it.
 *
 * Where to look: what is decided (commands.ts), the preliminary broadcast (requests.ts), an instance in the
 * latency-optimal and the message-optimal form (instances.ts), a new coordinator (candidacy.ts), what the
 * decisions mean (state-machine.ts). What the paper takes for granted is beside them: the use of the failure
 * detector (suspicion.ts), reliable channels (repeat.ts, catch-up.ts), processes that never come back
 * (records.ts), one user per process (users.ts, grants.ts).
 *
 * `config.localHandoffs` has no meaning here: every entry is decided, and the queue is the same for all.
 */

import { noteHeard } from '../../detector.ts'
import { emptyReplica } from '../../resource/replica.ts'
import { dispatch, type Handlers } from '../dispatch.ts'
import { saveCells } from '../guarded/replica-records.ts'
import type { Context, Effect, Input, ParticipantId, Protocol, Refusal, UserInput } from '../protocol.ts'
import { NOT_A_MEMBER, refuseUnsupported } from '../refusals.ts'
import * as snapshots from '../snapshots.ts'
import * as waiting from '../waiting-users.ts'
import * as candidacy from './candidacy.ts'
import * as catchUp from './catch-up.ts'
import * as changes from './change-of-members.ts'
import * as grants from './grants.ts'
import { guarded } from './guarded.ts'
import * as handover from './handover.ts'
import * as instances from './instances.ts'
import * as learner from './learner.ts'
import * as members from './members.ts'
import * as membersTimer from './members-timer.ts'
import type { ConsensusMessage } from './messages.ts'
import * as operators from './operators.ts'
import * as reads from './reads.ts'
import { initialDurable, recover } from './records.ts'
import * as repeat from './repeat.ts'
import * as requests from './requests.ts'
import type { ConsensusState, Membership, TimerName } from './state.ts'
import { beginStep, type Step, save, takeEffects } from './step.ts'
import * as suspicion from './suspicion.ts'
import * as users from './users.ts'
import { view } from './view.ts'
import { isAskedFor, isWaiting } from './waiting.ts'

export const wmeConsensus: Protocol<ConsensusState, ConsensusMessage> = {
  name: 'wme-consensus',
  recover,
  step(context: Context, state: ConsensusState, input: Input<ConsensusMessage>): Effect<ConsensusMessage>[] {
    const step = beginStep(context, state, input.now)
    dispatch(handlers, step, input)
    if (input.type === 'message') noteHeard(state.soft.detector, input.from, input.now)
    if (isMember(step)) finish(step)
    handover.dropData(step)
    changes.settleChanges(step)
    repeat.armRepeatTimer(step)
    membersTimer.armMembersTimer(step)
    return takeEffects(step)
  },
  view,
  guarded,
  changesMembers: () => true,
}

const isMember = (step: Step): boolean => step.state.durable.membership.status === 'member'

/**
 * What follows from the state, whatever the input was: who is let in, what is proposed and sent, which timers
 * are set.
 */
function finish(step: Step): void {
  // A participant that is a majority by itself decides at once, and goes on from there.
  do {
    requests.forgetDecided(step)
    users.proceed(step)
    reads.proceedReads(step)
    changes.followChanges(step)
    // A ballot of the members before is none of the new ones (rule P6).
    if (step.hasNewSet || isWaiting(step) || isAskedFor(step)) candidacy.resumeCandidacy(step)
    candidacy.concludeCandidacy(step)
  } while (instances.proposeAwaited(step))
  operators.settleEjects(step)
  requests.announceCommands(step)
  if (step.hasProposals) instances.sendProposals(step)
  instances.tellDecision(step)
  suspicion.updateWatch(step)
}

// ---------------------------------------------------------------- start

function onStart(step: Step, genesis: boolean, incarnation: number): void {
  const { durable, soft } = step.state
  soft.life = incarnation
  if (durable.membership.status === 'blank') {
    if (genesis) initializeMember(step)
    // One that the lock was born with has lost what it had. One that comes later may never have had anything.
    else if (step.context.config.self <= step.context.config.participants)
      changeMembership(step, { status: 'excluded' })
    else startJoining(step, incarnation)
  }
  if (durable.membership.status === 'joining') return learner.sendJoin(step)
  handover.sendHandover(step)
  grants.resumeGrant(step)
  waiting.setWaitTimer(step)
}

/** What the lock begins with is written once (trap D3). */
function initializeMember(step: Step): void {
  const { durable } = step.state
  Object.assign(durable, initialDurable(step.context.config, emptyReplica(step.context.resource)))
  changeMembership(step, { status: 'member' })
  save(step, 'acceptor', durable.acceptor)
  save(step, 'machine', durable.machine)
  saveCells(step, durable.replica.cells)
}

/** The incarnation is durable before anybody is asked (rule M3). */
function startJoining(step: Step, incarnation: number): void {
  changeMembership(step, { status: 'joining', incarnation })
  saveCells(step, step.state.durable.replica.cells)
}

function changeMembership(step: Step, membership: Membership): void {
  step.state.durable.membership = membership
  save(step, 'membership', membership)
}

// ---------------------------------------------------------------- messages

function onMessage(step: Step, from: ParticipantId, message: ConsensusMessage): void {
  const { status } = step.state.durable.membership
  if (status === 'blank' || status === 'excluded') return
  handover.noteInstalled(step, from, message)
  if (status === 'joining') return learner.onMessageWhenJoining(step, from, message)
  if (status === 'removed') return learner.onMessageWhenRemoved(step, from, message)
  if (learner.onHelp(step, from, message)) return
  switch (message.type) {
    case 'join':
      return learner.onJoin(step, from, message)
    case 'elsewhere':
      return learner.onElsewhere(step, from, message)
    case 'handover':
      return handover.onHandover(step, from, message)
    case 'catch-up-request':
      return catchUp.onCatchUpRequest(step, from, message)
    case 'snapshot-request':
      return catchUp.onSnapshotRequest(step, from, message)
  }
  if (members.isMember(step, from)) onMessageOfMember(step, from, message)
  else learner.onStranger(step, from, message)
}

/** What is counted. */
function onMessageOfMember(step: Step, from: ParticipantId, message: ConsensusMessage): void {
  switch (message.type) {
    case 'request':
      return requests.onRequest(step, from, message)
    case 'propose':
      return instances.onPropose(step, from, message)
    case 'ack':
      return instances.onAck(step, from, message)
    case 'decision':
      return instances.onDecision(step, from, message)
    case 'prepare':
      return candidacy.onPrepare(step, from, message)
    case 'promise':
      return candidacy.onPromise(step, from, message)
    case 'reject':
      return candidacy.onReject(step, message)
    case 'ping':
      return suspicion.onPing(step, from, message)
    case 'alive':
      return suspicion.onAlive(step, from, message)
    case 'inquiry':
      return suspicion.onInquiry(step, from, message)
    case 'inquiry-reply':
      return suspicion.onInquiryReply(step, from, message)
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

const handlers: Handlers<Step, ConsensusMessage, TimerName> = {
  start: onStart,
  message: onMessage,
  refusal: refusalOf,
  users: {
    try: users.onTry,
    issue: users.onIssue,
    exit: users.onExit,
    withdraw: waiting.onWithdraw,
    'keep-alive': grants.onKeepAlive,
    eject: operators.onEject,
    read: reads.onRead,
    'cancel-read': reads.onCancelRead,
    membership: refuseUnsupported,
    'change-members': changes.onChangeMembers,
  },
  timers: {
    repeat: repeat.onRepeatTimer,
    heartbeat: suspicion.onHeartbeatTimer,
    ttl: grants.onTtlTimer,
    wait: waiting.onWaitTimer,
    snapshot: snapshots.onSnapshotTimer,
    members: membersTimer.onMembersTimer,
  },
  unreachable(step, peer) {
    if (isMember(step) && members.isMember(step, peer)) suspicion.onUnreachable(step, peer)
  },
}
