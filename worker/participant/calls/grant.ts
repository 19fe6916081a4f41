/** What a client does with its grant: operations, keep-alives, the release. */
import type { UserOutput } from '../../../shared/protocols/protocol.ts'
import type { ParticipantAnswer } from '../calls.ts'
import type { Operation } from '../core/member.ts'
import { type Call, type CallContext, deletion, done, iso, SETTLE_MS } from './context.ts'
import { AT_ONCE, ask, type Conversation } from './conversations.ts'
import { answerAgain, earlierResult, isStored } from './once.ts'
import { outcomeBody } from './outcome.ts'
import {
  deletedMeanwhile,
  opIdConflict,
  overProblem,
  refusalProblem,
  stateTooLarge,
  unconfirmed,
  unsettled,
} from './refusals.ts'

export function* operate(context: CallContext, call: Call<'ops'>): Conversation<ParticipantAnswer> {
  context.handovers.taken(call.user)
  const until = context.now() + SETTLE_MS
  const known = yield* earlierResult(context, call, until)
  if (known !== null) return isStored(known) ? answerAgain(known, {}) : known
  const event = yield* issue(context, call, until)
  if (event === 'too-much') return stateTooLarge
  return event?.type === 'outcome' ? outcomeAnswer(event) : notApplied(event, call.opId)
}

/**
 * `issue`, and what becomes of it. A grant has one operation at a time; further ones wait here for their
 * turn.
 */
export function* issue(
  context: CallContext,
  operation: Operation,
  until: number,
): Conversation<UserOutput | 'too-much' | null> {
  const { member } = context
  const { user, fence, opId, ops, thenExit } = operation
  // A refusal comes at once; one that comes later is for another call of the same user.
  const isAnswer = (event: UserOutput, isOwn: boolean) =>
    (event.type === 'outcome' && event.opId === opId && event.fence === fence) ||
    (event.type === 'ejected' && event.fence === fence) ||
    (event.type === 'refused' && event.event === 'issue' && isOwn)
  for (;;) {
    if (member.isTooMuch(operation)) return 'too-much'
    const say = { type: 'issue', user, fence, opId, operation: ops, ...(thenExit && { thenExit }) } as const
    const event = yield* ask({ key: user, say, until, isAnswer })
    if (event?.type !== 'refused' || event.refusal.code !== 'busy') return event
    const settled = yield* ask({ key: user, say: null, until, isAnswer: isSettled })
    if (settled === null) return null
  }
}

const isSettled = ({ type }: UserOutput): boolean => type === 'outcome' || type === 'ejected'

export function outcomeAnswer(event: Extract<UserOutput, { type: 'outcome' }>): ParticipantAnswer {
  const body = outcomeBody(event.result)
  return body === null ? opIdConflict : done(200, { sequence: event.sequence, ...body })
}

/** The answer to an operation that has no outcome. */
export function notApplied(event: UserOutput | null, opId: string): ParticipantAnswer {
  if (event?.type === 'ejected') return overProblem({ ...event }, opId)
  return event?.type === 'refused' ? refusalProblem(event.refusal, opId) : unsettled
}

export function* keepAlive(context: CallContext, call: Call<'keepalive'>): Conversation<ParticipantAnswer> {
  const { user, fence } = call
  const { member, configuration, handovers } = context
  handovers.taken(user)
  const ttlMs = call.ttlMs ?? member.holderNamed(user)?.ttlMs ?? configuration.ttlMs
  const say = { type: 'keep-alive', user, fence, ttlMs } as const
  const isAnswer = ({ type }: UserOutput) => type === 'kept' || type === 'refused'
  const event = yield* ask({ key: user, say, until: AT_ONCE, isAnswer })
  if (event?.type === 'kept')
    return (yield* loss(context, call)) ?? done(200, { expiresAt: iso(event.expiresAt) })
  return event?.type === 'refused' ? refusalProblem(event.refusal) : overProblem(null, undefined)
}

/** That the grant is over, if it ends while the holder waits for that. */
function* loss(
  context: CallContext,
  { user, fence, waitMs = 0 }: Call<'keepalive'>,
): Conversation<ParticipantAnswer | null> {
  if (waitMs === 0) return null
  const isAnswer = (event: UserOutput) =>
    (event.type === 'ejected' || event.type === 'rem') && event.fence === fence
  const isDeleted = deletion(context)
  const event = yield* ask({ key: user, say: null, until: context.now() + waitMs, isAnswer })
  if (event?.type === 'ejected') return overProblem({ ...event }, undefined)
  if (event?.type === 'rem') return overProblem({ fence, reason: 'released' }, undefined)
  if (isDeleted()) return deletedMeanwhile
  // It may have ended in the very turn in which the wait was over.
  const ending = context.member.view.endings.find(ended => ended.user === user && ended.fence === fence)
  return ending === undefined ? null : overProblem(ending, undefined)
}

export function* release(context: CallContext, call: Call<'release'>): Conversation<ParticipantAnswer> {
  const { user, fence } = call
  const isAnswer = (event: UserOutput) =>
    event.type === 'rem' || (event.type === 'refused' && event.event === 'exit')
  const isDeleted = deletion(context)
  for (;;) {
    const say = { type: 'exit', user, fence } as const
    const event = yield* ask({ key: user, say, until: context.now() + SETTLE_MS, isAnswer })
    if (event?.type === 'rem') return done(204, null)
    if (isDeleted()) return deletedMeanwhile
    if (event?.type !== 'refused') return unconfirmed
    if (event.refusal.code !== 'busy') return refusalProblem(event.refusal)
    const until = context.now() + SETTLE_MS
    const settled = yield* ask({ key: user, say: null, until, isAnswer: isSettled })
    if (isDeleted()) return deletedMeanwhile
    if (settled === null) return unconfirmed
  }
}
