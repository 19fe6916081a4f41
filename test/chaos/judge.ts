/** Holds what the clients were told against what is there at the end. A pure function: judge.test.ts breaks records on purpose. */
import type { FenceRecord, FinalState, LockRecord } from './record.ts'

export interface Verdict {
  readonly acknowledged: number
  /** Acknowledged, and not there or not in the place that its answer told. */
  readonly lost: readonly string[]
  readonly twice: readonly string[]
  /** There, although every answer promised that it would not be; or nobody ever asked for it. */
  readonly failedButApplied: readonly string[]
  /** Fences that two grants have, or that do not grow with time. */
  readonly fences: readonly string[]
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
  return { acknowledged, lost, twice, failedButApplied, fences: judgeFences(record) }
}

/** A grant that began after another one had been told of must have a higher fence. */
function judgeFences({ lock, fences }: LockRecord): string[] {
  const wrong: string[] = []
  const byFence = new Map<number, FenceRecord>()
  for (const record of fences) {
    const other = byFence.get(record.fence)
    if (other !== undefined && other.grant !== record.grant)
      wrong.push(`${lock}: ${record.fence} was given to ${other.grant} and to ${record.grant}`)
    byFence.set(record.fence, record)
  }
  const told = [...fences].sort((left, right) => left.to - right.to)
  let next = 0
  let highest: FenceRecord | null = null
  for (const record of [...fences].sort((left, right) => left.from - right.from)) {
    while (next < told.length && told[next]!.to < record.from) {
      if (highest === null || told[next]!.fence > highest.fence) highest = told[next]!
      next++
    }
    if (highest !== null && record.fence <= highest.fence && record.grant !== highest.grant)
      wrong.push(`${lock}: ${record.fence} of ${record.grant} came after ${highest.fence} of ${highest.grant}`)
  }
  return wrong
}
