/**
 * A read shows the state at the place that the answer names; a linearizable read is as new as everything done
 * before it.
 */
import { equalJson } from '../../../shared/history/compare.ts'
import { entriesUpTo } from '../../../shared/history/serial-order.ts'
import { violate } from '../violation.ts'
import type { ReadSeen } from './journal.ts'
import type { Truth } from './truth.ts'
import type { World } from './world.ts'

export function judgeReads(world: World, lock: string, truth: Truth): void {
  const { reads, operations } = world.journal
  const ofLock = reads.filter(read => read.lock === lock)
  const done = operations.filter(call => call.lock === lock && call.word === 'applied')
  for (const read of ofLock) {
    judgeValue(lock, read, truth)
    if (read.consistency === 'local') continue
    const before = done.filter(({ endedAt }) => endedAt! < read.begunAt).map(call => call.sequence!)
    const earlier = ofLock
      .filter(({ consistency, endedAt }) => consistency === 'linearizable' && endedAt < read.begunAt)
      .map(({ sequence }) => sequence ?? 0)
    const least = Math.max(0, ...before, ...earlier)
    if (isOlderThan(read, least, truth)) {
      const what = `${read.by} read ${read.key} at ${read.sequence} after ${least} was known`
      violate('linearizable reads', `${lock}: ${what}`)
    }
  }
}

function judgeValue(lock: string, read: ReadSeen, truth: Truth): void {
  if (read.sequence === null || isUnrecorded(read.sequence, truth)) return
  const { value, revision } = truth.valueAt(read.key, read.sequence)
  if (revision === read.revision && equalJson(value, read.value)) return
  const [told, is] = [JSON.stringify(read.value), JSON.stringify(value)]
  violate('reads', `${lock}: ${read.by} read ${read.key} = ${told} at ${read.sequence}, where it is ${is}`)
}

/**
 * Of a lock that is down at the end: what was applied there last may be in the log of those that still have
 * it, and in no record.
 */
const isUnrecorded = (sequence: number, { final, order }: Truth): boolean =>
  final === null && sequence > (order.entries.at(-1)?.sequence ?? 0)

/**
 * Grants have places in the log too, and change nothing: only operations count. A key that was not there
 * tells no sequence: then it must not have been there.
 */
function isOlderThan(read: ReadSeen, least: number, truth: Truth): boolean {
  const { order } = truth
  if (read.sequence !== null) return entriesUpTo(order, read.sequence) < entriesUpTo(order, least)
  return truth.valueAt(read.key, least).revision > 0
}
