/**
 * How changes of the members come and go (change-of-members.ts): the participant that an operator has asked
 * invites the newcomers and asks the owner, the owner ends the epoch, and the operator is answered.
 */
import type { ParticipantId, UserInput } from '../protocol.ts'
import { refuse } from '../refusals.ts'
import { NOWHERE, sendCatchUp } from './catch-up.ts'
import {
  absentOf,
  isCurrent,
  isInForce,
  isReady,
  isSet,
  type ProposedChange,
  type ReadyChange,
  type RequestedChange,
  wanted,
} from './change-of-members.ts'
import { seal } from './figure-2-termination.ts'
import { elsewhere, isHandedOver } from './handover.ts'
import { sendElsewhere } from './learner.ts'
import { addressesIn, configIn, isMember } from './members.ts'
import type { ChangeMessage, JoinMessage } from './messages.ts'
import { restartRepeats } from './repeat.ts'
import { emit, type Step, send } from './step.ts'

/** After so many invitations without an answer an operator is told that a newcomer cannot be reached. */
const MAX_INVITATIONS = 40

// ---------------------------------------------------------------- the participant that was asked

type ChangeEvent = Extract<UserInput, { type: 'change-members' }>

export function onChangeMembers(step: Step, event: ChangeEvent): void {
  const { durable, soft } = step.state
  const { request, id, base, members } = event
  if (soft.changes.some(change => change.request === request)) return
  if (soft.changes.length >= step.context.config.limits.waiters)
    return refuse(step, request, 'change-members', { code: 'too-many-waiters' })
  const change: RequestedChange = { request, id, base, members, primed: {}, invitations: 0 }
  if (isCurrent(step, change) && !isSet(step, change))
    return refuse(step, request, 'change-members', { code: 'no-such-members' })
  soft.changes.push(change)
  if (durable.membership.status !== 'member') return
  restartRepeats(step)
  invite(step, change)
}

/** Called with the repeats: newcomers are invited again, and the owner is asked again. */
export function repeatChanges(step: Step): void {
  const { soft } = step.state
  if (soft.changes.length === 0) return
  sendChange(step)
  const unready = soft.changes.filter(change => isCurrent(step, change) && !isReady(step, change))
  const givenUp = unready.filter(({ invitations }) => invitations >= MAX_INVITATIONS)
  soft.changes = soft.changes.filter(change => !givenUp.includes(change))
  for (const change of givenUp) {
    const participants = absentOf(step, change)
    refuse(step, change.request, 'change-members', { code: 'not-reached', participants })
  }
  for (const change of unready) if (!givenUp.includes(change)) invite(step, change)
}

function invite(step: Step, change: RequestedChange): void {
  const { epoch } = step.state.durable.epoch
  change.invitations++
  for (const newcomer of absentOf(step, change)) send(step, newcomer, { type: 'invite', epoch })
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
  const isInvited = (change: RequestedChange) => isCurrent(step, change) && change.members[from] === address
  const invited = isMember(step, from) ? [] : step.state.soft.changes.filter(isInvited)
  if (invited.length === 0) return sendElsewhere(step, from)
  if (position === undefined) return sendCatchUp(step, from, NOWHERE)
  if (invited.every(change => change.primed[from] === incarnation)) return
  for (const change of invited) change.primed[from] = incarnation
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
  if (step.now >= proposed.until || !isCurrent(step, proposed.change)) soft.proposed = null
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

// ---------------------------------------------------------------- the answer

/**
 * Called at the end of each step. A change is done when the members are those, and a majority of them has
 * everything (rule M5).
 */
export function settleChanges(step: Step): void {
  const { durable, soft } = step.state
  if (soft.changes.length === 0) return
  const { epoch, membership } = durable
  const present = { configuration: configIn(epoch), members: addressesIn(step.context.config, epoch) }
  const isSettled = (change: RequestedChange): boolean => {
    const { request } = change
    if (isInForce(step, change)) {
      if (!isHandedOver(step)) return false
      emit(step, { type: 'members-changed', request, ...present })
    } else if (membership.status === 'removed') refuse(step, request, 'change-members', elsewhere(step))
    else if (!isCurrent(step, change))
      refuse(step, request, 'change-members', { code: 'other-members', ...present })
    else return false
    return true
  }
  soft.changes = soft.changes.filter(change => !isSettled(change))
}
