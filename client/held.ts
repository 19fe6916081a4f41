/** A lock while it is held: what its holder can do, and how it learns that it is the holder no longer. */
import type { Granted } from './acquire.ts'
import { type Connection, pathOf } from './connection.ts'
import {
  AbortedError,
  type BatonError,
  EjectedError,
  ExpiredError,
  GrantOverError,
  ReleasedError,
} from './errors.ts'
import { keepAlive } from './keep-alive.ts'
import { type ApplyOptions, applyUnderGrant, outcomeOf } from './operations.ts'
import type { BatchResult, KeyValue, ResourceTypes } from './ops.ts'
import { type Get, type GetOptions, getKey } from './reads.ts'
import type { Schemas } from './schemas.ts'
import type { Note } from './tracing.ts'
import type { Grant } from './types.ts'
import { writeJson } from './write-json.ts'

export interface HeldOptions {
  /** The time to live that was asked for. Default: what the grant says. */
  readonly ttlMs?: number | undefined
  /** `false`: the grant ends when its time to live does. */
  readonly keepAlive?: boolean | undefined
  readonly hearLoss?: boolean | undefined
  readonly mode?: 'exclusive' | 'shared' | undefined
  readonly schemas?: Schemas | undefined
}

const LONGEST_GUESS_MS = 30_000
const SHORTEST_TTL_MS = 1_000

/**
 * @example
 * await using held = await lock.acquire()
 * const { value, revision } = await held.get<number>('stock')
 * await held.apply([{ put: 'stock', value: (value ?? 0) - 1, ifRevision: revision }])
 */
export class Held<Resource extends ResourceTypes = KeyValue> implements AsyncDisposable {
  readonly grant: Grant
  /** Give it to what lies outside, which can then refuse a holder that comes late. */
  readonly fence: number
  /** Aborted once the grant is over, for whatever reason, which is the signal's `reason`: a `BatonError`. */
  readonly signal: AbortSignal

  readonly #connection: Connection
  readonly #lock: string
  readonly #path: string
  readonly #ttlMs: number
  readonly #schemas: Schemas | undefined
  readonly #over = new AbortController()
  #lost: BatonError | undefined
  #release: Promise<void> | undefined
  /** Settles when all operations so far have settled. */
  #operations: Promise<unknown> = Promise.resolve()

