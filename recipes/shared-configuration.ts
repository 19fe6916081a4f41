/**
 * A configuration that all regions share and follow: one value, changed as a whole, read from nearby, and
 * told to everybody who watches.
 */
import { ConflictError, type Json, type Lock, NotFoundError, systemClock } from '../client/index.ts'
import { change, read } from './change.ts'
import { text } from './options.ts'
import { notApplied } from './refusals.ts'

export interface ConfigurationOptions<Value> {
  /** The key that has it. Default: `configuration`. */
  readonly key?: string
  /** Checks a value that was read or is to be written; throws if it is none. Default: takes what it gets. */
  readonly parse?: (value: Json) => Value
}

export interface Configured<Value> {
  /** `null` if there is none yet. */
  readonly value: Value | null
  /** Grows with each change; 0 if there is none yet. */
  readonly revision: number
}

/**
 * @example
 * const flags = new SharedConfiguration<{ beta: boolean }>(baton.lock('flags'))
 * for await (const { value } of flags.watch({ signal })) apply(value)
 */
export class SharedConfiguration<Value extends Json = Json> {
  readonly #lock: Lock
  readonly #key: string
  readonly #parse: (value: Json) => Value

  constructor(lock: Lock, options: ConfigurationOptions<Value> = {}) {
    this.#lock = lock
    this.#key = text('key', options.key ?? 'configuration', 512)
    this.#parse = options.parse ?? (value => value as Value)
  }

  /** `local` is quicker, and may be older than what was set last. */
  async get(consistency: 'local' | 'linearizable' = 'linearizable'): Promise<Configured<Value>> {
    const { value, revision } = await this.#lock.get(this.#key, { consistency })
    return this.#configured(value, revision)
  }

  /**
   * Resolves with the new revision. With `ifRevision` it rejects with a `ConflictError` if somebody has
   * changed it meanwhile; 0 means that there must be none yet.
   */
  async set(value: Value, { ifRevision }: { readonly ifRevision?: number } = {}): Promise<number> {
    const put = { put: this.#key, value: this.#parse(value), ...(ifRevision !== undefined && { ifRevision }) }
    const { applied, results } = await this.#lock.transact([put])
    if (applied) return results[0].revision
    const refused = results[0] as { readonly error?: string; readonly revision?: number }
    if (refused.error !== 'revision_mismatch') throw notApplied(results)
    const detail = `somebody has changed it: it has revision ${refused.revision}`
    throw new ConflictError({
      ...{ code: 'conflict', status: 409, detail, retryable: false, outcome: 'not-applied' },
    })
  }

  /** Makes the new value from the present one; again, if somebody else was quicker. */
  async update(make: (value: Value | null) => Value): Promise<Value> {
    const { result } = await change<Value, Value>(this.#lock, this.#key, before => {
      const value = this.#parse(make(before === null ? null : this.#parse(before)))
      return { value, result: value }
    })
    return result
  }

  /**
   * The present value, and then each change, until the signal is aborted. It goes on by itself after a
   * disconnect. Whoever is slow may not see every change, but always the last.
   */
  async *watch({
    signal,
  }: {
    readonly signal?: AbortSignal
  } = {}): AsyncGenerator<Configured<Value>, void, undefined> {
    // The lock may be deleted and made again: then another value may have the same revision.
    let told: string | undefined
    const isNews = (value: Json, revision: number): boolean => {
      const before = told
      told = JSON.stringify([revision, value])
      return told !== before
    }
    while (!signal?.aborted) {
      const { value, revision, sequence } = await read<Json>(this.#lock, this.#key, signal)
      if (isNews(value, revision)) yield this.#configured(value, revision)
      try {
        for await (const [value, revision] of this.#changes(sequence, signal))
          if (isNews(value, revision)) yield this.#configured(value, revision)
        return
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error
        // Nobody has used the lock yet: there is nothing to watch.
        await systemClock.sleep(LOOK_AGAIN_MS, { signal })
      }
    }
  }

  async *#changes(
    since: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly [Json, number], void, undefined> {
    for await (const event of this.#lock.watch({ since, signal })) {
      if (event.type === 'holder') continue
      const changes = event.type === 'op' ? event.changes : event.entries
      const mine = changes.find(({ key }) => key === this.#key)
      if (mine !== undefined) yield 'deleted' in mine ? [null, 0] : [mine.value, mine.revision]
      else if (event.type === 'snapshot') yield [null, 0]
    }
  }

  #configured(value: Json, revision: number): Configured<Value> {
    return { value: revision === 0 ? null : this.#parse(value), revision }
  }
}

const LOOK_AGAIN_MS = 1_000
