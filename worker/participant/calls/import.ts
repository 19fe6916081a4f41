/** `import`: a part of what another lock was, as an operation of this one (shared/resource/import.ts). */

import { equalJson } from '../../../shared/history/compare.ts'
import type { UserOutput } from '../../../shared/protocols/protocol.ts'
import { finishOperation, PARTS_MISSING, partOperation } from '../../../shared/resource/import.ts'
import type { ParticipantAnswer } from '../calls.ts'
import { type Call, type CallContext, done, SETTLE_MS } from './context.ts'
import { ask, type Conversation } from './conversations.ts'
import { notApplied } from './grant.ts'

export function* importPart(context: CallContext, call: Call<'import'>): Conversation<ParticipantAnswer> {
  const { user, fence, number, part, droppedThrough } = call
  const opId = `import/${user}/${number}`
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
