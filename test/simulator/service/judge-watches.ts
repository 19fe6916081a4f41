/**
 * A watcher is told every operation once, in the order in which it was applied; and each holder after those
 * before it, and that nobody is inside only after somebody was.
 */
import { violate } from '../violation.ts'
import { numberOf } from './histories.ts'
import { isOnlyHeld } from './judge-operations.ts'
import type { Truth } from './truth.ts'
import type { World } from './world.ts'

export function judgeWatches(world: World, lock: string, truth: Truth): void {
  judgeOperations(world, lock, truth)
  judgeHolders(world, lock)
}

function judgeHolders(world: World, lock: string): void {
  const grants = new Map<number, number>()
  for (const event of world.histories.eventsOf(lock, 1))
    if (event.type === 'crit') grants.set(event.fence, numberOf(event.participant))
  const streams = new Map<string, { highest: number; isHeld: boolean }>()
  for (const { by, sequence, participant, fence, lock: watched } of world.journal.watchedHolders) {
    if (watched !== lock) continue
    // Whoever resumes may have been told of a holder before.
    const last = streams.get(by) ?? { highest: -1, isHeld: true }
    if (fence === null && !last.isHeld)
      violate('watch', `${lock}: ${by} was told at ${sequence} that nobody holds it, though nobody did`)
    if (fence !== null && fence < last.highest)
      violate('watch', `${lock}: ${by} was told of fence ${fence} after ${last.highest}`)
    const at = fence === null ? undefined : grants.get(fence)
    if (at !== undefined && at !== participant)
      violate('watch', `${lock}: ${by} was told of fence ${fence} at ${participant}, and it is at ${at}`)
    streams.set(by, { highest: Math.max(last.highest, fence ?? -1), isHeld: fence !== null })
  }
}

function judgeOperations(world: World, lock: string, truth: Truth): void {
  const streams = new Map<string, { sequence: number; isSnapshot: boolean }>()
  for (const { by, sequence, opId, lock: watched } of world.journal.watched) {
    if (watched !== lock) continue
    const last = streams.get(by)
    streams.set(by, { sequence, isSnapshot: opId === null })
    if (opId === null) continue
    const entry = truth.order.bySequence.get(sequence)
    if (entry?.opId !== opId && !isOnlyHeld(world, lock, opId, truth))
      violate('watch', `${lock}: ${by} was told of ${opId} at ${sequence}, where ${entry?.opId} is`)
    if (last === undefined) continue
    if (sequence <= last.sequence) {
      violate('watch', `${lock}: ${by} was told of ${sequence} after ${last.sequence}`)
    }
    const missed = truth.order.entries.find(
      other => other.sequence > last.sequence && other.sequence < sequence && truth.isFirst(other),
    )
    if (missed !== undefined)
      violate('watch', `${lock}: ${by} was not told of ${missed.opId} at ${missed.sequence}`)
  }
}
