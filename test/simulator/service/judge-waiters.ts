/**
 * Whoever was told by the participant that it named that the lock is not granted, or that its ticket is
 * withdrawn, waits no longer: the lock is not granted to it later.
 */
import type { HistoryEvent } from '../../../shared/history/events.ts'
import { violate } from '../violation.ts'
import type { Asked } from './asked.ts'
import type { World } from './world.ts'

type Grant = Extract<HistoryEvent, { type: 'crit' }>

/** As the history names them: by their first characters. */
const NAMED = 8

export function judgeWaiters(world: World, lock: string): void {
  const grants = grantsOf(world, lock)
  for (const asked of world.journal.asked.filter(one => one.lock === lock)) {
    const isMeant = waiterOf(asked)
    const { by, begunAt, answer } = asked
    if (isMeant === null || answer === null) continue
    world.counts.waitersRefused++
    const later = grants.find(grant => grant.at > answer.at && isMeant(grant))
    if (later === undefined) continue
    const who = `${by}, who asked at ${begunAt.toFixed(2)} and was told ${answer.status} at ${answer.at.toFixed(2)},`
    violate(
      'waiters',
      `${lock}: ${who} was given the lock at ${later.at.toFixed(2)} with fence ${later.fence}`,
    )
  }
}

function grantsOf(world: World, lock: string): Grant[] {
  const grants: Grant[] = []
  for (let generation = 1; generation <= world.latestGeneration(lock); generation++)
    for (const event of world.histories.eventsOf(lock, generation))
      if (event.type === 'crit') grants.push(event)
  return grants
}

/** Whose grant it would be; `null` if it was not refused, or not by the one participant that was asked. */
function waiterOf({ wanted, rest, body, answer }: Asked): ((grant: Grant) => boolean) | null {
  if (wanted === 'withdraw' && answer?.status === 204) {
    const [, participant, user] = /^([0-9]+)-(.*)$/.exec(rest) ?? []
    return user === undefined ? null : ({ user: name }) => name === `${participant}/${user.slice(0, NAMED)}`
  }
  if (wanted !== 'acquire' || body.at === undefined) return null
  const { code, outcome } = (answer?.body ?? {}) as { readonly code?: string; readonly outcome?: string }
  if (code !== 'locked' || outcome !== undefined) return null
  const { waiter, owner } = body as { readonly waiter?: string; readonly owner?: string }
  // What has a waiter has one for each request; the others are single requests of an owner of their own.
  if (waiter !== undefined) return ({ user }) => user.endsWith(`/${`w-${waiter}`.slice(0, NAMED)}`)
  return owner === undefined ? null : grant => grant.owner === owner
}
