/**
 * What the clients of one lock were told, and by it what the lock owes them. Each operation counts and appends its own name
 * in one batch: so the final list says which operations were applied, in which order, and how often.
 */
export interface OperationRecord {
  readonly opId: string
  /** When the first call with it began. */
  readonly startedAt: number
  /** `promised`: every call so far ended with the promise that it is not applied and never will be. */
  told: 'acknowledged' | 'promised' | 'in-doubt'
  /** Its place in the list, as the answer told. */
  place?: number
}

export interface FenceRecord {
  readonly fence: number
  /** Whose it is: the same grant may be told of twice, two grants never have one fence. */
  readonly grant: string
  /** The grant was given at some moment between these two. */
  readonly from: number
  readonly to: number
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
    // Nothing was sent yet. Whoever sends it must say what came of it, so that silence is never taken for a promise.
    const operation: OperationRecord = { opId, startedAt: Date.now(), told: 'promised' }
    this.operations.set(opId, operation)
    return operation
  }

  acknowledge(operation: OperationRecord, place: number): void {
    operation.told = 'acknowledged'
    operation.place = place
  }

  /** A doubt stays: what one call promises says nothing about the call before. */
  refuse(operation: OperationRecord, outcome: string | undefined): void {
    if (operation.told === 'promised' && outcome !== 'not-applied') operation.told = 'in-doubt'
  }

  grant(fence: FenceRecord): void {
    this.fences.push(fence)
  }
}
