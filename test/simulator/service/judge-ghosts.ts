/**
 * A grant that was waited for, and that its client never heard of because it had given up or was gone, is
 * over soon: the client withdraws it, or the participant ends it because nobody uses it. Where time and disks
 * misbehave, nobody can say how soon.
 */

import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { HistoryEvent } from '../../../shared/history/events.ts'
import { violate } from '../violation.ts'
import type { World } from './world.ts'

/** Of a user that its client has named. */
const NAMED = /^[0-9]+\/w-/
/** For the alarm, and for the step that ends it to be durable. */
const MARGIN_MS = 500

type Grant = Extract<HistoryEvent, { type: 'crit' }>

export function judgeGhosts(world: World, lock: string): void {
  const events = world.histories.eventsOf(lock, world.latestGeneration(lock))
  const told = new Set(world.journal.grants.filter(grant => grant.lock === lock).map(({ fence }) => fence))
  const hasWaited = (grant: Grant) => {
    const isTry = (event: HistoryEvent) => event.type === 'try' && event.user === grant.user
    return events.find(isTry)?.at !== grant.at
  }
  const isGhost = (event: HistoryEvent): event is Grant =>
    event.type === 'crit' && NAMED.test(event.user) && !told.has(event.fence) && hasWaited(event)
  for (const grant of events.filter(isGhost)) {
    world.counts.ghosts++
    const isEnd = (event: HistoryEvent) =>
      (event.type === 'rem' || event.type === 'ejected') &&
      event.participant === grant.participant &&
      event.fence === grant.fence
    const end = events.find(isEnd)
    const lastedMs = (end?.at ?? world.loop.now) - grant.at
    if (isOrderly(world) && lastedMs > API_LIMITS.untakenMs + MARGIN_MS)
      violate('ghosts', `${lock}: nobody was told of fence ${grant.fence}, and it lasted for ${lastedMs} ms`)
  }
}

const isOrderly = ({ plan }: World): boolean => plan.faults.length === 0 && plan.broken.length === 0
