/**
 * Catching up (traps B5, C5, C6). A participant that finds out that it is behind asks the peer that told it,
 * and gets the decided commands that it misses. If they are no longer kept, it gets a snapshot in pages and
 * then the commands that follow. Any participant can help, because what is decided is the same everywhere.
 */

import type { ReplicaSnapshot } from '../../resource/replica.ts'
import { endAsking } from '../asking.ts'
import { proposerOf } from '../ballots.ts'
import { replaceReplica } from '../guarded/replica-records.ts'
import { configIn } from '../members/sets.ts'
import type { ParticipantId } from '../protocol.ts'
import type { SnapshotRequestMessage } from '../snapshots.ts'
import * as snapshots from '../snapshots.ts'
import { enterSet, isEmptied } from './change-of-members.ts'
import { type Command, LANES, lastNumber } from './commands.ts'
import { loseGrant, settlePendingFromResults } from './grants.ts'
import { acknowledgementOf } from './instances.ts'
import {
  accept,
  assertSameLog,
  baseOf,
  commandsForMessage,
  digestThrough,
  dropAfter,
  dropThrough,
  followAfter,
  promise,
} from './log.ts'
import type {
  CatchUpMessage,
  CatchUpRequestMessage,
  SnapshotOfferMessage,
  SnapshotPoint,
} from './messages.ts'
import type { Machine } from './state.ts'
import { applyThrough } from './state-machine.ts'
import { askForCatchUp, clearLane, emit, nextRound, restartRepeats, type Step, save, send } from './step.ts'
import { isWaiting } from './waiting.ts'

export function onCatchUpRequest(step: Step, from: ParticipantId, message: CatchUpRequestMessage): void {
  sendCatchUp(step, from, message.decided)
}

export function sendCatchUp(step: Step, to: ParticipantId, previous: number): void {
  const { durable } = step.state
  const { applied: decided } = durable.machine
  if (previous >= decided || isEmptied(step)) return
  if (previous < baseOf(durable))
    return send(step, to, { type: 'snapshot-offer', ballot: durable.acceptor.promised, decided })
  const commands = commandsForMessage(step, previous, decided)
  const ballot = durable.acceptor.promised
  const digest = digestThrough(durable, previous)
  send(step, to, { type: 'catch-up', ballot, previous, digest, commands, decided })
}

/**
 * The sender's ballot is taken over. A participant that knows what was decided in a ballot must have promised
 * at least that ballot; otherwise its acknowledgements in an older one would count what it has decided as
 * accepted there.
 */
export function onCatchUp(step: Step, from: ParticipantId, message: CatchUpMessage): void {
  const { durable, soft } = step.state
  const { ballot, previous, commands, decided } = message
  endAsking(soft)
  if (previous <= durable.machine.applied) assertSameLog(durable, previous, message.digest)
  promise(step, ballot)
  if (previous <= durable.machine.applied) applyDecided(step, ballot, previous, commands)
  acknowledgeTo(step, from)
  if (decided > durable.machine.applied) askForCatchUp(step, from)
}

function applyDecided(step: Step, ballot: number, previous: number, commands: readonly Command[]): void {
  const { durable } = step.state
  let position = previous
  for (const command of commands) {
    position++
    if (position > durable.machine.applied) {
      accept(step, position, ballot, command)
      applyThrough(step, position)
    }
  }
}

/**
 * The coordinator sends a catch-up to participants that do not acknowledge, and must learn how far they are
 * now.
 */
function acknowledgeTo(step: Step, from: ParticipantId): void {
  const { durable } = step.state
  const ballot = durable.acceptor.promised
  if (durable.membership.status === 'member' && proposerOf(ballot) === from)
    send(step, from, acknowledgementOf(durable, ballot))
}

// ---------------------------------------------------------------- snapshots

/** Where this participant is. The last page of a snapshot carries this. */
export function presentPoint(step: Step): SnapshotPoint {
  const { acceptor, machine } = step.state.durable
  return { ballot: acceptor.promised, machine }
}

/** Only one snapshot comes at a time. An offer that arrives late has nothing new. */
export function onSnapshotOffer(step: Step, from: ParticipantId, message: SnapshotOfferMessage): void {
  const { durable, soft } = step.state
  if (!snapshots.isWelcome(soft.incoming, from)) return
  endAsking(soft)
  promise(step, message.ballot)
  // The coordinator offers it to participants that do not acknowledge, and must learn how far they are.
  if (message.decided <= durable.machine.applied) return acknowledgeTo(step, from)
  snapshots.requestSnapshot(step, from, nextRound(soft))
  restartRepeats(step)
}

type SnapshotPage = snapshots.SnapshotPageMessage<SnapshotPoint>

export function onSnapshotRequest(step: Step, from: ParticipantId, message: SnapshotRequestMessage): void {
  const { soft } = step.state
  snapshots.onSnapshotRequest(
    step,
    from,
    message,
    () => presentPoint(step),
    () => nextRound(soft),
  )
}

export function onSnapshotPage(step: Step, from: ParticipantId, message: SnapshotPage): void {
  const { durable, soft } = step.state
  const snapshot = snapshots.onSnapshotPage(step, from, message)
  if (soft.incoming !== null) restartRepeats(step)
  if (snapshot === null) return
  const { ballot, machine } = snapshot.point
  promise(step, ballot)
  const { applied, digest, droppedThrough } = machine
  if (applied > durable.machine.applied)
    restoreSnapshot(step, machine, { ...snapshot.replica, droppedThrough })
  else assertSameLog(durable, applied, digest)
  acknowledgeTo(step, from)
}

/**
 * Asks for the page again. If the transfer is given up while somebody waits here, the sender is asked anew
 * for what is missing. A newcomer calls all others again: they may have called it while it waited (rule M10).
 */
export function repeatSnapshotRequest(step: Step): void {
  const givenUp = snapshots.repeatSnapshotRequest(step)
  if (givenUp === null) return
  if (isWaiting(step)) askForCatchUp(step, givenUp)
  if (step.state.durable.membership.status === 'joining') step.state.soft.calls = 0
}

/** What this participant has accepted after the snapshot stays, because it has said so. */
function restoreSnapshot(step: Step, machine: Machine, snapshot: ReplicaSnapshot): void {
  const { durable } = step.state
  const isOtherSet = configIn(durable.machine) !== configIn(machine)
  replaceReplica(step, snapshot)
  dropThrough(step, machine.applied)
  durable.machine = machine
  save(step, 'machine', durable.machine)
  if (isOtherSet) dropAfter(step, machine.applied)
  else followAfter(step, durable.machine.applied)
  emit(step, { type: 'restored', sequence: durable.machine.applied })
  settleAfterJump(step)
  if (isOtherSet) enterSet(step)
}

/** What happened to this participant's commands and users in the instances that were jumped over. */
function settleAfterJump(step: Step): void {
  const { durable } = step.state
  const { self } = step.context.config
  for (const lane of LANES) {
    if (lastNumber(durable.machine, lane, self) >= durable.lanes[lane].number) clearLane(step, lane)
  }
  settlePendingFromResults(step)
  const { grant } = durable.stub
  if (grant !== null && grant.fence !== durable.machine.holder?.fence) loseGrant(step, 'suspected')
}
