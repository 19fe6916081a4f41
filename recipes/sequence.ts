/**
 * Sequence numbers: 1, 2, 3 and so on, each given to one caller, in whatever region it is. One request for
 * each number, or for each block of numbers.
 */
import { abortedError } from '../client/error-factory.ts'
import type { Lock } from '../client/index.ts'
import { digestOf } from './digest.ts'
import { text, wholeNumber } from './options.ts'
import { notApplied } from './refusals.ts'

export interface SequenceOptions {
  /** The key that counts. Default: `sequence`. */
  readonly key?: string
  /**
   * How many numbers to take at a time, 1 to 1,000,000. Default: 1. With more, numbers are handed out without
   * asking, those of one client in order, and those that a client has not used when it ends are never used.
   */
  readonly block?: number
}

export interface NextOptions {
  /**
   * Names what the number is for, up to 64 characters: the same id again gives the same number, for as long
   * as the lock remembers it (the 10,000 operations after the first try). Not with blocks.
   */
  readonly id?: string
  readonly signal?: AbortSignal
}

/**
 * @example
 * const invoices = new Sequence(baton.lock('invoices'))
 * const number = await invoices.next({ id: order.id })
 */
export class Sequence {
  readonly #lock: Lock
  readonly #key: string
  readonly #keyDigest: string
  readonly #block: number
  #next = 1
  #last = 0
  #asking: Promise<void> | null = null

  constructor(lock: Lock, { key = 'sequence', block = 1 }: SequenceOptions = {}) {
    this.#lock = lock
    this.#key = text('key', key, 512)
    this.#keyDigest = digestOf(key)
    this.#block = wholeNumber('block', block, 1, 1_000_000)
  }

  /** If no answer comes, the error says that the outcome is unknown: that number may never be used. */
  async next({ id, signal }: NextOptions = {}): Promise<number> {
    if (this.#block === 1)
      return id === undefined ? this.#take({ signal }) : this.#takeFor(text('id', id, 64), signal)
    if (id !== undefined) throw new RangeError('an id needs a number of its own: leave out block')
    while (this.#next > this.#last) {
      if (signal?.aborted) throw abortedError(signal)
      // Whoever comes meanwhile waits for the same block. So nobody's signal ends the question itself.
      this.#asking ??= this.#takeBlock().finally(() => {
        this.#asking = null
      })
      await unlessAborted(this.#asking, signal)
    }
    return this.#next++
  }

  /**
   * The lock remembers a refusal as it remembers a number. So whoever asks again, and finds that nothing
   * stands against a number any more, asks by another name: the same one for all who ask again.
   */
  async #takeFor(id: string, signal: AbortSignal | undefined): Promise<number> {
    for (let refusals = 0; ; refusals++) {
      // An `opId` has no room for a whole key.
      const counter = refusals === 0 ? this.#keyDigest : `${this.#keyDigest}.${refusals}`
      const { applied, results } = await this.#count({ opId: `${counter}/${id}`, signal })
      if (applied) return results[0].value
      const { value } = await this.#lock.get(this.#key, { signal })
      const couldCount = value === null || (typeof value === 'number' && value < Number.MAX_SAFE_INTEGER)
      if (!couldCount) throw notApplied(results)
    }
  }

  async #takeBlock(): Promise<void> {
    this.#last = await this.#take({})
    this.#next = this.#last - this.#block + 1
  }

  async #take(options: { readonly signal?: AbortSignal | undefined }): Promise<number> {
    const { applied, results } = await this.#count(options)
    if (!applied) throw notApplied(results)
    return results[0].value
  }

  #count(options: { readonly opId?: string; readonly signal?: AbortSignal | undefined }) {
    return this.#lock.transact([{ increment: this.#key, by: this.#block }], options)
  }
}

/** The caller stops waiting; the work goes on. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work
  let onAbort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(abortedError(signal))
    signal.addEventListener('abort', onAbort)
  })
  try {
    await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
