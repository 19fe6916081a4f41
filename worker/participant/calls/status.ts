/** What this participant knows of its lock, and of itself. */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import { lockedDetail, notDeletedByForceDetail, notDeletedDetail } from '../../../shared/api/locked.ts'
import type { Json } from '../../../shared/json.ts'
import type { HolderStatus, ParticipantAnswer, ParticipantStatus } from '../calls.ts'
import type { HistoryPage } from '../core/event-log.ts'
import { type Call, type CallContext, iso } from './context.ts'

export function status(context: CallContext): ParticipantStatus {
  const { member, configuration, figures, owners } = context
  const { phase, epoch, sequence, owner, suspects, waiters } = member.view
  const waits = waiters.flatMap(({ user }) => owners.of(user)?.since ?? [])
  const { peerRequests, ...gauges } = figures()
  return {
    configuration,
    generation: member.engine.birth.generation,
    phase,
    epoch,
    sequence,
    owner,
    queue: waiters.length,
    suspects,
    peerRequests,
    measurements: member.measurements.report(),
    gauges: { ...gauges, stateWeight: member.stateWeight },
    holder: holderHere(context),
    waitingSince: waits.length === 0 ? null : iso(Math.min(...waits)),
    ...(configuration.follow && { movedAt: isoOrNull(context.following.changedAt) }),
    now: iso(context.now()),
  }
}

/** Of several readers, the first. */
export function holderHere({ member, owners }: Pick<CallContext, 'member' | 'owners'>): HolderStatus | null {
  const [holder] = member.view.holders
  if (holder === undefined) return null
  const { fence, expiresAt, ttlMs, user } = holder
  // Of one that came in before this was recorded it is known that it was in when its time began.
  const { since = expiresAt - ttlMs, owner } = owners.of(user) ?? {}
  return {
    participant: member.id,
    fence,
    expiresAt: iso(expiresAt),
    since: iso(since),
    ...(owner !== undefined && { owner }),
  }
}

/** What is told of the history is written: no crash takes it back. */
export function history({ events, flush }: CallContext, call: Call<'history'>): HistoryPage {
  flush()
  return events.historyPage(call.limit ?? API_LIMITS.historyLimit.default, call.cursor ?? null)
}

export const locked = (context: CallContext): ParticipantAnswer => heldProblem(context, lockedDetail)

/** The same of a `delete`. */
export const notDeleted = (context: CallContext, wasForced = false): ParticipantAnswer =>
  heldProblem(context, wasForced ? notDeletedByForceDetail : notDeletedDetail)

function heldProblem(context: CallContext, detailOf: typeof lockedDetail): ParticipantAnswer {
  const holder = holderHere(context)
  const more = holder === null ? {} : { more: { holder: holder as unknown as Json } }
  return { type: 'problem', code: 'locked', detail: detailOf(holder), ...more }
}

const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at))
