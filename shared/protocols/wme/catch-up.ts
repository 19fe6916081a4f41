/**
 * Catching up (L22; traps B5, C5, C6). A participant that finds out that it is behind asks the peer that told
 * it, and gets the rest of the log. If the log no longer reaches back that far, it gets a snapshot in pages
 * and then the entries that follow. Any participant can help, because what is committed is the same
 * everywhere.
 */
import type { ReplicaSnapshot } from '../../resource/replica.ts'
import { endAsking } from '../asking.ts'
import { replaceReplica } from '../guarded/replica-records.ts'
import { withSet } from '../members/sets.ts'
import type { ParticipantId } from '../protocol.ts'
import type { SnapshotRequestMessage } from '../snapshots.ts'
import * as snapshots from '../snapshots.ts'
import { concludeCommitted } from './commit.ts'
import { acceptEntries } from './figure-1-normal-phase.ts'
import { enterEpoch } from './figure-2-termination.ts'
import { roleIn, takeAsLearner } from './learner.ts'
import {
  assertSameLog,
  derive,
  digestThrough,
  entriesForMessage,
  grantedAfter,
  lengthOf,
  logKey,
  ownerAfter,
  saveProgress,
} from './log.ts'
import type {
  CatchUpMessage,
  CatchUpRequestMessage,
  Position,
  SnapshotOfferMessage,
  SnapshotPoint,
} from './messages.ts'
import { needsOwner } from './needs-owner.ts'
import { restartRepeats } from './repeat.ts'
import { nextRound } from './soft.ts'
import type { Entry } from './state.ts'
import { askForCatchUp, emit, forget, type Step, save, send } from './step.ts'

/** Where a participant is that has nothing. */
export const NOWHERE: Position = { epoch: -1, length: 0, committed: 0 }

export function onCatchUpRequest(step: Step, from: ParticipantId, message: CatchUpRequestMessage): void {
  const { epoch } = step.state.durable.epoch
  if (message.epoch > epoch) askForCatchUp(step, from)
  else sendCatchUp(step, from, message)
}

export function sendCatchUp(step: Step, to: ParticipantId, position: Position): void {
  const { durable, soft } = step.state
  const { epoch, owner: epochOwner, start: epochStart, incarnations, set } = durable.epoch
  // Within one epoch one log is a prefix of the other. In an older epoch everything above the committed part
  // may be rolled back.
  const isSameEpoch = position.epoch === epoch
  const previous = isSameEpoch ? position.length : position.committed
  if (isSameEpoch && previous >= lengthOf(durable)) return
  const { committed } = soft
  // The receiver changes epochs in one transaction, so these entries must fit one message.
  if (previous < durable.base.sequence || (!isSameEpoch && !fitsOneMessage(step, previous))) {
    return send(step, to, { type: 'snapshot-offer', epoch, committed, incarnations, ...withSet(set) })
  }
  send(step, to, {
    type: 'catch-up',
    epoch,
    epochOwner,
    epochStart,
    incarnations,
    ...withSet(set),
    previous,
    digest: digestThrough(durable, previous),
    entries: entriesForMessage(step, previous),
    committed,
    length: lengthOf(durable),
  })
}

function fitsOneMessage(step: Step, after: number): boolean {
  return entriesForMessage(step, after).length === lengthOf(step.state.durable) - after
}

export function onCatchUp(step: Step, from: ParticipantId, message: CatchUpMessage): void {
  const { durable, soft } = step.state
  if (roleIn(step, message) === null) return
  endAsking(soft)
  if (isOutOfDate(step, message.epoch)) return
  const { previous, entries } = message
  if (previous > heldFor(step, message.epoch)) return
  assertSameLog(durable, previous, message.digest)
  goOnFrom(step, from, message, entries)
}

/**
 * Enters the epoch of the message if it is later than this one, and takes the entries that follow what is
 * here.
 */
function goOnFrom(
  step: Step,
  from: ParticipantId,
  epochOf: Pick<
    CatchUpMessage,
    'epoch' | 'epochOwner' | 'epochStart' | 'incarnations' | 'set' | 'committed' | 'length'
  >,
  entries: readonly Entry[],
): void {
  const { durable } = step.state
  if (roleIn(step, epochOf) === 'learner') return takeAsLearner(step, from, epochOf, entries)
  const { epoch, epochOwner, epochStart, incarnations, set } = epochOf
  if (epoch > durable.epoch.epoch || !isMember(step)) {
    admitIfJoining(step)
    const next = { epoch, owner: epochOwner, start: epochStart, sealed: false, incarnations }
    enterEpoch(
      step,
      { ...next, ...withSet(set) },
      entries.filter(entry => entry.sequence <= epochStart),
    )
    if (!isMember(step)) return
  }
  const later = entries.filter(entry => entry.sequence > epochStart)
  const fresh = acceptEntries(step, later, epochOf.committed)
  step.variant.acknowledge(step, from, fresh)
  concludeCommitted(step)
  if (epochOf.length > lengthOf(durable)) askForCatchUp(step, from)
}

