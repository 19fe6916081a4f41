/** The views of a lock's participants put together: who holds it, who waits, and what that means. */
import type { ParticipantPlace } from '../../shared/api/configuration.ts'
import { explainLock, type LockSight } from '../../shared/api/explain-lock.ts'
import type { ParticipantView, StatusAnswer } from '../../shared/api/types.ts'
import { GUARDING_PROTOCOLS } from '../../shared/protocols/all.ts'
import type { HolderStatus, ParticipantStatus } from '../participant/calls.ts'
import type { Services } from './context.ts'
import type { Answers } from './handlers/locks.ts'

type Views = Answers<ParticipantStatus>

export function statusOf({ routing }: Services, lock: string, views: Views): StatusAnswer {
  const { protocol, participants, follow } = routing.configurationOf(lock)
  const described = participants.map(place => describeParticipant(place, views.get(place.id) ?? null))
  const sight: LockSight = {
    guardsState: GUARDING_PROTOCOLS.includes(protocol),
    participants: described.map(view => ({
      ...view,
      silentMs: routing.silentMs(lock, view.id),
      trouble: views.problems.get(view.id)?.detail,
    })),
    holder: holderSight(views),
    waiting: { count: waitingIn(views).count, forMs: longestWait(views) },
  }
  return {
    lock,
    protocol,
    generation: Math.max(1, ...[...views.values()].map(({ generation }) => generation ?? 1)),
    participants: described,
    holder: latestHolder([...views.values()]),
    waiting: waitingIn(views),
    ...(follow && { movedAt: latestMove(views) }),
    explanation: explainLock(sight),
  }
}

/** When the participants of a lock that follows its work last changed. */
function latestMove(views: Views): string | null {
  const times = [...views.values()].flatMap(({ movedAt }) => movedAt ?? [])
  return times.sort().at(-1) ?? null
}

function describeParticipant(
  { id, location }: ParticipantPlace,
  status: ParticipantStatus | null,
): ParticipantView {
  if (status === null) {
    const unknown = { phase: null, epoch: null, sequence: null, owner: null, queue: null, suspects: null }
    return { id, location, reachable: false, ...unknown }
  }
  const { phase, epoch, sequence, owner, queue, suspects } = status
  return { id, location, reachable: true, phase, epoch, sequence, owner, queue, suspects: [...suspects] }
}

/**
 * Two users may think that they hold the lock: one of them was forced out and does not know it yet, and has
 * the lower fence.
 */
export function latestHolder(statuses: readonly ParticipantStatus[]): HolderStatus | null {
  const holders = statuses.flatMap(({ holder }) => (holder === null ? [] : [holder]))
  return holders.reduce<HolderStatus | null>(
    (latest, holder) => (latest === null || holder.fence > latest.fence ? holder : latest),
    null,
  )
}

export function waitingIn(views: ReadonlyMap<number, ParticipantStatus>): StatusAnswer['waiting'] {
  const statuses = [...views.values()]
  const count = statuses.reduce((sum, { queue }) => sum + queue, 0)
  const times = statuses.flatMap(({ waitingSince }) => waitingSince ?? [])
  return { count, since: times.sort()[0] ?? null }
}

// ---------------------------------------------------------------- how long

/** By the clock of the participant that told both times: the others are not the same. */
function sinceThen({ now }: ParticipantStatus, then: string): number | null {
  return now === undefined ? null : Date.parse(now) - Date.parse(then)
}

function holderSight(views: Views): LockSight['holder'] {
  const holder = latestHolder([...views.values()])
  const status = holder === null ? undefined : views.get(holder.participant)
  if (holder === null || status === undefined) return null
  const { participant, owner, since, expiresAt } = holder
  const heldMs = sinceThen(status, since)
  return { participant, owner, heldMs, leftMs: -(sinceThen(status, expiresAt) ?? 0) }
}

function longestWait(views: Views): number | null {
  const waits = [...views.values()].flatMap(status =>
    status.waitingSince == null ? [] : (sinceThen(status, status.waitingSince) ?? []),
  )
  return waits.length === 0 ? null : Math.max(...waits)
}
