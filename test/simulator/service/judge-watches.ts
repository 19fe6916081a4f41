/** A watcher is told every operation once, in the order in which it was applied. */
import { violate } from '../violation.ts'
import type { Truth } from './truth.ts'
import type { World } from './world.ts'

export function judgeWatches(world: World, lock: string, truth: Truth): void {
  const streams = new Map<string, { sequence: number; isSnapshot: boolean }>()
  for (const { by, sequence, opId, lock: watched } of world.journal.watched) {
    if (watched !== lock) continue
    const last = streams.get(by)
    streams.set(by, { sequence, isSnapshot: opId === null })
    if (opId === null) continue
    const entry = truth.order.bySequence.get(sequence)
    if (entry?.opId !== opId)
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
