/**
 * Users that were withdrawn. A withdrawal may be quicker than the `acquire` that it is about: when that comes
 * at last, nobody waits for its answer. So a withdrawn user is not let in for as long as a request can be on
 * its way. The oldest is forgotten when there are too many.
 */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { Storage } from './storage.ts'

const WITHDRAWN = '.withdrawn/'

export class Withdrawals {
  private readonly storage: Storage
  private readonly now: () => number
  /** When each was withdrawn, the oldest first. */
  private readonly times: Map<string, number>

  constructor(storage: Storage, now: () => number) {
    this.storage = storage
    this.now = now
    const known = storage
      .keysFrom(WITHDRAWN)
      .map(key => [key.slice(WITHDRAWN.length), storage.get(key) as number] as const)
    this.times = new Map(known.sort(([, left], [, right]) => left - right))
  }

  note(user: string): void {
    this.forget(user)
    const now = this.now()
    for (const [other, at] of this.times) {
      if (isRecent(at, now) && this.times.size < API_LIMITS.withdrawals) break
      this.forget(other)
    }
    this.times.set(user, now)
    this.storage.put(WITHDRAWN + user, now)
  }

  has(user: string): boolean {
    const at = this.times.get(user)
    return at !== undefined && isRecent(at, this.now())
  }

  /**
   * The lock was deleted, and the storage emptied in this turn. What was withdrawn may still come, and give
   * birth to the next lock of the name.
   */
  keep(): void {
    const now = this.now()
    for (const [user, at] of this.times) {
      if (isRecent(at, now)) this.storage.put(WITHDRAWN + user, at)
      else this.times.delete(user)
    }
  }

  private forget(user: string): void {
    if (this.times.delete(user)) this.storage.delete(WITHDRAWN + user)
  }
}

/** The clock may have been set back. */
const isRecent = (at: number, now: number): boolean => Math.abs(now - at) < API_LIMITS.withdrawnMs
