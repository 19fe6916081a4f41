/**
 * What the clients of one lock were told, and by it what the lock owes them. Each operation counts and
 * appends its own name in one batch: so the final list says which operations were applied, in which order,
 * and how often.
 */
export interface OperationRecord {
  readonly opId: string
  /** When the first call with it began. */
  startedAt: number
  /** `promised`: every call so far ended with the promise that it is not applied and never will be. */
  told: 'acknowledged' | 'promised' | 'in-doubt'
  /** How often it was tried, each time perhaps under another grant. */
  attempts: number
  /** Its place in the list, as the answer told, and when. */
  place?: number
  endedAt?: number
  /** Under which it was applied, where that is certain. */
  fence?: number
}

export interface FenceRecord {
  readonly fence: number
  /** Under each grant one operation is tried. */
  readonly opId: string
  /**
   * Of an `acquire` or a session; `null` for a `transact`, which says under which fence its operation was
   * applied.
   */
  readonly grant: string | null
}

export interface LockRecord {
  readonly lock: string
  readonly operations: ReadonlyMap<string, OperationRecord>
  readonly fences: readonly FenceRecord[]
}

/** What a lock guards at the end. */
export interface FinalState {
  readonly names: readonly string[]
  readonly count: number
}

export class Recorder implements LockRecord {
  readonly lock: string
  readonly operations = new Map<string, OperationRecord>()
  readonly fences: FenceRecord[] = []

  constructor(lock: string) {
    this.lock = lock
  }

  begin(opId: string): OperationRecord {
    const known = this.operations.get(opId)
    if (known !== undefined) return known
    // Nothing was sent yet. The sender must say what came of it, so that silence is never taken for a
    // promise.
    const operation: OperationRecord = { opId, startedAt: Date.now(), told: 'promised', attempts: 0 }
    this.operations.set(opId, operation)
    return operation
  }

  acknowledge(operation: OperationRecord, place: number, fence: number | null): void {
    operation.told = 'acknowledged'
    operation.place = place
    operation.endedAt = Date.now()
    if (fence !== null) operation.fence = fence
  }

  /** A doubt stays: what one call promises says nothing about the call before. */
  refuse(operation: OperationRecord, outcome: string | undefined): void {
    if (operation.told === 'promised' && outcome !== 'not-applied') operation.told = 'in-doubt'
  }

  grant(fence: FenceRecord): void {
    this.fences.push(fence)
  }
}
