/**
 * Section 2: what all forms of the algorithm have in common: who goes first, what is noted when a REPLY is
 * deferred, and which answers count.
 */
import { isIn } from '../members/sets.ts'
import type { Mode, ParticipantId } from '../protocol.ts'
import type { RequestName } from './messages.ts'
import { deferredKey } from './records.ts'
import { isLower, isOutdated } from './section-6-4-numbers.ts'
import type { Deferred } from './state.ts'
import { incarnationOf, isActive, isMember, type Step, save, send } from './step.ts'

// ---------------------------------------------------------------- somebody else's request

/**
 * The decision table of 2.2, with names instead of node numbers (7.1), and readers that let readers pass
 * (6.6).
 */
export function defersTo(
  step: Step,
  from: ParticipantId,
  { request, mode }: { request: number; mode: Mode },
): boolean {
  const { own, group } = step.state.durable
  if (own.phase === 'idle') return false
  if (own.mode === 'shared' && mode === 'shared') return false
  if (isLower(step, own.request, request)) return true
  if (isLower(step, request, own.request)) return false
  return group.members[step.self]!.name < group.members[from]!.name
}

/** "Reply_Deferred[j] := TRUE". A request that arrives after its maker's next one does not replace it. */
export function defer(step: Step, from: ParticipantId, request: Deferred): void {
  const { deferred } = step.state.durable
  const noted = deferred[from]
  if (noted !== undefined && noted.request > request.request) return
  if (noted?.request === request.request && request.passed === null) return
  const { incarnation, mode, passed } = request
  const note: Deferred = { request: request.request, incarnation, mode, passed }
  deferred[from] = note
  save(step, deferredKey(from), note)
}

export function sendReply(step: Step, to: ParticipantId, { request, incarnation }: RequestName): void {
  send(step, to, { type: 'reply', request, incarnation })
}

/**
 * Whether the request is of a member's present life. A maker that is not in the group is told so (7.4). A
 * node that is on its way in does not know who is in the group, and lets everybody pass: it is not
 * requesting. A node that has left is needed by nobody, or it would not have left; a node that still asks it
 * has missed what happened since. But both remember whose life was over in the last group that they knew,
 * which no later group undoes. They may be the only ones that such a node still knows to ask.
 */
export function isValid(step: Step, maker: ParticipantId, { request, incarnation }: RequestName): boolean {
  if (isOutdated(step, request)) return false
  const { group, membership } = step.state.durable
  const known = group.members[maker]?.incarnation ?? -1
  if (isActive(step)) {
    if (known < incarnation) send(step, maker, { type: 'not-a-member', incarnation, known })
    return known === incarnation
  }
  // A node that the group's set does not name is over in every life, unless it is newer than that set.
  const isOut = group.set?.isReached === true && !isIn(step.context.config, group, maker)
  const last = isOut && maker <= group.set.highest ? incarnation : (group.gone[maker] ?? -1)
  if (last >= incarnation) send(step, maker, { type: 'not-a-member', incarnation, known: last })
  return last < incarnation && membership.status === 'joining'
}

// ---------------------------------------------------------------- one's own

export function ownName(step: Step): RequestName {
  return { request: step.state.durable.own.request, incarnation: incarnationOf(step) }
}

/**
 * The nodes whose REPLY is still outstanding. A node that has left the group, or was declared dead, need not
 * send one (7.3, 7.4).
 */
export function awaited(step: Step): ParticipantId[] {
  const { durable, soft } = step.state
  if (durable.own.phase !== 'requesting') return []
  return durable.own.asked.filter(peer => isMember(step, peer) && !soft.replies[peer] && !soft.dead[peer])
}

/**
 * Whether the message is about the present request. A REPLY to a request that was given up, or of an earlier
 * life, does not count.
 */
export function isOwn(step: Step, { request, incarnation }: RequestName): boolean {
  const { own } = step.state.durable
  return own.phase === 'requesting' && own.request === request && incarnation === incarnationOf(step)
}
