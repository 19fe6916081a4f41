/** Whoever is told who holds a lock is told by the name that this holder came with. */
import { violate } from '../violation.ts'
import type { World } from './world.ts'

export function judgeHolders(world: World, lock: string): void {
  const told = world.journal.holders.filter(seen => seen.lock === lock)
  if (told.length === 0) return
  for (const event of world.histories.eventsOf(lock)) {
    if (event.type !== 'crit') continue
    for (const { by, holder } of told) {
      if (holder.fence !== event.fence) continue
      world.counts.holdersTold++
      const isTrue = holder.participant === event.participant && holder.owner === event.owner
      if (isTrue) continue
      const [said, is] = [JSON.stringify(holder), JSON.stringify(event)]
      violate('holders', `${lock}: ${by} was told that the holder is ${said}, and it is ${is}`)
    }
  }
}
