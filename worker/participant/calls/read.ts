/** Reading the guarded state: as this participant has it, or linearizably. */
import type { ParticipantAnswer } from '../calls.ts'
import { type Call, type CallContext, deletion, SETTLE_MS } from './context.ts'
import { ask, type Conversation } from './conversations.ts'
import { readOne, readPage } from './reading.ts'
import { deletedMeanwhile, noMember, refusalProblem } from './refusals.ts'

export function* get(context: CallContext, call: Call<'get'>): Conversation<ParticipantAnswer> {
  const problem = call.consistency === 'local' ? null : yield* catchUp(context, READ_LOCALLY)
  if (problem !== null) return problem
  const { guarded } = context.member
  return guarded === null ? noMember : readOne(guarded.replica.cells, guarded.committed, call)
}

export function* list(context: CallContext, call: Call<'list'>): Conversation<ParticipantAnswer> {
  const problem = call.consistency === 'local' ? null : yield* catchUp(context, READ_LOCALLY)
  if (problem !== null) return problem
  const { guarded } = context.member
  return guarded === null ? noMember : readPage(guarded.replica.cells, guarded.committed, call)
}

const READ_LOCALLY = 'A read with consistency=local needs none.'

/** `null` once this replica has everything that was committed before; else why not, and what then. */
export function* catchUp(
  context: CallContext,
  advice = 'Nothing was done. Ask again.',
): Conversation<ParticipantAnswer | null> {
  const request = context.newRequest()
  const say = { type: 'read', request } as const
  const until = context.now() + SETTLE_MS
  const isDeleted = deletion(context)
  const event = yield* ask({ key: request, say, until, isAnswer: () => true })
  if (isDeleted()) return deletedMeanwhile
  if (event?.type === 'readable') return null
  if (event?.type === 'refused') return refusalProblem(event.refusal)
  context.member.engine.user({ type: 'cancel-read', request })
  return {
    type: 'problem',
    code: 'no_quorum',
    detail: `A majority of the participants did not answer in time. ${advice}`,
    retryAfterSeconds: 1,
  }
}
