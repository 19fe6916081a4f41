/**
 * How far the locks of this name came that were deleted. The sequences of a lock begin anew with the next one
 * of its name, so a watcher that resumes with one of theirs must not be taken for one of the present lock.
 */
import type { Storage } from './storage.ts'

/** Kept when the lock is deleted. */
export const KEPT_OF_FORMER = '.ended-through'

/** Whoever only heard that a lock ended does not know how far it came. */
const UNKNOWN = 'unknown'

export class FormerLock {
  private readonly storage: Storage

  constructor(storage: Storage) {
    this.storage = storage
  }

  /** The lock has ended with this as its last sequence; `null`: that is not known here. */
  note(sequence: number | null): void {
    const before = this.storage.get(KEPT_OF_FORMER) ?? 0
    const isKnown = sequence !== null && typeof before === 'number'
    this.storage.put(KEPT_OF_FORMER, isKnown ? Math.max(before, sequence) : UNKNOWN)
  }

  /** Whether this sequence may be of a lock before this generation. */
  mayHave(sequence: number, generation: number): boolean {
    if (sequence === 0 || generation === 1) return false
    const through = this.storage.get(KEPT_OF_FORMER)
    return typeof through !== 'number' || sequence <= through
  }
}
