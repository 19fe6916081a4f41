/**
 * `export`: one consistent point of everything that counts, for a lock elsewhere that goes on from there. It
 * goes in pages (../streams/exports.ts); whoever stops reading says so, or is no longer waited for.
 */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import { nextEpoch } from '../../../shared/birth/ending.ts'
import type { Json } from '../../../shared/json.ts'
import type { StoredResult } from '../../../shared/resource/replica.ts'
import type { ParticipantAnswer } from '../calls.ts'
import { type Call, type CallContext, done } from './context.ts'
import type { Conversation } from './conversations.ts'
import { catchUp } from './read.ts'
import { noMember } from './refusals.ts'

export interface ExportHead {
  readonly configuration: LockConfiguration
  /** A lock that is made from this begins in this epoch at the earliest, and after this place of the log. */
  readonly epoch: number
  readonly sequence: number
  readonly droppedThrough: number
}

export interface ExportPage {
  /** Of the first page. */
  readonly head?: ExportHead
  /** Whoever asks for the next page names the export by this. */
  readonly id: string
  readonly results: readonly StoredResult[]
  readonly cells: readonly { readonly cell: string; readonly value: Json }[]
  /** Where the next page begins; `null`: this was the last. */
  readonly next: number | null
}

/** The participant began anew, or too much happened meanwhile. */
export const exportGone: ParticipantAnswer = {
  type: 'problem',
  code: 'conflict',
  detail: 'The lock as it was is no longer there. Ask for another export.',
}

/** Whatever was answered before it was asked for is in it. */
export function* exportLock(context: CallContext, { page }: Call<'export'>): Conversation<ParticipantAnswer> {
  const { exports } = context
  if (page !== undefined) {
    if (page.next !== null) return exports.page(page.id, page.next)
    exports.end(page.id)
    return done(200, {})
  }
  const problem = yield* catchUp(context)
  if (problem !== null) return problem
  const { member } = context
  const { guarded, view } = member
  if (guarded === null) return noMember
  const { replica, committed } = guarded
  const length = Math.max(view.sequence, committed)
  const head: ExportHead = {
    configuration: member.configuration,
    epoch: nextEpoch(Math.max(view.epoch, member.engine.birth.value?.startEpoch ?? 0), length),
    sequence: committed,
    droppedThrough: replica.droppedThrough,
  }
  return exports.begin(head, replica)
}
