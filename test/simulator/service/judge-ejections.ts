/** An operator that names a fence forces out the holder that has it, and nobody else. */
import { violate } from '../violation.ts'
import { MOVING } from './plan-moves.ts'
import type { World } from './world.ts'

export function judgeEjections(world: World, lock: string): void {
  const { journal, histories } = world
  // Whoever is inside when a lock is deleted, or at a participant that is removed, is forced out as well.
  if (lock === MOVING || journal.deletes.some(seen => seen.lock === lock)) return
  const wishes = [
    ...journal.ejects.filter(eject => eject.lock === lock),
    ...journal.looks.filter(look => look.lock === lock && look.look === 'eject').map(anybody),
  ]
  for (const event of histories.eventsOf(lock, 1)) {
    if (event.type !== 'ejected' || event.reason !== 'operator') continue
    const isMeant = wishes.some(
      ({ fence, begunAt }) => begunAt <= event.at && (fence === null || fence === event.fence),
    )
    if (isMeant) continue
    violate('ejections', `${lock}: the holder with fence ${event.fence} was forced out, and nobody meant it`)
  }
}

const anybody = ({ begunAt }: { readonly begunAt: number }) => ({ fence: null, begunAt })
