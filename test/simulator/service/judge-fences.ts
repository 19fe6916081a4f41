/**
 * No fence is given twice, and a confirmed grant that was asked for after another one had been seen has the
 * higher fence.
 */
import { violate } from '../violation.ts'
import type { World } from './world.ts'

interface Seen {
  readonly fence: number
  readonly by: string
  /** A majority knew of it when it was given. */
  readonly isConfirmed: boolean
  readonly begunAt: number
  readonly endedAt: number
}

export function judgeFences(world: World, lock: string): void {
  const seen = seenOf(world, lock)
  const byFence = new Map<number, Seen>()
  for (const grant of seen) {
    const other = byFence.get(grant.fence)
    if (other !== undefined)
      violate('fences', `${lock}: ${other.by} and ${grant.by} were both given fence ${grant.fence}`)
    byFence.set(grant.fence, grant)
  }
  const byEnd = [...seen].sort((left, right) => left.endedAt - right.endedAt)
  let highest: Seen | null = null
  let next = 0
  for (const grant of [...seen].sort((left, right) => left.begunAt - right.begunAt)) {
    for (; next < byEnd.length && byEnd[next]!.endedAt < grant.begunAt; next++) {
      const ended = byEnd[next]!
      if (highest === null || ended.fence > highest.fence) highest = ended
    }
    // One that nobody else knew of may have been given by an owner that had been left behind: it is of no
    // use.
    if (!grant.isConfirmed || highest === null || highest.fence < grant.fence) continue
    violate(
      'fences',
      `${lock}: ${grant.by} was given fence ${grant.fence} after ${highest.by} had ${highest.fence}`,
    )
  }
}

/** A `transact` that was asked for again is answered with its first fence. */
function seenOf({ journal }: World, lock: string): Seen[] {
  const grants = journal.grants
    .filter(grant => grant.lock === lock)
    .map(({ fence, by, isConfirmed, begunAt, at }) => ({ fence, by, isConfirmed, begunAt, endedAt: at }))
  const asked = new Set<string>()
  const again = new Set<string>()
  for (const { opId } of journal.operations) {
    if (asked.has(opId)) again.add(opId)
    asked.add(opId)
  }
  const transacts = journal.operations
    .filter(call => call.lock === lock && call.fence !== undefined && !again.has(call.opId))
    .map(({ fence, opId, begunAt, endedAt }) => {
      return { fence: fence!, by: opId, isConfirmed: true, begunAt, endedAt: endedAt! }
    })
  return [...grants, ...transacts]
}