/**
 * The message belongs to an epoch that is over here, or that is being ended: in a sealed epoch nothing is
 * taken or acknowledged.
 */
function isOutOfDate(step: Step, epoch: number): boolean {
  const { durable } = step.state
  return (
    epoch < durable.epoch.epoch || (epoch === durable.epoch.epoch && durable.epoch.sealed && isMember(step))
  )
}

/**
 * This participant has acknowledged what it holds of its own epoch; for a later epoch only what is committed
 * counts.
 */
const heldFor = (step: Step, epoch: number): number =>
  epoch === step.state.durable.epoch.epoch ? lengthOf(step.state.durable) : step.state.soft.committed

// ---------------------------------------------------------------- snapshots

/** Where this participant is. The last page of a snapshot carries this. */
export function presentPoint(step: Step): SnapshotPoint {
  const { durable, soft } = step.state
  const { epoch, owner: epochOwner, start: epochStart, incarnations, set } = durable.epoch
  return {
    epoch,
    epochOwner,
    epochStart,
    incarnations,
    ...withSet(set),
    sequence: soft.committed,
    owner: ownerAfter(durable, soft.committed),
    granted: grantedAfter(durable, soft.committed),
    digest: digestThrough(durable, soft.committed),
    droppedThrough: durable.replica.droppedThrough,
    length: lengthOf(durable),
  }
}

/** Only one snapshot comes at a time. An offer that arrives late has nothing new. */
export function onSnapshotOffer(step: Step, from: ParticipantId, message: SnapshotOfferMessage): void {
  const { soft } = step.state
  if (!snapshots.isWelcome(soft.incoming, from) || roleIn(step, message) === null) return
  endAsking(soft)
  if (isOutOfDate(step, message.epoch)) return
  const isNews = message.epoch > step.state.durable.epoch.epoch || !isMember(step)
  if (!isNews && message.committed <= heldFor(step, message.epoch)) return
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
  const { durable } = step.state
  const snapshot = snapshots.onSnapshotPage(step, from, message)
  if (step.state.soft.incoming !== null) restartRepeats(step)
  if (snapshot === null) return
  const { point, replica } = snapshot
  if (roleIn(step, point) === null || isOutOfDate(step, point.epoch)) return
  const { sequence, digest, droppedThrough } = point
  // This participant has acknowledged what it holds of its epoch, so a late snapshot must not take it away.
  if (sequence > heldFor(step, point.epoch)) restoreSnapshot(step, point, { ...replica, droppedThrough })
  else assertSameLog(durable, sequence, digest)
  goOnFrom(step, from, { ...point, committed: sequence }, [])
}

/**
 * Asks for the page again. If the transfer is given up while somebody waits here, the sender is asked anew
 * for what is missing.
 */
export function repeatSnapshotRequest(step: Step): void {
  const givenUp = snapshots.repeatSnapshotRequest(step)
  if (givenUp !== null && isMember(step) && needsOwner(step)) askForCatchUp(step, givenUp)
}

const isMember = (step: Step): boolean => step.state.durable.membership.status === 'member'

function admitIfJoining(step: Step): void {
  const { durable } = step.state
  if (durable.membership.status !== 'joining') return
  durable.membership = { status: 'member' }
  save(step, 'membership', durable.membership)
  save(step, 'stub', durable.stub)
}

/** Replaces the replica and the log. The snapshot contains everything that this participant had committed. */
function restoreSnapshot(step: Step, point: SnapshotPoint, snapshot: ReplicaSnapshot): void {
  const { durable, soft } = step.state
  const { sequence, owner, granted, digest } = point
  replaceReplica(step, snapshot)
  for (const entry of durable.log) forget(step, logKey(entry.sequence))
  durable.log = []
  durable.base = { sequence, owner, granted, digest }
  save(step, 'base', durable.base)
  soft.committed = sequence
  saveProgress(step)
  derive(step.context.config, step.state)
  emit(step, { type: 'restored', sequence })
}
