/**
 * One item of a work queue in the hands of a worker, until it is done, given back, or lost to another worker.
 */
import type { Json, KeyValueOp, Lock } from '../client/index.ts'
import { wholeNumber } from './options.ts'
import { failedOp, givenUp, notApplied } from './refusals.ts'
import { withTime } from './service-time.ts'

export const PREFIX = 'queue/'

/** As the state has it. */
export type Item = {
  readonly id: string
  readonly value: Json
  /** Until when a worker has it; 0 if none does. By the clock of a participant. */
  readonly until: number
  readonly deliveries: number
  /** Of the delivery that has it; 0 if none does. */
  readonly fence: number
}

/** In the order in which they were added. */
export const itemKey = (number: number): string => `${PREFIX}item/${String(number).padStart(16, '0')}`
/** Counts the items that are no longer there. */
export const GONE = `${PREFIX}gone`
export const keyOfId = (id: string): string => `${PREFIX}id/${id}`

export interface Delivered {
  readonly key: string
  readonly item: Item
  readonly revision: number
  readonly leaseMs: number
}

interface Answer {
  readonly applied: boolean
  readonly sequence: number
  readonly results: readonly object[]
}

/** An operation of this very worker may have changed the revision, and its answer got lost. */
const ROUNDS = 3

export class Delivery<Value extends Json = Json> {
  readonly id: string
  readonly value: Value
  /** 1 for the first delivery of this item. */
  readonly attempt: number
  /** Higher than that of every delivery before, of this item and of others. */
  readonly fence: number
  /** Aborted once it is known that another worker has the item, or has done it. */
  readonly signal: AbortSignal
  readonly #lock: Lock
  readonly #delivered: Delivered
  readonly #lost = new AbortController()
  #revision: number
  /** What this worker has said about it, if anything. */
  #end: 'done' | 'given back' | null = null
  /** The revision that a `done` without an answer was about: it may have been applied. */
  #doubt: number | null = null
  /** How often `done` was refused: the service remembers each refusal under its id, and the ops with it. */
  #refusals = 0
  #calls: Promise<unknown> = Promise.resolve()

  constructor(lock: Lock, delivered: Delivered) {
    const { item, revision } = delivered
    this.id = item.id
    this.value = item.value as Value
    this.attempt = item.deliveries
    this.fence = item.fence
    this.signal = this.#lost.signal
    this.#lock = lock
    this.#delivered = delivered
    this.#revision = revision
  }

  /**
   * The item is done, and the ops are applied to the state of the lock: both, or neither. Returns `false` if
   * the item is no longer this worker's: then nothing was applied. It may be repeated after a lost answer,
   * and after ops that were refused, also with others.
   */
  done(ops: readonly KeyValueOp[] = []): Promise<boolean> {
    const { key, item } = this.#delivered
    return this.#ifMine('done', revision => {
      const batch: readonly KeyValueOp[] = [
        { delete: key, ifRevision: revision },
        { delete: keyOfId(item.id) },
        { increment: GONE },
        ...ops,
      ]
      this.#doubt = revision
      return this.#lock.transact(batch, { opId: `done/${key.slice(-16)}/${revision}/${this.#refusals}` })
    })
  }

  /** Keeps the item for another `leaseMs`. Returns `false` if it is no longer this worker's. */
  extend(leaseMs = this.#delivered.leaseMs): Promise<boolean> {
    return this.#put(null, wholeNumber('leaseMs', leaseMs, 1_000, 600_000), this.fence)
  }

  /** Somebody else may have it, after so long. Returns `false` if it is no longer this worker's. */
  giveBack(inMs = 0): Promise<boolean> {
    return this.#put('given back', wholeNumber('inMs', inMs, 0, 24 * 3_600_000), 0)
  }

  #put(end: 'given back' | null, forMs: number, fence: number): Promise<boolean> {
    const { key, item } = this.#delivered
    return this.#ifMine(end, revision =>
      withTime(this.#lock, {}, (held, now) => {
        const value: Item = { ...item, until: now + forMs, fence }
        return held.apply([{ put: key, value, ifRevision: revision }])
      }),
    )
  }

  /** One call after the other: each needs the revision that the one before has made. */
  #ifMine(end: 'done' | 'given back' | null, call: (revision: number) => Promise<Answer>): Promise<boolean> {
    const turn = this.#calls.then(async () => {
      if (this.#end !== null) return this.#end === end
      const isAgain = end === 'done' && this.#doubt !== null
      if (isAgain) this.#revision = this.#doubt!
      for (let round = 1; round <= ROUNDS && (!this.signal.aborted || (isAgain && round === 1)); round++) {
        const { applied, sequence, results } = await call(this.#revision)
        if (end === 'done') this.#doubt = null
        if (applied) {
          this.#revision = sequence
          this.#end = end
          return true
        }
        if (end === 'done') this.#refusals++
        const { index, code } = failedOp(results)
        if (index !== 0 || code !== 'revision_mismatch') throw notApplied(results)
        await this.#look()
      }
      return false
    })
    this.#calls = turn.catch(() => {})
    return turn
  }

  /** Somebody has changed the item: this worker, with an answer that got lost, or another one. */
  async #look(): Promise<void> {
    const { value, revision } = await this.#lock.get<Item>(this.#delivered.key)
    if (value?.fence === this.fence) this.#revision = revision
    else this.#lost.abort(givenUp('another worker has this item, or has done it'))
  }
}
