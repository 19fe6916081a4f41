/**
 * Membership (L23). The participants that a lock is born with take part from the start. A participant whose
 * storage is gone has forgotten what it promised and acknowledged, so it must not vote as if it had not (trap
 * D2). It asks to be taken back, and the next decision of the others, made without it, admits its new
 * incarnation. It has its vote from that epoch on, because everything that it forgot lies before.
 */
import { emptyReplica } from '../../resource/replica.ts'
import { saveCells } from '../guarded/replica-records.ts'
import { addressesIn } from '../members/sets.ts'
import type { ParticipantId } from '../protocol.ts'
import { NOWHERE, sendCatchUp } from './catch-up.ts'
import { onNewcomer } from './change-requests.ts'
import { noteJoin, seal } from './figure-2-termination.ts'
import { sendElsewhere } from './learner.ts'
import type { JoinMessage } from './messages.ts'
import { initialDurable } from './records.ts'
import { type Step, save } from './step.ts'

/** "The first owner has the token" is written once (trap D3). */
export function initializeMember(step: Step): void {
  const { durable } = step.state
  Object.assign(durable, initialDurable(step.context.config, emptyReplica(step.context.resource)))
  durable.membership = { status: 'member' }
  save(step, 'membership', durable.membership)
  save(step, 'epoch', durable.epoch)
  save(step, 'stub', durable.stub)
  save(step, 'base', durable.base)
  save(step, 'progress', durable.progress)
  saveCells(step, durable.replica.cells)
}

/** The incarnation is durable before anybody is asked (W7). */
export function startJoining(step: Step, incarnation: number): void {
  const { durable } = step.state
  durable.membership = { status: 'joining', incarnation }
  save(step, 'membership', durable.membership)
  saveCells(step, durable.replica.cells)
}

/** A participant that has been admitted already gets its state from any member. */
export function onJoin(step: Step, from: ParticipantId, message: JoinMessage): void {
  const { incarnation, address = '', position = NOWHERE } = message
  const { epoch } = step.state.durable
  if (addressesIn(step.context.config, epoch)[from] !== address) onNewcomer(step, from, message)
  else if (epoch.incarnations[from] === incarnation) sendCatchUp(step, from, position)
  else {
    // It may have forgotten who the members are.
    if (epoch.set !== undefined) sendElsewhere(step, from)
    noteJoinAndEndEpoch(step, from, incarnation)
  }
}

/** A participant that was removed takes nobody back, but helps those that were named after it. */
export function onJoinElsewhere(step: Step, from: ParticipantId, message: JoinMessage): void {
  const { incarnation, address = '', position = NOWHERE } = message
  const { epoch } = step.state.durable
  const isNamed = addressesIn(step.context.config, epoch)[from] === address
  if (isNamed && epoch.incarnations[from] === incarnation) sendCatchUp(step, from, position)
  else sendElsewhere(step, from)
}

/**
 * The owner ends the epoch itself, so nobody need suspect it. The others make sure that there is an owner
 * (pre-vote.ts).
 */
export function noteJoinAndEndEpoch(step: Step, participant: ParticipantId, incarnation: number): void {
  const { derived, soft } = step.state
  noteJoin(step, participant, incarnation)
  if (soft.joins[participant] !== undefined && derived.owner === step.context.config.self) seal(step)
}
