/**
 * How operators' changes of the members come and go at the participant that was asked, whatever the protocol:
 * newcomers are invited until they answer, and the operator hears what became of its change. How a change is
 * made once its newcomers are there is the protocol's own business.
 */
import type { Context, ParticipantId, Refusal, UserInput } from '../protocol.ts'
import { refuse } from '../refusals.ts'
import { type Collecting, emit } from '../step.ts'
import {
  absentOf,
  isCurrent,
  isInForce,
  isSet,
  type MemberChange,
  type ReadyChange,
  type RequestedChange,
} from './changes.ts'
import { areSame, configIn, isIn, type OfSet, presentIn, sayMembers } from './sets.ts'

/** After so many invitations without an answer an operator is told that a newcomer cannot be reached. */
export const MAX_INVITATIONS = 40

export interface ChangingStep extends Collecting {
  readonly context: Context
  readonly state: {
    readonly soft: {
      changes: RequestedChange[]
      /** The set that the interpreter was told of. Absent: none since the start. */
      saidSet?: number
    }
  }
}

export interface ChangeRules<Step> {
  /** What says who the members are. */
  ofSet(step: Step): OfSet
  /** Whether this participant may invite others. */
  isMember(step: Step): boolean
  /** Whether a member of the present set has to come back before a change can name it (R16). */
  isAway?(step: Step, member: ParticipantId): boolean
  invite(step: Step, newcomer: ParticipantId): void
  /** There is something new to make known. */
  restartRepeats(step: Step): void
  /** Those that are members now need nobody else any more. */
  isHandedOver(step: Step): boolean
  /**
   * Rises from time to time, not before the changes that are tried now have had their chance: whether the
   * first ones can be made may depend on members that are away (rule M4). Absent: those that are ready can be
   * made.
   */
  turn?(step: Step): number
  /** Why this change can come to nothing here, such as `elsewhere`; `null`: it can still be made. */
  refusal(step: Step, change: RequestedChange): Refusal | null
}

type ChangeEvent = Extract<UserInput, { type: 'change-members' }>

