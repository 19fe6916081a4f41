/** `import`: a part of what another lock was, as an operation of this one (shared/resource/import.ts). */

import { equalJson } from '../../../shared/history/compare.ts'
import type { Json } from '../../../shared/json.ts'
import type { UserOutput } from '../../../shared/protocols/protocol.ts'
import {
  finishOperation,
  PART_PUT_ASIDE,
  PARTS_MISSING,
  partOperation,
} from '../../../shared/resource/import.ts'
import { resultOf } from '../../../shared/resource/replica.ts'
import type { ParticipantAnswer } from '../calls.ts'
import { type Call, type CallContext, done, SETTLE_MS } from './context.ts'
import { ask, type Conversation } from './conversations.ts'
import { notApplied } from './grant.ts'

/** Whether anything was done with a lock but to import it. Whatever was imported is older than the lock. */
export const isUsed = (context: CallContext): boolean =>
  applied(context).some(({ opId, result }) => !isImport(opId, result))

/** Whether its import has said the last word, though the answer to it may have got lost. */
export const isComplete = (context: CallContext): boolean =>
  applied(context).some(({ opId, result }) => isImport(opId, result) && !equalJson(result, PARTS_MISSING))

/** Parts that are put aside are not remembered: of the import itself only its last operation is here. */
function applied({ member }: CallContext): { readonly opId: string; readonly result: Json }[] {
  const replica = member.guarded?.replica
  const imported = member.configuration.imported?.sequence
  if (replica === undefined || imported === undefined) return []
  return replica.order.flatMap(opId => {
    const { sequence, result } = resultOf(replica, opId)!
    return sequence > imported ? [{ opId, result }] : []
  })
}

/** Clients may call their operations what they like, but the results of theirs are other ones. */
const isImport = (opId: string, result: Json): boolean =>
  opId.startsWith(PREFIX) && (equalJson(result, PART_PUT_ASIDE) || equalJson(result, PARTS_MISSING))

const PREFIX = 'import/'

export const used: ParticipantAnswer = {
  type: 'problem',
  code: 'conflict',
  detail: 'Somebody has used the lock while it was being imported. It stays as it is.',
}

export const complete: ParticipantAnswer = {
  type: 'problem',
  code: 'conflict',
  detail: 'The import is complete. The lock stays as it is.',
  more: { isComplete: true },
}

export function* importPart(context: CallContext, call: Call<'import'>): Conversation<ParticipantAnswer> {
  const { user, fence, number, part, droppedThrough } = call
  // Whoever was faster has used an empty lock: what it was told must stay true.
  if ((number === 0 || part === null) && isUsed(context)) return used
  const opId = `${PREFIX}${user}/${number}`
  const operation = part === null ? finishOperation(number, droppedThrough) : partOperation(number, part)
  const say = { type: 'issue', user, fence, opId, operation } as const
  const isAnswer = (event: UserOutput) =>
    event.type === 'outcome' ||
    event.type === 'ejected' ||
    (event.type === 'refused' && event.event === 'issue')
  const until = context.now() + SETTLE_MS
  const event = yield* ask({ key: user, say, until, isAnswer })
  if (event?.type !== 'outcome') return notApplied(event, opId)
  if (equalJson(event.result, PARTS_MISSING))
    return { type: 'problem', code: 'conflict', detail: 'Parts of the export are missing.' }
  return done(200, { sequence: event.sequence })
}
