/**
 * Holds what the clients were told against what is there at the end. A pure function: judge.test.ts breaks
 * records on purpose.
 */
import type { FenceRecord, FinalState, LockRecord, OperationRecord } from './record.ts'

export interface Verdict {
  readonly acknowledged: number
  /** Acknowledged, and not there or not in the place that its answer told. */
  readonly lost: readonly string[]
  readonly twice: readonly string[]
  /** There, although every answer promised that it would not be; or nobody ever asked for it. */
  readonly failedButApplied: readonly string[]
  /** Fences that two grants have, or that do not grow from operation to operation. */
  readonly fences: readonly string[]
  /** Operations that come in another order than their clients saw. */
  readonly disordered: readonly string[]
}

export function judgeRecord(record: LockRecord, state: FinalState): Verdict {
  const { lock, operations } = record
  const places = new Map<string, number>()
  const twice: string[] = []
  state.names.forEach((name, index) => {
    if (places.has(name)) twice.push(`${lock}: ${name} is there at ${places.get(name)} and at ${index + 1}`)
    else places.set(name, index + 1)
  })
  // The count is a second witness: an operation whose batch was applied by half shows here.
  if (state.count !== state.names.length)
    twice.push(`${lock}: counted ${state.count}, listed ${state.names.length}`)
  const lost: string[] = []
  let acknowledged = 0
  for (const { opId, told, place } of operations.values()) {
    if (told !== 'acknowledged') continue
    acknowledged++
    if (places.get(opId) !== place)
      lost.push(`${lock}: ${opId} was acknowledged at ${place}, found at ${places.get(opId) ?? 'no place'}`)
  }
  const failedButApplied = [...places.keys()]
    .filter(name => (operations.get(name)?.told ?? 'promised') === 'promised')
    .map(name => `${lock}: ${name} is there, but ${operations.has(name) ? 'was refused' : 'nobody asked'}`)
  return {
    ...{ acknowledged, lost, twice, failedButApplied },
    fences: judgeFences(record),
    disordered: judgeOrder(record),
  }
}

/**
 * Two grants never have the same fence, and fences grow along the serial order, which is that of the list.
 */
function judgeFences({ lock, operations, fences }: LockRecord): string[] {
  const wrong: string[] = []
  const byFence = new Map<number, FenceRecord>()
  for (const record of fences) {
    const other = byFence.get(record.fence)
    const areTwo = other !== undefined && other.grant !== null && record.grant !== null
    if (other !== undefined && (other.opId !== record.opId || (areTwo && other.grant !== record.grant)))
      wrong.push(`${lock}: ${record.fence} was given to ${other.opId} and to ${record.opId}`)
    if (other === undefined || other.grant === null) byFence.set(record.fence, record)
  }
  const applied = [...operations.values()].filter(({ fence }) => fence !== undefined)
  applied.sort((left, right) => left.place! - right.place!)
  for (const [index, { opId, fence }] of applied.entries()) {
    const before = applied[index - 1]
    if (before !== undefined && fence! <= before.fence!)
      wrong.push(`${lock}: ${fence} of ${opId} comes after ${before.fence} of ${before.opId}`)
  }
  return wrong
}

/** An operation that began after another one had been acknowledged has a later place. */
function judgeOrder({ lock, operations }: LockRecord): string[] {
  const wrong: string[] = []
  const acknowledged = [...operations.values()].filter(({ told }) => told === 'acknowledged')
  const ended = [...acknowledged].sort((left, right) => left.endedAt! - right.endedAt!)
  let next = 0
  let latest: OperationRecord | null = null
  for (const operation of acknowledged.sort((left, right) => left.startedAt - right.startedAt)) {
    for (; next < ended.length && ended[next]!.endedAt! < operation.startedAt; next++) {
      if (latest === null || ended[next]!.place! > latest.place!) latest = ended[next]!
    }
    if (latest !== null && operation.place! <= latest.place!)
      wrong.push(`${lock}: ${operation.opId} began after ${latest.opId} was acknowledged, and precedes it`)
  }
  return wrong
}
