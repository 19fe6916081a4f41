/**
 * Catching up (traps B5, C5, C6): who finds out that it is behind asks whoever told it, and gets the decided commands that it
 * misses; if they are no longer kept, a snapshot and what follows it. Anybody can help: what is decided is the same everywhere.
 */
import { restoreReplica, snapshotReplica } from '../../resource/replica.ts'
import type { ParticipantId } from '../protocol.ts'
import { type Command, LANES } from './commands.ts'
import { loseGrant, settlePendingFromResults } from './grants.ts'
import { acknowledgementOf } from './instances.ts'
import {
  accept,
  assertSameLog,
  baseOf,
  commandsForMessage,
  coordinatorOf,
  digestThrough,
  dropThrough,
  followAfter,
  promise,
} from './log.ts'
import type { CatchUpMessage, CatchUpRequestMessage, Snapshot } from './messages.ts'
import { applyThrough } from './state-machine.ts'
import { askForCatchUp, clearLane, emit, type Step, save, send } from './step.ts'

export function onCatchUpRequest(step: Step, from: ParticipantId, message: CatchUpRequestMessage): void {
  sendCatchUp(step, from, message.decided)
}

export function sendCatchUp(step: Step, to: ParticipantId, after: number): void {
  const { durable } = step.state
  const { applied: decided } = durable.machine
  if (after >= decided) return
  const snapshot = after < baseOf(durable) ? takeSnapshot(step) : null
  const previous = snapshot === null ? after : decided
  const commands = commandsForMessage(step, previous, decided)
  const ballot = durable.acceptor.promised
  const digest = digestThrough(durable, previous)
  send(step, to, { type: 'catch-up', ballot, snapshot, previous, digest, commands, decided })
}

function takeSnapshot(step: Step): Snapshot {
  const { machine, replica } = step.state.durable
  return { machine, replica: snapshotReplica(step.context.resource, replica) }
}

/**
 * The sender's ballot is taken over: whoever knows what was decided in a ballot has promised at least that one, or its
 * acknowledgements in an older ballot would count what it has decided as accepted there.
 */
export function onCatchUp(step: Step, from: ParticipantId, message: CatchUpMessage): void {
  const { durable, soft } = step.state
  const { ballot, snapshot, previous, commands, decided } = message
  soft.asking = null
  if (previous <= durable.machine.applied) assertSameLog(durable, previous, message.digest)
  promise(step, ballot)
  if (snapshot !== null && snapshot.machine.applied > durable.machine.applied) restoreSnapshot(step, snapshot)
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

/** The coordinator sends a catch-up to those who do not acknowledge, and must learn how far they are now. */
function acknowledgeTo(step: Step, from: ParticipantId): void {
  const { durable } = step.state
  const ballot = durable.acceptor.promised
  if (coordinatorOf(ballot) === from) send(step, from, acknowledgementOf(durable, ballot))
}

/** What this participant has accepted after the snapshot stays: it has said so. */
function restoreSnapshot(step: Step, snapshot: Snapshot): void {
  const { durable } = step.state
  const before = durable.replica
  durable.replica = restoreReplica(step.context.resource, snapshot.replica)
  for (const cell of Object.keys(before.cells))
    if (!(cell in durable.replica.cells)) save(step, `cell/${cell}`, null)
  for (const [cell, value] of Object.entries(durable.replica.cells)) save(step, `cell/${cell}`, { value })
  for (const opId of before.order) save(step, `result/${opId}`, null)
  for (const stored of snapshot.replica.results) save(step, `result/${stored.opId}`, stored)
  dropThrough(step, snapshot.machine.applied)
  durable.machine = snapshot.machine
  save(step, 'machine', durable.machine)
  followAfter(step, durable.machine.applied)
  emit(step, { type: 'restored', sequence: durable.machine.applied })
  settleAfterJump(step)
}

/** What happened to this participant's commands and users in the instances that were jumped over. */
function settleAfterJump(step: Step): void {
  const { durable } = step.state
  const { self } = step.context.config
  for (const lane of LANES) {
    if (durable.machine.numbers[lane][self]! >= durable.lanes[lane].number) clearLane(step, lane)
  }
  settlePendingFromResults(step)
  const { grant } = durable.stub
  if (grant !== null && grant.fence !== durable.machine.holder?.fence) loseGrant(step, 'suspected')
}
