/** Whoever is told who holds a lock is told by the name that this holder came with. */
import type { HistoryEvent } from '../../../shared/history/events.ts'
import { isBoundToConnection } from '../../../worker/participant/core/connections.ts'
import { violate } from '../violation.ts'
import { numberOf } from './histories.ts'
import type { World } from './world.ts'

type Grant = Extract<HistoryEvent, { type: 'crit' }>

function* grantsOf(world: World, lock: string): Iterable<Grant> {
  for (let generation = 1; generation <= world.latestGeneration(lock); generation++)
    for (const event of world.histories.eventsOf(lock, generation)) if (event.type === 'crit') yield event
}

export function judgeHolders(world: World, lock: string): void {
  const told = world.journal.holders.filter(seen => seen.lock === lock)
  if (told.length === 0) return
  for (const event of grantsOf(world, lock)) {
    for (const { by, holder } of told) {
      if (holder.fence !== event.fence) continue
      world.counts.holdersTold++
      const isThere = holder.participant === numberOf(event.participant)
      // The name of one that is alone with its connection goes with the instance: it leaves itself, too.
      const isForgotten = holder.owner === undefined && isBoundToConnection(event.user.split('/').at(-1)!)
      const isTrue = isThere && (holder.owner === event.owner || isForgotten)
      if (isTrue) continue
      const [said, is] = [JSON.stringify(holder), JSON.stringify(event)]
      violate('holders', `${lock}: ${by} was told that the holder is ${said}, and it is ${is}`)
    }
  }
}
