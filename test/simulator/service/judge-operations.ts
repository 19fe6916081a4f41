/**
 * Applied is applied once and answered truly, `not-applied` never is, and the order of time is the order of
 * operations.
 */
import { equalJson } from '../../../shared/history/compare.ts'
import type { Json } from '../../../shared/json.ts'
import { majority } from '../../../shared/protocols/quorum.ts'
import { violate } from '../violation.ts'
import type { OperationCall } from './journal.ts'
import type { Truth } from './truth.ts'
import type { World } from './world.ts'

/** `isMeant`: the call may be about the generation of the lock that this is the truth of. */
export function judgeOperations(
  world: World,
  lock: string,
  truth: Truth,
  isMeant: (call: OperationCall) => boolean,
): void {
  const all = callsByOpId(world.journal.operations.filter(call => call.lock === lock))
  const calls = [...all.values()].flat().filter(isMeant)
  for (const [opId, meant] of callsByOpId(calls)) {
    judgeNotApplied(lock, opId, all.get(opId)!, truth)
    judgeOperation(world, lock, opId, meant, truth)
  }
  judgeStrangers(lock, new Set(world.journal.operations.map(({ opId }) => opId)), truth)
  judgeOrderOfTime(lock, calls)
}

function callsByOpId(calls: readonly OperationCall[]): Map<string, OperationCall[]> {
  const byOpId = new Map<string, OperationCall[]>()
  for (const call of calls) byOpId.set(call.opId, [...(byOpId.get(call.opId) ?? []), call])
  return byOpId
}

const timesInState = (truth: Truth, opId: string): number | null =>
  truth.final?.filter(id => id === opId).length ?? null

/**
 * `calls` are of all generations: one that was answered by a later lock may have been carried out by this one
 * first, and its answer lost.
 */
function judgeNotApplied(lock: string, opId: string, calls: readonly OperationCall[], truth: Truth): void {
  const entries = truth.entriesOf(opId)
  const isApplied = entries.length > 0 || (timesInState(truth, opId) ?? 0) > 0
  const appliedAt = truth.appliedAt(opId)
  // A call that began only after the operation was applied has not done it, and may be told so.
  const asked = calls.filter(({ begunAt }) => appliedAt === null || begunAt <= appliedAt)
  if (isApplied && asked.every(({ word }) => word === 'not-applied')) {
    violate(
      'not-applied',
      `${lock}: ${opId} was called not applied, and is applied at ${entries[0]?.sequence}`,
    )
  }
}

function judgeOperation(
  world: World,
  lock: string,
  opId: string,
  calls: readonly OperationCall[],
  truth: Truth,
): void {
  const inState = timesInState(truth, opId)
  if (inState !== null && inState > 1)
    violate('applied once', `${lock}: ${opId} is in the state ${inState} times`)
  for (const call of calls) {
    if (call.word !== 'applied') continue
    if (!isOnlyHeld(world, lock, opId, truth)) judgeApplied(lock, call, inState, truth)
  }
}

/** Of a lock that is down at the end: nobody has applied it, but it will be once the lock is up. */
export const isOnlyHeld = (world: World, lock: string, opId: string, truth: Truth): boolean =>
  truth.final === null && truth.entriesOf(opId).length === 0 && isHeldByMajority(world, lock, opId)

/**
 * Whether a majority has it in its log, on disk, or had it before it lost its storage, or its ledger and with
 * it what it had stored. Somebody must still have it: with that the lock comes up again, if it ever does.
 */
function isHeldByMajority(world: World, lock: string, opId: string): boolean {
  const members = world.losses.membersOf(lock)
  const isEntry = ([key, text]: [string, string]) =>
    key.startsWith('log/') && (JSON.parse(text) as { readonly opId?: string }).opId === opId
  const holders = [...world.objects.values()].filter(
    object => object.lock === lock && [...object.disk.durableRecords()].some(isEntry),
  )
  const { size: lost } = world.losses.lostOf(lock)
  return holders.length > 0 && holders.length + lost >= majority(members.length)
}

function judgeApplied(lock: string, call: OperationCall, inState: number | null, truth: Truth): void {
  const { opId, sequence, condition, results } = call
  const expected = condition === false ? 0 : 1
  if (inState !== null && inState !== expected) {
    violate(
      'acknowledged',
      `${lock}: ${opId} was acknowledged at ${sequence}, and is in the state ${inState} times`,
    )
  }
  const [first, ...again] = truth.entriesOf(opId)
  if (first === undefined)
    violate('acknowledged', `${lock}: ${opId} was acknowledged at ${sequence}, and nobody applied it`)
  if (![first, ...again].some(entry => entry.sequence === sequence)) {
    violate('acknowledged', `${lock}: ${opId} was acknowledged at ${sequence}, and is at ${first.sequence}`)
  }
  const result = truth.resultOf(first) as { readonly applied: boolean; readonly results: Json }
  if (result.applied !== condition || !equalJson(result.results, results ?? null)) {
    const [told, true_] = [JSON.stringify(results), JSON.stringify(result)]
    violate('results', `${lock}: ${opId} was answered with ${told}, a serial execution answers ${true_}`)
  }
}

/** Nothing is applied that nobody asked for. */
function judgeStrangers(lock: string, known: ReadonlySet<string>, truth: Truth): void {
  for (const { opId, sequence } of truth.order.entries) {
    if (!known.has(opId)) violate('strangers', `${lock}: ${opId} at ${sequence} was never asked for`)
  }
}

/** An operation that was asked for after another one had been acknowledged comes after it. */
function judgeOrderOfTime(lock: string, calls: readonly OperationCall[]): void {
  const seen = new Set<string>()
  const firsts = calls.filter(call => {
    const isFirst = !seen.has(call.opId)
    seen.add(call.opId)
    return isFirst && call.word === 'applied'
  })
  const byEnd = [...firsts].sort((left, right) => left.endedAt! - right.endedAt!)
  let latest: OperationCall | null = null
  let next = 0
  for (const call of [...firsts].sort((left, right) => left.begunAt - right.begunAt)) {
    for (; next < byEnd.length && byEnd[next]!.endedAt! < call.begunAt; next++) {
      const ended = byEnd[next]!
      if (latest === null || ended.sequence! > latest.sequence!) latest = ended
    }
    if (latest === null || latest.sequence! < call.sequence!) continue
    violate(
      'order of time',
      `${lock}: ${call.opId} (${call.sequence}) was asked for after ${latest.opId} (${latest.sequence}) was done`,
    )
  }
}