  constructor(connection: Connection, lock: string, { grant, isOld }: Granted, options: HeldOptions) {
    this.grant = grant
    this.fence = grant.fence
    this.signal = this.#over.signal
    this.#connection = connection
    this.#lock = lock
    this.#schemas = options.schemas
    this.#path = pathOf(lock, 'grants', grant.id)
    this.#ttlMs = options.ttlMs ?? timeToLive(grant, connection.clock.now())
    if (options.mode !== 'shared')
      connection.onGranted(lock, this.signal, fence => fence > this.fence && this.#doubt(options.ttlMs))
    const isLeftAlone = options.keepAlive === false
    const mustConfirm = grant.confirmMs !== undefined || isOld
    // A service of an earlier version does not say how long the grant lasts: then it is not guessed, either.
    if (isLeftAlone && !mustConfirm && (options.ttlMs ?? grant.ttlMs) === undefined) return
    keepAlive(connection, {
      ttlMs: this.#ttlMs,
      isOld,
      confirmMs: grant.confirmMs,
      sends: !isLeftAlone ? 'always' : mustConfirm ? 'once' : 'never',
      hearsLoss: options.hearLoss === true && !isLeftAlone,
      signal: this.signal,
      send: (timeoutMs, waitMs) => this.#keepAlive(options.ttlMs, timeoutMs, waitMs),
    }).then(reason => reason && this.#end(reason))
  }

  /** Why the grant is over, unless it still lives or was released. */
  get lost(): BatonError | undefined {
    return this.#lost
  }

  /**
   * Applies the ops as one atomic operation. Calls are sent one after the other, in order. Rejects with a
   * `GrantOverError` if the grant is over; its `outcome` says what became of the operation.
   *
   * @example
   * const { applied, results } = await held.apply([{ put: 'a', value: 1 }, { get: 'b' }])
   * if (applied) console.log(results[0].revision, results[1].value)
   */
  async apply<const Batch extends readonly Resource['op'][]>(
    ops: Batch,
    options: ApplyOptions = {},
  ): Promise<BatchResult<Batch, Resource>> {
    const opId = options.opId ?? this.#connection.newId()
    const schemas = this.#schemas
    const request = { opId, body: writeJson({ opId, ops }), signal: options.signal }
    // The service may know what became of an operation that has an id from before, even if the grant is over.
    const isNew = options.opId === undefined
    const isLate = this.#release !== undefined
    const turn = this.#operations.then(async () => {
      const over = this.#lost ?? (isLate ? releasedError() : undefined)
      if (isNew && over !== undefined) throw over.with({ opId, outcome: 'not-applied' })
      await schemas?.checkOps(ops)
      const answer = await this.#traced('apply', async (connection, note) => {
        const answer = await this.#endingWith(applyUnderGrant(connection, this.#path, request))
        note({ 'baton.outcome': outcomeOf(answer) })
        return answer
      })
      const checked = (await schemas?.checkResults(ops, answer, opId)) ?? answer
      return checked as unknown as BatchResult<Batch, Resource>
    })
    this.#operations = turn.catch(() => {})
    return turn
  }

  /** The value as it is now, and `null` with revision 0 if there is none. */
  readonly get: Get<Resource> = (async (key: string, options: GetOptions = {}) => {
    this.#mustBeHeld()
    const here = { at: this.grant.participant, ...options }
    return this.#traced('get', connection => getKey(connection, this.#lock, key, here, this.#schemas))
  }) as Get<Resource>

  /**
   * Releases the lock after the operations that are under way. Releasing a grant that is already over is no
   * error. A release that cannot be sent is one, and the grant then ends with its time to live.
   */
  release(): Promise<void> {
    this.#release ??= this.#releaseOnce()
    return this.#release
  }

  /** Never rejects: what goes wrong in here must not hide what went wrong before. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release().catch(() => {})
  }

  async #releaseOnce(): Promise<void> {
    await this.#operations
    if (this.#lost !== undefined) return
    this.#over.abort(releasedError())
    const { clock, retry } = this.#connection
    const until = clock.now() + Math.min(this.#ttlMs, retry.totalMs)
    try {
      const call = { method: 'DELETE', path: this.#path } as const
      await this.#traced('release', connection => connection.call(call, { repeat: 'always', until }))
    } catch (error) {
      if (!(error instanceof GrantOverError)) throw error
      // That it is released already may be the answer to a second request; the others were there first.
      if (error instanceof EjectedError || error instanceof ExpiredError) this.#lost = error
    }
  }

  #traced<T>(name: string, work: (connection: Connection, note: Note) => Promise<T>): Promise<T> {
    return this.#connection.traced(name, this.#lock, (connection, note) => {
      note({ 'baton.participant': this.grant.participant, 'baton.fence': this.fence })
      return work(connection, note)
    })
  }

  async #keepAlive(ttlMs: number | undefined, timeoutMs: number, waitMs: number): Promise<void> {
    const body = writeJson(waitMs === 0 ? { ttlMs } : { ttlMs, waitMs })
    const path = `${this.#path}/keepalive`
    const { signal } = this
    const call = { method: 'POST', path, body, timeoutMs, waitMs, signal } as const
    await this.#traced('keepAlive', async ({ transport }, note) => {
      try {
        await transport.request(call)
      } catch (error) {
        // The grant ended meanwhile, most often because it was released: nothing went wrong.
        if (!(error instanceof AbortedError)) throw error
        note({ 'baton.outcome': 'no-longer-needed' })
      }
    })
  }

  /** Somebody else seems to have been granted the lock: ask the service. */
  #doubt(ttlMs: number | undefined): void {
    this.#endingWith(this.#keepAlive(ttlMs, this.#ttlMs, 0)).catch(() => {})
  }

  async #endingWith<T>(call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (error) {
      if (error instanceof GrantOverError) this.#end(error)
      throw error
    }
  }

  #end(reason: BatonError): void {
    if (this.signal.aborted) return
    this.#lost = reason
    this.#over.abort(reason)
  }

  #mustBeHeld(): void {
    if (this.signal.aborted) throw this.signal.reason
  }
}

function releasedError(): ReleasedError {
  return new ReleasedError({ code: 'released', status: 0, detail: 'the lock was released', retryable: false })
}

/**
 * Taken from the grant, if the grant says. Otherwise it is guessed from when the grant ends, by the service's
 * clock. The guess keeps within harmless bounds: one keep-alive too many costs a request, and one too few
 * costs the lock.
 */
function timeToLive(grant: Grant, now: number): number {
  if (grant.ttlMs !== undefined) return grant.ttlMs
  const guess = Date.parse(grant.expiresAt) - now
  return Math.min(LONGEST_GUESS_MS, Math.max(SHORTEST_TTL_MS, Number.isNaN(guess) ? 0 : guess))
}
