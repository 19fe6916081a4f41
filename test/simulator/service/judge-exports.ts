/**
 * An export is one point of the lock: the state is that of the place that it names, and everything that was
 * done before it was asked for is in it, with its result unless that was forgotten.
 */
import { equalJson } from '../../../shared/history/compare.ts'
import { entriesUpTo } from '../../../shared/history/serial-order.ts'
import type { Json } from '../../../shared/json.ts'
import { keyOfCell } from '../../../shared/resource/key-value.ts'
import { violate } from '../violation.ts'
import type { ExportSeen } from './journal.ts'
import type { Truth } from './truth.ts'
import type { World } from './world.ts'

export function judgeExports(world: World, lock: string, truth: Truth): void {
  for (const seen of world.journal.exports.filter(one => one.lock === lock)) {
    judgePoint(seen, truth)
    judgeNewness(world, seen, truth)
  }
}

function judgePoint({ lock, by, exported }: ExportSeen, truth: Truth): void {
  const { sequence, cells } = exported
  const keys = cells.map(({ cell }) => keyOfCell(cell))
  for (const [index, key] of keys.entries()) {
    const is = truth.valueAt(key, sequence) as unknown as Json
    if (!equalJson(cells[index]!.value as Json, is))
      violate(
        'exports',
        `${lock}: ${by} got ${JSON.stringify(cells[index])} at ${sequence}, where it is ${JSON.stringify(is)}`,
      )
  }
  const there = truth.keysAt(sequence)
  const missing = there.filter(key => !keys.includes(key))
  if (missing.length > 0) violate('exports', `${lock}: ${by} got no ${missing.join(', ')} at ${sequence}`)
}

function judgeNewness(world: World, { lock, by, begunAt, exported }: ExportSeen, truth: Truth): void {
  const { sequence, results, droppedThrough } = exported
  const remembered = new Set(results.map(({ opId }) => opId))
  for (const call of world.journal.operations) {
    const isBefore = call.lock === lock && call.word === 'applied' && call.endedAt! < begunAt
    if (!isBefore) continue
    if (entriesUpTo(truth.order, sequence) < entriesUpTo(truth.order, call.sequence!))
      violate('exports', `${lock}: ${by} got ${sequence} after ${call.sequence} was known`)
    if (call.sequence! > droppedThrough && !remembered.has(call.opId))
      violate(
        'exports',
        `${lock}: ${by} got no result of ${call.opId}, which was applied at ${call.sequence}`,
      )
  }
}
