/**
 * A refusal says who holds the lock, whichever participant refused: only the holder's own participant knows
 * what the holder calls itself, and since when. All are asked at once, but for those that were silent lately;
 * what nobody says in time is left out.
 */
import { lockedDetail } from '../../shared/api/locked.ts'
import type { Json } from '../../shared/json.ts'
import type { HolderStatus, ParticipantStatus } from '../participant/calls.ts'
import type { Services } from './context.ts'
import { askAll } from './handlers/locks.ts'
import { latestHolder, waitingIn } from './lock-status.ts'
import type { ProblemAnswer, Routed } from './routing.ts'

/** A round trip between any two places. Whoever is refused has waited already. */
const ASK_MS = 1_000

export async function tellHolder(services: Services, lock: string, answer: Routed): Promise<Routed> {
  if (answer.type !== 'problem' || answer.code !== 'locked') return answer
  const { routing, times } = services
  const views = await askAll<ParticipantStatus>(
    services,
    lock,
    ({ id }) => (routing.silentMs(lock, id) === undefined ? { type: 'status' } : null),
    Math.min(ASK_MS, times.statusMs),
  )
  return withHolder(answer, views)
}

function withHolder(answer: ProblemAnswer, views: ReadonlyMap<number, ParticipantStatus>): ProblemAnswer {
  const told = (answer.more?.holder ?? null) as unknown as HolderStatus | null
  const found = latestHolder([...views.values()])
  const holder = told !== null && (found === null || told.fence > found.fence) ? told : found
  const more = {
    ...answer.more,
    ...(holder !== null && { holder: holder as unknown as Json }),
    waiting: waitingIn(views) as unknown as Json,
  }
  return { ...answer, detail: lockedDetail(holder), more }
}