export function createChangeRequests<Step extends ChangingStep>(rules: ChangeRules<Step>) {
  const refuseChange = (step: Step, { request }: { readonly request: string }, refusal: Refusal): void =>
    refuse(step, request, 'change-members', refusal)

  const isOpen = (step: Step, change: MemberChange): boolean =>
    isCurrent(step.context.config, rules.ofSet(step), change)

  function absent(step: Step, change: RequestedChange): ParticipantId[] {
    const { config } = step.context
    const ofSet = rules.ofSet(step)
    const isAway = (member: ParticipantId) => isIn(config, ofSet, member) && rules.isAway?.(step, member)
    return [...absentOf(config, ofSet, change), ...Object.keys(change.members).map(Number).filter(isAway)]
  }

  function onChangeMembers(step: Step, event: ChangeEvent): void {
    const { soft } = step.state
    const { request, id, base, members } = event
    if (soft.changes.some(change => change.request === request)) return
    const change: RequestedChange = { request, id, base, members, primed: {}, invitations: 0 }
    if (isOpen(step, change) && !isSet(step.context.config, rules.ofSet(step), change))
      return refuseChange(step, event, { code: 'no-such-members' })
    if (!takePlace(step, change)) return refuseChange(step, event, { code: 'too-many-waiters' })
    if (!rules.isMember(step) || !isOpen(step, change)) return
    rules.restartRepeats(step)
    invite(step, change)
  }

  /**
   * A change that cannot be made may be asked for again and again, by operators that have long gone, and so
   * may many different ones. If there is no room, the earliest request for a change that a later one asks for
   * as well gives way, so that every change is wanted as before; and otherwise the earliest change that is
   * not made yet (rule M7).
   */
  function takePlace(step: Step, change: RequestedChange): boolean {
    const { soft } = step.state
    const all = [...soft.changes, change]
    if (all.length > step.context.config.limits.waiters) {
      const laterOf = (one: RequestedChange) => all.findLast(other => isSameChange(one, other))!
      const repeated = all.find(one => laterOf(one) !== one)
      const earliest = repeated ?? soft.changes.find(one => isOpen(step, one))
      if (earliest === undefined) return false
      const { primed } = laterOf(earliest)
      Object.assign(primed, { ...earliest.primed, ...primed })
      all.splice(all.indexOf(earliest), 1)
      refuseChange(step, earliest, { code: 'too-many-waiters' })
    }
    soft.changes = all
    return true
  }

  function invite(step: Step, change: RequestedChange): void {
    change.invitations++
    for (const newcomer of absent(step, change)) rules.invite(step, newcomer)
  }

  /** The changes that wait for their newcomers. */
  const unready = (step: Step): RequestedChange[] =>
    step.state.soft.changes.filter(change => isOpen(step, change) && absent(step, change).length > 0)

  /** Called with the repeats: newcomers are invited again. */
  function repeatInvitations(step: Step): void {
    const { soft } = step.state
    for (const change of unready(step)) {
      if (change.invitations < MAX_INVITATIONS) {
        invite(step, change)
        continue
      }
      refuseChange(step, change, { code: 'not-reached', participants: absent(step, change) })
      soft.changes = soft.changes.filter(other => other !== change)
    }
  }

  /**
   * A newcomer has answered from this address, in this incarnation. Returns whether somebody here wants it to
   * be a member, and whether that is news.
   */
  function noteNewcomer(
    step: Step,
    newcomer: ParticipantId,
    address: string,
    incarnation: number,
    isPrimed: boolean,
  ): 'stranger' | 'invited' | 'primed' {
    const invited = step.state.soft.changes.filter(
      change => isOpen(step, change) && change.members[newcomer] === address,
    )
    if (invited.length === 0) return 'stranger'
    if (!isPrimed || invited.every(change => change.primed[newcomer] === incarnation)) return 'invited'
    for (const change of invited) change.primed[newcomer] = incarnation
    return 'primed'
  }

  const isReady = (step: Step, change: RequestedChange): boolean =>
    isOpen(step, change) && absent(step, change).length === 0

  /** The change that this participant wants now, of those whose newcomers are ready. */
  const wanted = (step: Step): ReadyChange | null => allWanted(step, 1)[0] ?? null

  /** All of them, each once. If they are more than this many, they take turns. */
  function allWanted(step: Step, most: number): ReadyChange[] {
    const byId = new Map<string, RequestedChange>()
    for (const change of step.state.soft.changes)
      if (!byId.has(change.id) && isReady(step, change)) byId.set(change.id, change)
    const ready = [...byId.values()]
    const first = ready.length > most ? ((rules.turn?.(step) ?? 0) * most) % ready.length : 0
    return [...ready.slice(first), ...ready.slice(0, first)].slice(0, most).map(readyOf)
  }

  /**
   * Called at the end of each step. A change is done when the members are those, and nobody else is needed
   * any more (rule M5).
   */
  function settleChanges(step: Step): void {
    const { soft } = step.state
    const { config } = step.context
    const ofSet = rules.ofSet(step)
    if (configIn(ofSet) !== (soft.saidSet ?? 0)) {
      soft.saidSet = configIn(ofSet)
      sayMembers(step, ofSet)
    }
    if (soft.changes.length === 0) return
    const isSettled = (change: RequestedChange): boolean => {
      const isDone = isInForce(config, ofSet, change)
      if (isDone && rules.isHandedOver(step)) {
        const { request } = change
        emit(step, { type: 'members-changed', request, ...presentIn(config, ofSet) })
        return true
      }
      const refusal = rules.refusal(step, change)
      if (refusal !== null) refuseChange(step, change, refusal)
      else if (!isDone && !isOpen(step, change))
        refuseChange(step, change, { code: 'other-members', ...presentIn(config, ofSet) })
      else return false
      return true
    }
    soft.changes = soft.changes.filter(change => !isSettled(change))
  }

  return {
    onChangeMembers,
    repeatInvitations,
    unready,
    noteNewcomer,
    wanted,
    allWanted,
    settleChanges,
  }
}

const isSameChange = (one: MemberChange, other: MemberChange): boolean =>
  one.id === other.id && one.base === other.base && areSame(one.members, other.members)

const readyOf = ({ id, base, members, primed }: RequestedChange): ReadyChange => ({
  id,
  base,
  members,
  primed: { ...primed },
})
