/** Counts what users of any protocol were told, so that a batch can prove that it happened. */
import type { UserOutput } from '../../../shared/protocols/protocol.ts'
import type { Counts } from '../counts.ts'
import type { Grant } from './conversations.ts'

export class LockCounts {
  readonly #counts: Counts
  /** The grant that ended in this step. */
  #left: Grant | null = null

  constructor(counts: Counts) {
    this.#counts = counts
  }

  /** `inside` already contains the grant. */
  entered({ participant }: Grant, inside: ReadonlySet<Grant>): void {
    if (inside.size > 1) this.#counts.readersTogether++
    if (this.#left?.participant === participant) this.#counts.localHandoffs++
  }

  left(grant: Grant): void {
    this.#left = grant
  }

  told(event: UserOutput): void {
    const counts = this.#counts
    if (event.type === 'membership-done') counts.groupChanges++
    if (event.type !== 'ejected') return
    counts.ejections++
    if (event.reason === 'suspected') counts.suspectedEjections++
    else if (event.reason === 'expired') counts.expiries++
    else counts.operatorEjections++
    if (event.pending !== undefined) counts.pendingAtEjection++
  }

  stepped(): void {
    this.#left = null
  }
}
