/**
 * How changes of the members come and go (change-of-members.ts): the participant that an operator has asked
 * invites the newcomers and asks the owner, the owner ends the epoch, and the operator is answered.
 */
import { isCurrent, type ReadyChange } from '../members/changes.ts'
import type { ParticipantId } from '../protocol.ts'
import { NOWHERE, sendCatchUp } from './catch-up.ts'
import type { ProposedChange } from './change-of-members.ts'
import { seal } from './figure-2-termination.ts'
import { sendElsewhere } from './learner.ts'
import { isMember } from './members.ts'
import type { ChangeMessage, JoinMessage } from './messages.ts'
import { restartRepeats } from './repeat.ts'
import { noteNewcomer, repeatInvitations, wanted } from './requested-changes.ts'
import { type Step, send } from './step.ts'

// ---------------------------------------------------------------- the participant that was asked

/** Called with the repeats: newcomers are invited again, and the owner is asked again. */
export function repeatChanges(step: Step): void {
  if (step.state.soft.changes.length === 0) return
  sendChange(step)
  repeatInvitations(step)
}

function sendChange(step: Step): void {
  const { durable, derived } = step.state
  const change = wanted(step)
  if (change === null || derived.owner === step.context.config.self || durable.epoch.sealed) return
  send(step, derived.owner, { type: 'change', epoch: durable.epoch.epoch, change })
}

/** A newcomer says that it is there, and perhaps that it has been brought up to date. */
export function onNewcomer(step: Step, from: ParticipantId, message: JoinMessage): void {
  const { incarnation, address = '', position } = message
  const known = isMember(step, from)
    ? 'stranger'
    : noteNewcomer(step, from, address, incarnation, position !== undefined)
  if (known === 'stranger') return sendElsewhere(step, from)
  if (position === undefined) return sendCatchUp(step, from, NOWHERE)
  if (known === 'invited') return
  restartRepeats(step)
  sendChange(step)
  endEpochForChange(step)
}

// ---------------------------------------------------------------- the owner

export function onChange(step: Step, { change }: ChangeMessage): void {
  if (step.state.derived.owner !== step.context.config.self) return
  noteProposed(step, change)
  endEpochForChange(step)
}

function noteProposed(step: Step, change: ReadyChange): void {
  const { soft } = step.state
  const { timing } = step.context.config
  const known = soft.proposed?.change.id === change.id ? soft.proposed : null
  soft.proposed = {
    change,
    until: step.now + 2 * timing.repeatMaxMs,
    drainUntil: known?.drainUntil ?? step.now + timing.timeoutMaxMs,
  }
}

/**
 * Ends the epoch if this participant is the owner and a change is ready. It is not called once a step has
 * sent entries or acknowledgements, and does nothing in one that has appended: after the seal these are not
 * sent.
 */
export function endEpochForChange(step: Step): void {
  const { durable, derived, soft } = step.state
  if (durable.membership.status !== 'member' || durable.epoch.sealed || step.appended) return
  if (derived.owner !== step.context.config.self) return
  const own = soft.changes.length > 0 ? wanted(step) : null
  if (own !== null) noteProposed(step, own)
  const { proposed } = soft
  if (proposed === null) return
  const isOpen = step.now < proposed.until && isCurrent(step.context.config, durable.epoch, proposed.change)
  if (!isOpen) soft.proposed = null
  else if (mayEndEpoch(step, proposed)) seal(step)
}

/**
 * An owner that stays keeps its user. One that has to go lets its user finish, within limits, and gives the
 * token to a participant that stays, if one waits for it (rule M9).
 */
function mayEndEpoch(step: Step, { change, drainUntil }: ProposedChange): boolean {
  const { durable, soft } = step.state
  if (change.members[step.context.config.self] !== undefined || step.now >= drainUntil) return true
  const { phase } = durable.stub
  if (phase !== 'idle' && phase !== 'requesting') return false
  return !soft.requests.some(({ participant }) => change.members[participant] !== undefined)
}
