/** `export`: one consistent point of everything that counts, for a lock elsewhere that goes on from there. */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import { nextEpoch } from '../../../shared/birth/ending.ts'
import type { Json } from '../../../shared/json.ts'
import { resultOf, type StoredResult } from '../../../shared/resource/replica.ts'
import type { ParticipantAnswer } from '../calls.ts'
import { type CallContext, done } from './context.ts'
import type { Conversation } from './conversations.ts'
import { catchUp } from './read.ts'
import { noMember } from './refusals.ts'

export interface ExportBody {
  readonly configuration: LockConfiguration
  /** A lock that is made from this begins in this epoch at the earliest, and after this place of the log. */
  readonly epoch: number
  readonly sequence: number
  readonly droppedThrough: number
  readonly cells: readonly { readonly cell: string; readonly value: Json }[]
  readonly results: readonly StoredResult[]
}

/** Whatever was answered before it was asked for is in it. */
export function* exportLock(context: CallContext): Conversation<ParticipantAnswer> {
  const problem = yield* catchUp(context)
  if (problem !== null) return problem
  const { member, configuration } = context
  const { guarded, view } = member
  if (guarded === null) return noMember
  const { replica, committed } = guarded
  const length = Math.max(view.sequence, committed)
  const body: ExportBody = {
    configuration,
    epoch: nextEpoch(Math.max(view.epoch, member.engine.birth.value?.startEpoch ?? 0), length),
    sequence: committed,
    droppedThrough: replica.droppedThrough,
    cells: Object.entries(replica.cells).map(([cell, value]) => ({ cell, value })),
    results: replica.order.map(opId => resultOf(replica, opId)!),
  }
  return done(200, body as unknown as Json)
}
