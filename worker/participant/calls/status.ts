/** What this participant knows of its lock, and of itself. */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { Json } from '../../../shared/json.ts'
import type { ParticipantAnswer, ParticipantStatus } from '../calls.ts'
import type { HistoryPage } from '../core/event-log.ts'
import { type Call, type CallContext, iso } from './context.ts'

export function status({ member, configuration, figures }: CallContext): ParticipantStatus {
  const { phase, epoch, sequence, owner, suspects, waiters, holders } = member.view
  const [holder] = holders
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
    holder:
      holder === undefined
        ? null
        : { participant: member.id, fence: holder.fence, expiresAt: iso(holder.expiresAt) },
  }
}

export function history({ events }: CallContext, call: Call<'history'>): HistoryPage {
  return events.historyPage(call.limit ?? API_LIMITS.historyLimit.default, call.cursor ?? null)
}

export function locked(context: CallContext): ParticipantAnswer {
  const { holder } = status(context)
  const more = holder === null ? {} : { more: { holder: holder as unknown as Json } }
  const why =
    holder === null
      ? 'it is held, or asked for, at another participant'
      : `it is held at participant ${holder.participant} until ${holder.expiresAt}, unless it is kept alive`
  return { type: 'problem', code: 'locked', detail: `The lock was not granted in time: ${why}.`, ...more }
}
