/**
 * From one set of members to the next (rule M5), in the protocols with a log. Whoever learns of a new set,
 * old or new, asks its members whether they have everything from before it, until a majority of them is known
 * to have: only then nobody else is needed any more, and the operator is told. A participant that is not in
 * the set is removed for good. It helps those that are behind as long as it has to, and then keeps only a
 * tombstone.
 */
import type { ParticipantId, Refusal, UserInput } from '../protocol.ts'
import { majority } from '../quorum.ts'
import { refuse } from '../refusals.ts'
import type { Collecting } from '../step.ts'

export interface HandoverStep extends Collecting {
  readonly context: { readonly config: { readonly self: ParticipantId } }
  readonly state: {
    readonly soft: { readonly installed: ParticipantId[] }
    readonly durable: { readonly membership: { readonly status: string } }
  }
}

export interface HandoverRules<Step> {
  members(step: Step): readonly ParticipantId[]
  /** Whether a majority of the members is known to have everything. */
  isHandedOver(step: Step): boolean
  /** A member that does not have everything hears of the set, and asks for what it needs. */
  tell(step: Step, member: ParticipantId): void
  /** A majority has everything. */
  conclude(step: Step): void
}

export function createHandover<Step extends HandoverStep>(rules: HandoverRules<Step>) {
  const isRemoved = ({ state }: Step): boolean => state.durable.membership.status === 'removed'

  /** Whether this participant still has to find out that the new members are there. */
  function owesHandover(step: Step): boolean {
    const { status } = step.state.durable.membership
    return (status === 'member' || status === 'removed') && !rules.isHandedOver(step)
  }

  function sendHandover(step: Step): void {
    if (!owesHandover(step)) return
    for (const member of rules.members(step)) {
      const isKnown = step.state.soft.installed.includes(member)
      if (member !== step.context.config.self && !isKnown) rules.tell(step, member)
    }
  }

  /** This participant has everything from before the set, and has stored it. */
  function noteInstalled(step: Step, from: ParticipantId): void {
    const { installed } = step.state.soft
    if (rules.isHandedOver(step) || !rules.members(step).includes(from) || installed.includes(from)) return
    installed.push(from)
    concludeHandover(step)
  }

  function concludeHandover(step: Step): void {
    if (rules.isHandedOver(step)) return
    const others = step.state.soft.installed.length
    const installed = isRemoved(step) ? others : others + 1
    if (installed >= majority(rules.members(step).length)) rules.conclude(step)
  }

  return { owesHandover, sendHandover, noteInstalled, concludeHandover, isRemoved }
}

/** Whoever waits for an answer at a participant that was removed is sent on. */
export function refuseAll(
  step: Collecting,
  requests: { readonly request: string }[],
  event: UserInput['type'],
  refusal: Refusal,
): void {
  for (const { request } of requests.splice(0)) refuse(step, request, event, refusal)
}
