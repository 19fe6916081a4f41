/**
 * `transact`: acquire, apply, release. The operation is issued in the very turn that brings the grant, and
 * the lock released in the step that brings the outcome (or after it, where the protocol cannot do that), so
 * that both travel with what the others are told anyway.
 */

import type { Json } from '../../../shared/json.ts'
import type { UserOutput } from '../../../shared/protocols/protocol.ts'
import { resultOf } from '../../../shared/resource/replica.ts'
import type { ParticipantAnswer } from '../calls.ts'
import { boundToConnection } from '../core/connections.ts'
import { type Call, type CallContext, done, patienceOf, SETTLE_MS } from './context.ts'
import { AT_ONCE, ask, type Conversation } from './conversations.ts'
import { issue, notApplied, outcomeAnswer } from './grant.ts'
import { answerAgain, earlierResult, isStored } from './once.ts'
import { refusalProblem, shareTaken, stateTooLarge } from './refusals.ts'
import { locked } from './status.ts'

/** The grant of a `transact` lasts as long as the call could. */
const TRANSACT_TTL_MS = 60_000

export function* transact(context: CallContext, call: Call<'transact'>): Conversation<ParticipantAnswer> {
  const { opId, ops } = call
  const { member } = context
  const waitMs = patienceOf(context, call.waitMs)
  const user = boundToConnection(call.user)
  const until = context.now() + waitMs + SETTLE_MS
  const leave = () => member.leave(user)

  const known = yield* earlierResult(context, call, until)
  if (known !== null && !isStored(known)) return known
  if (known?.fence !== undefined) return answerAgain(known, { fence: known.fence })

  if (!context.places.take(member.view.waiters, user, call.client))
    return { ...shareTaken, outcome: 'not-applied' }
  context.owners.note(user, call.owner)
  context.following.note(user, call.near)
  const entered = yield* ask({
    key: user,
    say: { type: 'try', user, ttlMs: TRANSACT_TTL_MS, waitMs },
    until: waitMs === 0 ? AT_ONCE : until,
    isAnswer: isEntry,
    whenGone: leave,
  })
  if (entered?.type === 'refused') return refusalProblem(entered.refusal, opId)
  if (entered?.type !== 'crit') {
    leave()
    return { ...locked(context), outcome: 'not-applied' } as ParticipantAnswer
  }

  const { fence } = entered
  const event = yield* issue(context, { user, fence, opId, ops, thenExit: true }, until)
  leave()
  if (event === 'too-much') return stateTooLarge
  return event?.type === 'outcome' ? transacted(context, event, fence) : notApplied(event, opId)
}

const isEntry = (event: UserOutput): boolean =>
  event.type === 'crit' || event.type === 'withdrawn' || (event.type === 'refused' && event.event === 'try')

/** Said again, it is answered with the fence of the first time too. */
function transacted(
  { member }: CallContext,
  event: Extract<UserOutput, { type: 'outcome' }>,
  ownFence: number,
): ParticipantAnswer {
  const answer = outcomeAnswer(event)
  if (answer.type !== 'done') return answer
  const { guarded } = member
  const fence = (guarded && resultOf(guarded.replica, event.opId)?.fence) ?? ownFence
  return done(200, { fence, ...(answer.body as { [member: string]: Json }) })
}
