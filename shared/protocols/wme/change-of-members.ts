/**
 * Changing the members of a lock (rules M1, M4, M6, M7, M9). An operator asks any member for another set. That
 * member invites those that are new, and they get a copy of everything there is (learner.ts). Once they all
 * have one, it asks the owner to end the epoch, and the decision of the epoch names the set of the next one:
 * a majority of the old members decides who the new ones are. If the owner is silent, the epoch ends without
 * it, as for any other need, and the NEWEPs carry the change to whoever proposes.
 *
 * A change is soft state. It names the set that it was made for, its `base`: a late or doubled one is of no
 * effect once there is another set. What comes after the decision is in handover.ts.
 */

import type { Members, ParticipantId, UserInput } from '../protocol.ts'
import { MAX_MEMBERS, MAX_PARTICIPANT_NUMBER } from '../protocol.ts'
import { majority } from '../quorum.ts'
import { refuse } from '../refusals.ts'
import { sendCatchUp } from './catch-up.ts'
import { seal } from './figure-2-termination.ts'
import { isHandedOver } from './handover.ts'
import { sendElsewhere } from './learner.ts'
import { addressesIn, areSame, configIn, highestIn, isMember, type MemberSet } from './members.ts'
import { NOWHERE } from './membership.ts'
import type { ChangeMessage, JoinMessage } from './messages.ts'
import { restartRepeats } from './repeat.ts'
import type { Incarnations } from './state.ts'
import { emit, type Step, send } from './step.ts'

/** What an operator wants. */
export interface MemberChange {
  readonly id: string
  /** The set that is to be replaced (`configIn`). */
  readonly base: number
  readonly members: Members
}

/** A change whose newcomers have all been brought up to date, each in this incarnation (rule M3). */
export interface ReadyChange extends MemberChange {
  readonly primed: Incarnations
}

/** A change that an operator has asked this participant for. */
export interface RequestedChange extends MemberChange {
  readonly request: string
  readonly primed: { [participant: string]: number }
  /** How often the newcomers were invited. */
  invitations: number
}

/** A change that the owner was asked for. */
export interface ProposedChange {
  readonly change: ReadyChange
  /** It counts as long as it is asked for: the participant that wants it repeats it. */
  readonly until: number
  /** How long the owner, if it has to go, waits for its user to leave. */
  readonly drainUntil: number
}

/** After so many invitations without an answer an operator is told that a newcomer cannot be reached. */
const MAX_INVITATIONS = 40

const newcomersOf = (step: Step, { members }: MemberChange): ParticipantId[] =>
  Object.keys(members)
    .map(Number)
    .filter(participant => !isMember(step, participant))

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

/** Numbers are used once: a machine that comes back gets a new one (rule M6). */
function isSet(step: Step, { members }: MemberChange): boolean {
  const { config } = step.context
  const numbers = Object.keys(members).map(Number)
  const highest = highestIn(config, step.state.durable.epoch)
  const isNumber = (number: number) =>
    isMember(step, number)
      ? members[number] === addressesIn(config, step.state.durable.epoch)[number]
      : Number.isInteger(number) && number > highest && number <= MAX_PARTICIPANT_NUMBER
  return numbers.length > 0 && numbers.length <= MAX_MEMBERS && numbers.every(isNumber)
}

/** It was made for the present set, and that set is another one than it wants. */
const isCurrent = (step: Step, change: MemberChange): boolean =>
  change.base === configIn(step.state.durable.epoch) && !isInForce(step, change)

/** By what it asks for, or by its name: what is done need not be done again. */
function isInForce(step: Step, { id, members }: MemberChange): boolean {
  const { epoch } = step.state.durable
  return epoch.set?.change === id || areSame(members, addressesIn(step.context.config, epoch))
}

const isReady = (step: Step, change: RequestedChange): boolean => absentOf(step, change).length === 0

const readyOf = ({ id, base, members, primed }: RequestedChange): ReadyChange => ({
  id,
  base,
  members,
  primed: { ...primed },
})

/** The change that this participant wants: the first one whose newcomers are ready. */
function wanted(step: Step): ReadyChange | null {
  const first = step.state.soft.changes.find(change => isCurrent(step, change) && isReady(step, change))
  return first === undefined ? null : readyOf(first)
}

/** Whether somebody here waits for a change that only the owner, or its successor, can bring about. */
export const wantsChange = (step: Step): boolean =>
  step.state.soft.changes.length > 0 && wanted(step) !== null

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

/** The newcomers that have not been brought up to date. */
const absentOf = (step: Step, change: RequestedChange): ParticipantId[] =>
  newcomersOf(step, change).filter(newcomer => change.primed[newcomer] === undefined)

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
 * Ends the epoch if this participant is the owner and a change is ready. It is not called once a step has sent
 * entries or acknowledgements, and does nothing in one that has appended: after the seal these are not sent.
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

/** The owner has to go: the token is for those that stay. `null`: it is for all. */
export function membersToBe(step: Step): Members | null {
  const { proposed } = step.state.soft
  if (proposed === null || step.now >= proposed.until) return null
  return proposed.change.members[step.context.config.self] === undefined ? proposed.change.members : null
}

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
    } else if (membership.status === 'removed')
      refuse(step, request, 'change-members', { code: 'elsewhere', epoch: epoch.epoch, ...present })
    else if (!isCurrent(step, change))
      refuse(step, request, 'change-members', { code: 'other-members', ...present })
    else return false
    return true
  }
  soft.changes = soft.changes.filter(change => !isSettled(change))
}

// ---------------------------------------------------------------- the decision

/** What a NEWEP says of changes. */
export function changeToPropose(step: Step): { readonly change?: ReadyChange } {
  const { soft } = step.state
  const change = (soft.changes.length > 0 ? wanted(step) : null) ?? soft.proposed?.change
  return change === undefined ? {} : { change }
}

/**
 * The members of the next epoch, and their incarnations. `senders` are those whose NEWEP is here. Without a
 * change that is possible, the members stay.
 */
export function composeMembers(
  step: Step,
  senders: readonly ParticipantId[],
  incarnations: Incarnations,
): { readonly set: MemberSet | undefined; readonly incarnations: Incarnations } {
  const { durable, soft } = step.state
  const change = senders
    .map(sender => soft.newEpochs[sender]!.change)
    .find(candidate => candidate !== undefined && isPossible(step, candidate, senders))
  if (change === undefined) return { set: durable.epoch.set, incarnations }
  const { id, members, primed } = change
  const numbers = Object.keys(members).map(Number)
  const highest = Math.max(highestIn(step.context.config, durable.epoch), ...numbers)
  const set = { members, config: durable.epoch.epoch + 1, highest, change: id }
  return { set, incarnations: only(members, { ...incarnations, ...primed }) }
}

function only(members: Members, incarnations: Incarnations): Incarnations {
  return Object.fromEntries(
    Object.entries(incarnations).filter(([participant]) => members[participant] !== undefined),
  )
}

/**
 * A set that was decided cannot be taken back, so a majority of it must be there: those that stay and are
 * here, and newcomers that have been brought up to date (rule M4).
 */
function isPossible(step: Step, change: ReadyChange, senders: readonly ParticipantId[]): boolean {
  const { joins } = step.state.soft
  if (!isCurrent(step, change) || !isSet(step, change)) return false
  const newcomers = newcomersOf(step, change)
  if (newcomers.some(newcomer => change.primed[newcomer] === undefined)) return false
  const staying = senders.filter(
    sender => change.members[sender] !== undefined && joins[sender] === undefined,
  )
  return staying.length + newcomers.length >= majority(Object.keys(change.members).length)
}
