/**
 * A lock ends when somebody has asked for it, and for the lock that was there then. What a client was told is
 * deleted stays deleted: whatever is asked for later belongs to a later lock.
 */
import { violate } from '../violation.ts'
import type { DeleteSeen } from './journal.ts'
import type { World } from './world.ts'

/** In which generation an operation was applied at this place; `null`: in none. */
export type Attribution = (opId: string, sequence: number) => number | null

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
  if (latest <= generation)
    violate(
      'deletes',
      `${lock}: ${by} was told that generation ${generation} is deleted, and it is the latest`,
    )
  for (const { opId, sequence, word, begunAt } of world.journal.operations.filter(
    call => call.lock === lock,
  )) {
    if (word !== 'applied' || begunAt <= endedAt) continue
    const applied = attribute(opId, sequence!)
    if (applied === null || applied > generation) continue
    const when = `asked for after ${by} was told that generation ${generation} is deleted`
    violate('deletes', `${lock}: ${opId} was ${when}, and was applied in generation ${applied}`)
  }
}
