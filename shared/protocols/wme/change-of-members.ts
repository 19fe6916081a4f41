/**
 * Changing the members of a lock (rules M1, M4, M6, M7, M9). An operator asks any member for another set.
 * That member invites those that are new, and they get a copy of everything there is (learner.ts). Once they
 * all have one, it asks the owner to end the epoch, and the decision of the epoch names the set of the next
 * one: a majority of the old members decides who the new ones are. If the owner is silent, the epoch ends
 * without it, as for any other need, and the NEWEPs carry the change to whoever proposes.
 *
 * A change is soft state. Which changes count is in ../members/; what is decided is here; how changes come
 * and go is in change-requests.ts, and what follows the decision in handover.ts.
 */
import type { Incarnations, ReadyChange } from '../members/changes.ts'
import * as changes from '../members/changes.ts'
import type { MemberSet } from '../members/sets.ts'
import type { Members, ParticipantId } from '../protocol.ts'
import { majority } from '../quorum.ts'
import { wanted } from './requested-changes.ts'
import type { Step } from './step.ts'

/** A change that the owner was asked for. */
export interface ProposedChange {
  readonly change: ReadyChange
  /** It counts as long as it is asked for: the participant that wants it repeats it. */
  readonly until: number
  /** How long the owner, if it has to go, waits for its user to leave. */
  readonly drainUntil: number
}

/** Whether somebody here waits for a change that only the owner, or its successor, can bring about. */
export const wantsChange = (step: Step): boolean =>
  step.state.soft.changes.length > 0 && wanted(step) !== null

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
  const highest = changes.highestAfter(step.context.config, durable.epoch, change)
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
  const { config } = step.context
  const { epoch } = step.state.durable
  const { joins } = step.state.soft
  if (!changes.isCurrent(config, epoch, change) || !changes.isSet(config, epoch, change)) return false
  if (changes.absentOf(config, epoch, change).length > 0) return false
  const newcomers = changes.newcomersOf(config, epoch, change)
  const staying = senders.filter(
    sender => change.members[sender] !== undefined && joins[sender] === undefined,
  )
  return staying.length + newcomers.length >= majority(Object.keys(change.members).length)
}
