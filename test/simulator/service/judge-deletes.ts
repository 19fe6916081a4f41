/**
 * A lock ends when somebody has asked for it, and for the lock that was there then. What a client was told is
 * deleted stays deleted: whatever is asked for later belongs to a later lock.
 */
import { violate } from '../violation.ts'
import type { DeleteSeen, OperationCall } from './journal.ts'
import type { World } from './world.ts'

/** In which generation an operation was applied that a client was told of; `null`: in none. */
export type Attribution = (call: OperationCall) => number | null

/**
 * The latest generation that there can have been at this time: whoever ended the one before had begun to.
 * Two of them may have the same operation at the same place.
 */
export function latestAt(deletes: readonly DeleteSeen[], lock: string, time: number): number {
  const isEnding = (generation: number) =>
    deletes.some(seen => seen.lock === lock && seen.generation === generation && seen.begunAt <= time)
  let latest = 1
  while (isEnding(latest)) latest++
  return latest
}

export function judgeDeletes(world: World, lock: string, latest: number, attribute: Attribution): void {
  const deletes = world.journal.deletes.filter(seen => seen.lock === lock)
  for (let generation = 1; generation < latest; generation++) {
    if (!deletes.some(seen => seen.generation === generation))
      violate('deletes', `${lock}: generation ${generation} has ended, and nobody asked for that`)
  }
  for (const seen of deletes) if (seen.isDone) judgeFinality(world, seen, latest, attribute)
}

function judgeFinality(world: World, seen: DeleteSeen, latest: number, attribute: Attribution): void {
  const { lock, by, generation, endedAt } = seen
  // Where more was lost than may be, nobody may be left that knows, and the lock is down.
  if (latest <= generation && !world.losses.wereTooMany(lock))
    violate(
      'deletes',
      `${lock}: ${by} was told that generation ${generation} is deleted, and it is the latest`,
    )
  for (const call of world.journal.operations.filter(call => call.lock === lock)) {
    const { opId, word, begunAt } = call
    if (word !== 'applied' || begunAt <= endedAt) continue
    const applied = attribute(call)
    if (applied === null || applied > generation) continue
    const when = `asked for after ${by} was told that generation ${generation} is deleted`
    violate('deletes', `${lock}: ${opId} was ${when}, and was applied in generation ${applied}`)
  }
}
