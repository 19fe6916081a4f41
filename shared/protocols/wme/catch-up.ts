/**
 * Catching up (traps B5, C5, C6): who finds out that it is behind asks whoever told it, and gets the rest of the log; if that
 * is no longer kept, a snapshot and what follows it. Anybody can help: what is committed is the same everywhere.
 */
import { restoreReplica, snapshotReplica } from '../../resource/replica.ts'
import type { ParticipantId } from '../protocol.ts'
import { concludeCommitted } from './commit.ts'
import { acceptEntries } from './figure-1-normal-phase.ts'
import { enterEpoch } from './figure-2-termination.ts'
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
import type { CatchUpMessage, CatchUpRequestMessage, LogSnapshot } from './messages.ts'
import { askForCatchUp, emit, forget, type Step, save, send } from './step.ts'

type Position = Pick<CatchUpRequestMessage, 'epoch' | 'length' | 'committed'>

export function onCatchUpRequest(step: Step, from: ParticipantId, message: CatchUpRequestMessage): void {
  const { epoch } = step.state.durable.epoch
  if (message.epoch > epoch) askForCatchUp(step, from)
  else sendCatchUp(step, from, message)
}

export function sendCatchUp(step: Step, to: ParticipantId, position: Position): void {
  const { durable, soft } = step.state
  const { epoch, owner: epochOwner, start: epochStart, incarnations } = durable.epoch
  // In one epoch one log is a prefix of the other. In an older epoch all above the committed part may be rolled back.
  const isSameEpoch = position.epoch === epoch
  const after = isSameEpoch ? position.length : position.committed
  if (isSameEpoch && after >= lengthOf(durable)) return
  // The change of epoch is one transaction at the receiver, so its entries must fit one message.
  const isTooFar = after < durable.base.sequence || (!isSameEpoch && !fitsOneMessage(step, after))
  const snapshot = isTooFar ? takeSnapshot(step) : null
  const previous = snapshot?.sequence ?? after
  send(step, to, {
    type: 'catch-up',
    epoch,
    epochOwner,
    epochStart,
    incarnations,
    snapshot,
    previous,
    digest: digestThrough(durable, previous),
    entries: entriesForMessage(step, previous),
    committed: soft.committed,
    length: lengthOf(durable),
  })
}

function fitsOneMessage(step: Step, after: number): boolean {
  return entriesForMessage(step, after).length === lengthOf(step.state.durable) - after
}

function takeSnapshot(step: Step): LogSnapshot {
  const { durable, soft } = step.state
  return {
    sequence: soft.committed,
    owner: ownerAfter(durable, soft.committed),
    granted: grantedAfter(durable, soft.committed),
    digest: digestThrough(durable, soft.committed),
    replica: snapshotReplica(step.context.resource, durable.replica),
  }
}

export function onCatchUp(step: Step, from: ParticipantId, message: CatchUpMessage): void {
  const { durable, soft } = step.state
  const { epoch } = durable.epoch
  if (!mayAccept(step, message)) return
  soft.asking = null
  if (message.epoch < epoch || (message.epoch === epoch && durable.epoch.sealed && isMember(step))) return
  const { snapshot, previous, entries, committed, epochStart } = message
  // What this participant holds of its epoch it has acknowledged, so a late snapshot must not take it away.
  const held = message.epoch === epoch ? lengthOf(durable) : soft.committed
  if (snapshot === null && previous > held) return
  if (previous <= held) assertSameLog(durable, previous, message.digest)
  if (snapshot !== null && snapshot.sequence > held) restoreSnapshot(step, snapshot)
  if (message.epoch > epoch || !isMember(step)) {
    admitIfJoining(step)
    const { epochOwner, incarnations } = message
    const next = { epoch: message.epoch, owner: epochOwner, start: epochStart, sealed: false, incarnations }
    enterEpoch(
      step,
      next,
      entries.filter(entry => entry.sequence <= epochStart),
    )
  }
  const fresh = acceptEntries(
    step,
    entries.filter(entry => entry.sequence > epochStart),
    committed,
  )
  step.variant.acknowledge(step, from, fresh)
  concludeCommitted(step)
  if (message.length > lengthOf(durable)) askForCatchUp(step, from)
}

const isMember = (step: Step): boolean => step.state.durable.membership.status === 'member'

/** A wiped participant takes only a state that knows of its new incarnation: in older epochs it had a vote that it forgot. */
function mayAccept(step: Step, message: CatchUpMessage): boolean {
  const { membership } = step.state.durable
  if (membership.status !== 'joining') return true
  return message.incarnations[step.context.config.self] === membership.incarnation
}

function admitIfJoining(step: Step): void {
  const { durable } = step.state
  if (durable.membership.status !== 'joining') return
  durable.membership = { status: 'member' }
  save(step, 'membership', durable.membership)
  save(step, 'stub', durable.stub)
}

/** Replaces the replica and the log. All that this participant had committed is in the snapshot. */
function restoreSnapshot(step: Step, snapshot: LogSnapshot): void {
  const { durable, soft } = step.state
  const { resource } = step.context
  const before = durable.replica
  const { sequence, owner, granted, digest } = snapshot
  durable.replica = restoreReplica(resource, snapshot.replica)
  for (const cell of Object.keys(before.cells))
    if (!(cell in durable.replica.cells)) save(step, `cell/${cell}`, null)
  for (const [cell, value] of Object.entries(durable.replica.cells)) save(step, `cell/${cell}`, { value })
  for (const opId of before.order) save(step, `result/${opId}`, null)
  for (const stored of snapshot.replica.results) save(step, `result/${stored.opId}`, stored)
  for (const entry of durable.log) forget(step, logKey(entry.sequence))
  durable.log = []
  durable.base = { sequence, owner, granted, digest }
  save(step, 'base', durable.base)
  soft.committed = sequence
  saveProgress(step)
  derive(step.state)
  emit(step, { type: 'restored', sequence })
}
