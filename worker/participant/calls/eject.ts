/** `eject`: an operator forces the present holder out, or the one with a certain fence. */
import type { GuardedState } from '../../../shared/protocols/protocol.ts'
import type { ParticipantAnswer } from '../calls.ts'
import { type Call, type CallContext, deletion, done, SETTLE_MS } from './context.ts'
import { ask, type Conversation } from './conversations.ts'
import { catchUp } from './read.ts'
import {
  anotherHolder,
  deletedMeanwhile,
  holderUnknown,
  notAllAnswered,
  refusalProblem,
  unconfirmed,
} from './refusals.ts'

export function* eject(context: CallContext, call: Call<'eject'>): Conversation<ParticipantAnswer> {
  const fence = call.fence ?? null
  const { member } = context
  if (fence !== null && member.guarded !== null) {
    const problem = hasHeardOf(member.guarded, fence) ? null : yield* catchUp(context)
    if (problem !== null) return problem
    // Checked and done in one turn: a user that is granted the lock later has a higher fence, and stays.
    const refusal = refusalToEject(context, fence)
    if (refusal !== null) return refusal
  }
  const isDeleted = deletion(context)
  const request = context.newRequest()
  const say = { type: 'eject', request, ...(fence !== null && { fence }) } as const
  const event = yield* ask({ key: request, say, until: context.now() + SETTLE_MS, isAnswer: () => true })
  if (event?.type === 'eject-done') return done(200, { epoch: event.epoch })
  if (isDeleted()) return deletedMeanwhile
  if (event?.type !== 'refused') return member.guarded === null ? notAllAnswered : unconfirmed
  return event.refusal.code === 'conflict' ? anotherHolder : refusalProblem(event.refusal)
}

/** Why the holder with this fence is not to be ejected from here; `null` if it is. */
function refusalToEject({ member }: CallContext, fence: number): ParticipantAnswer | null {
  const { guarded } = member
  if (guarded === null) return holderUnknown
  if (guarded.latestFence() === fence) return null
  // Only the owner knows of a grant that no majority has heard of yet.
  const isCertain = hasHeardOf(guarded, fence) || member.view.owner === member.id
  return isCertain ? anotherHolder : holderUnknown
}

/** Whether this participant knows of the grant with this fence, or of a later one. */
const hasHeardOf = (guarded: GuardedState, fence: number): boolean => (guarded.latestFence() ?? -1) >= fence
