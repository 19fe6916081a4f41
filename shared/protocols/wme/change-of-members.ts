/**
 * Changing the members of a lock (rules M1, M4, M6, M7, M9). An operator asks any member for another set.
 * That member invites those that are new, and they get a copy of everything there is (learner.ts). Once they
 * all have one, it asks the owner to end the epoch, and the decision of the epoch names the set of the next
 * one: a majority of the old members decides who the new ones are. If the owner is silent, the epoch ends
 * without it, as for any other need, and the NEWEPs carry the change to whoever proposes.
 *
 * A change is soft state. It names the set that it was made for, its `base`: a late or doubled one is of no
 * effect once there is another set. Which changes count, and what is decided, is here; how they come and go
 * is in change-requests.ts, and what follows the decision in handover.ts.
 */

import type { Members, ParticipantId } from '../protocol.ts'
import { MAX_ADDRESS_LENGTH, MAX_MEMBERS, MAX_PARTICIPANT_NUMBER } from '../protocol.ts'
import { majority } from '../quorum.ts'
import { addressesIn, areSame, configIn, highestIn, isMember, type MemberSet } from './members.ts'
import type { Incarnations } from './state.ts'
import type { Step } from './step.ts'

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

export const newcomersOf = (step: Step, { members }: MemberChange): ParticipantId[] =>
  Object.keys(members)
    .map(Number)
    .filter(participant => !isMember(step, participant))

// ---------------------------------------------------------------- which changes count

/** Numbers are used once: a machine that comes back gets a new one (rule M6). */
export function isSet(step: Step, { id, members }: MemberChange): boolean {
  const { config } = step.context
  const present = addressesIn(config, step.state.durable.epoch)
  const highest = highestIn(config, step.state.durable.epoch)
  const isNew = (number: number) =>
    Number.isInteger(number) && number > highest && number <= MAX_PARTICIPANT_NUMBER
  // A number is written in one way, or it would be two members.
  const isWritten = (number: string) => String(Number(number)) === number
  const isPlace = ([number, address]: [string, string]) =>
    present[number] === undefined ? isWritten(number) && isNew(Number(number)) : address === present[number]
  const places = Object.entries(members)
  const isShort = (text: string) => text.length <= MAX_ADDRESS_LENGTH
  return (
    places.length > 0 &&
    places.length <= MAX_MEMBERS &&
    [id, ...Object.values(members)].every(isShort) &&
    places.every(isPlace)
  )
}

/** It was made for the present set, and that set is another one than it wants. */
export const isCurrent = (step: Step, change: MemberChange): boolean =>
  change.base === configIn(step.state.durable.epoch) && !isInForce(step, change)

/** By what it asks for, or by its name: what is done need not be done again. */
export function isInForce(step: Step, { id, members }: MemberChange): boolean {
  const { epoch } = step.state.durable
  return epoch.set?.change === id || areSame(members, addressesIn(step.context.config, epoch))
}

export const isReady = (step: Step, change: RequestedChange): boolean => absentOf(step, change).length === 0

const readyOf = ({ id, base, members, primed }: RequestedChange): ReadyChange => ({
  id,
  base,
  members,
  primed: { ...primed },
})

/** The change that this participant wants: the first one whose newcomers are ready. */
export function wanted(step: Step): ReadyChange | null {
  const first = step.state.soft.changes.find(change => isCurrent(step, change) && isReady(step, change))
  return first === undefined ? null : readyOf(first)
}

/** Whether somebody here waits for a change that only the owner, or its successor, can bring about. */
export const wantsChange = (step: Step): boolean =>
  step.state.soft.changes.length > 0 && wanted(step) !== null

/** The newcomers that have not been brought up to date. */
export const absentOf = (step: Step, change: RequestedChange): ParticipantId[] =>
  newcomersOf(step, change).filter(newcomer => change.primed[newcomer] === undefined)

/** The owner has to go: the token is for those that stay. `null`: it is for all. */
export function membersToBe(step: Step): Members | null {
  const { proposed } = step.state.soft
  if (proposed === null || step.now >= proposed.until) return null
  return proposed.change.members[step.context.config.self] === undefined ? proposed.change.members : null
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
