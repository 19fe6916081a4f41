/**
 * What is known here about an `opId` before anything is done. A result that this replica remembers is the
 * answer, whoever holds the lock and whatever state the grant is in; so is that of an operation on its way in
 * the log, once it is applied. A replica that is behind may know neither: then the operation goes the normal
 * way, and its place in the log settles it.
 */
import type { Json } from '../../../shared/json.ts'
import { digest } from '../../../shared/resource/canonical.ts'
import { resultOf, type StoredResult } from '../../../shared/resource/replica.ts'
import type { ParticipantAnswer } from '../calls.ts'
import { type CallContext, done } from './context.ts'
import { ask, type Conversation, operationKey } from './conversations.ts'
import { outcomeBody } from './outcome.ts'
import { lockDeleted, noMember, opIdConflict, unsettled } from './refusals.ts'

interface Asked {
  readonly opId: string
  readonly ops: Json
}

/**
 * An operation on its way may be rolled back, and nobody says so: it is looked for again at this interval.
 */
const LOOK_AGAIN_MS = 500

/** `null`: nothing is known of it. */
export function* earlierResult(
  context: CallContext,
  { opId, ops }: Asked,
  until: number,
): Conversation<StoredResult | ParticipantAnswer | null> {
  const { engine } = context.member
  const { core, birth } = engine
  for (let isOnItsWay = false; ; isOnItsWay = true) {
    // Others may have applied it: that can no longer be seen here.
    if (isOnItsWay && engine.core !== core)
      return { ...(engine.birth.generation > birth.generation ? lockDeleted : noMember), outcome: 'unknown' }
    const { guarded } = context.member
    if (guarded === null) return noMember
    const { replica, onTheWay } = guarded
    const stored = resultOf(replica, opId)
    if (stored !== undefined) return stored.digest === digest(ops) ? stored : opIdConflict
    const entry = onTheWay().find(before => before.opId === opId)
    if (entry === undefined) return null
    if (digest(entry.operation) !== digest(ops)) return opIdConflict
    const now = context.now()
    if (now >= until) return unsettled
    const next = Math.min(until, now + LOOK_AGAIN_MS)
    yield* ask({ key: operationKey(opId), say: null, until: next, isAnswer: () => true })
  }
}

export const isStored = (known: StoredResult | ParticipantAnswer): known is StoredResult => 'result' in known

/** As it was answered when it was applied. `more`: what else that answer had. */
export function answerAgain(
  stored: StoredResult,
  more: { readonly [member: string]: Json },
): ParticipantAnswer {
  return done(200, { ...more, sequence: stored.sequence, ...outcomeBody(stored.result)! })
}
