/**
 * Locks in the shape of the Web Locks API (w3.org/TR/web-locks), for code that knows `navigator.locks`. What
 * differs:
 * - a lock can be lost while its callback runs. Then `request` rejects with an `AbortError`, as it does for a
 *   lock that was stolen. Beside name and mode, the callback gets the {@link Held}, with its fence and
 *   signal;
 * - `steal` forces the holder out (which needs a key for `eject`), and then waits behind those who wait
 *   already;
 * - `query` knows what this client holds and waits for; of other clients, how many hold or want the locks
 *   that it is asked about.
 */
import { AbortedError, type BatonError, ConflictError, NotFoundError, NotSupportedError } from './errors.ts'
import type { Held } from './held.ts'
import type { HoldOptions, Lock } from './lock.ts'
import type { Status } from './types.ts'

export type LockMode = 'exclusive' | 'shared'

export interface LockRequestOptions extends Pick<HoldOptions, 'ttlMs' | 'at' | 'confirm' | 'hearLoss'> {
  readonly mode?: LockMode
  /** Does not wait: the callback gets `null` if the lock is taken. */
  readonly ifAvailable?: boolean
  /** Forces the present holder out. */
  readonly steal?: boolean
  /** Ends the wait; once the lock is held it has no effect. */
  readonly signal?: AbortSignal | undefined
}

export interface GrantedLock {
  readonly name: string
  readonly mode: LockMode
  /** What this lock can do beyond: its fence, the state that it guards, a signal that it was lost. */
  readonly held: Held
}

export interface LockInfo {
  readonly name: string
  /** Not known of other clients. */
  readonly mode?: LockMode
  /** Of another client: the participant and the fence of its grant. Not known of those who wait. */
  readonly clientId?: string
}

export interface LockSnapshot {
  readonly held: readonly LockInfo[]
  readonly pending: readonly LockInfo[]
}

export interface QueryOptions {
  /** The service is asked about these locks; without it, nobody is asked. */
  readonly names?: readonly string[]
  readonly signal?: AbortSignal | undefined
}

type Callback<Granted, Result> = (lock: Granted) => Promise<Result> | Result

interface Request extends LockInfo {
  readonly mode: LockMode
  held: Held | null
}

export class Locks {
  readonly #lockNamed: (name: string) => Lock
  readonly #clientId: string
  readonly #requests = new Set<Request>()

  constructor(lockNamed: (name: string) => Lock, clientId: string) {
    this.#lockNamed = lockNamed
    this.#clientId = clientId
  }

  /**
   * Waits for the lock, however long that takes, runs the callback while the lock is held, and resolves with
   * the callback's result.
   *
   * @example
   * const left = await baton.locks.request('stock', async lock => sell(lock.held))
   * await baton.locks.request('cleanup', { ifAvailable: true }, lock => lock && cleanUp())
   */
  request<T>(name: string, callback: Callback<GrantedLock, T>): Promise<T>
  request<T>(
    name: string,
    options: LockRequestOptions & { readonly ifAvailable: true },
    callback: Callback<GrantedLock | null, T>,
  ): Promise<T>
  request<T>(
    name: string,
    options: LockRequestOptions & { readonly ifAvailable?: false },
    callback: Callback<GrantedLock, T>,
  ): Promise<T>
  async request<T>(
    name: string,
    first: LockRequestOptions | Callback<never, T>,
    second?: Callback<never, T>,
  ): Promise<T> {
    const [options, callback] = typeof first === 'function' ? [{}, first] : [first, second]
    const run = callback as Callback<GrantedLock | null, T>
    checkOptions(options)
    const { mode = 'exclusive' } = options
    const request: Request = { name, mode, clientId: this.#clientId, held: null }
    this.#requests.add(request)
    try {
      const held = await this.#acquire(name, options)
      if (held === null) return await run(null)
      request.held = held
      return await whileHeld(held, () => run({ name, mode, held }))
    } finally {
      this.#requests.delete(request)
    }
  }

  async query({ names = [], signal }: QueryOptions = {}): Promise<LockSnapshot> {
    const own = [...this.#requests]
    const held = own.filter(request => request.held !== null)
    const pending = own.filter(request => request.held === null)
    const found = await Promise.all(names.map(name => statusOf(this.#lockNamed(name), signal)))
    const others = found.filter(status => status !== null)
    return {
      held: [...held.map(describe), ...others.flatMap(status => holderOf(status, held))],
      pending: [...pending.map(describe), ...others.flatMap(status => othersWaiting(status, pending))],
    }
  }

  async #acquire(name: string, options: LockRequestOptions): Promise<Held | null> {
    const { ifAvailable, steal, signal, ...more } = options
    const lock = this.#lockNamed(name)
    if (ifAvailable) return lock.tryAcquire(more)
    if (steal) await forceOut(lock)
    try {
      return await lock.acquire({ ...more, waitMs: Number.POSITIVE_INFINITY, signal })
    } catch (error) {
      throw error instanceof AbortedError && signal?.aborted ? signal.reason : error
    }
  }
}

/** Rejects as soon as it is known that the lock is lost, whatever the callback does then. */
async function whileHeld<T>(held: Held, callback: () => Promise<T> | T): Promise<T> {
  const lost = new Promise<never>((_, reject) => {
    held.signal.addEventListener('abort', () => held.lost && reject(lostError(held.lost)))
  })
  lost.catch(() => {})
  let result: T
  try {
    result = await Promise.race([(async () => callback())(), lost])
  } finally {
    await held[Symbol.asyncDispose]()
  }
  if (held.lost !== undefined) throw lostError(held.lost)
  return result
}

function lostError(cause: BatonError): AbortedError {
  const detail = 'the lock was lost, or stolen'
  return new AbortedError({ code: 'aborted', status: 0, detail, retryable: false, cause })
}

/** `null`: nobody has used this lock yet, so nobody holds it or waits for it. */
async function statusOf(lock: Lock, signal?: AbortSignal): Promise<Status | null> {
  try {
    return await lock.status({ signal })
  } catch (error) {
    if (error instanceof NotFoundError && error.code === 'no_such_lock') return null
    throw error
  }
}

/** Ejects the present holder, and not one that follows it meanwhile. */
async function forceOut(lock: Lock): Promise<void> {
  const holder = (await statusOf(lock))?.holder ?? null
  if (holder === null) return
  try {
    await lock.eject({ fence: holder.fence })
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error
  }
}

/** Refuses what the standard refuses. */
function checkOptions({ mode, ifAvailable, steal, signal }: LockRequestOptions): void {
  if (signal?.aborted) throw signal.reason
  if (steal && ifAvailable) throw unsupported('steal and ifAvailable exclude each other')
  if (steal && mode === 'shared') throw unsupported('only an exclusive lock can be stolen')
  if (signal && (steal || ifAvailable))
    throw unsupported('a signal is for a wait: without steal or ifAvailable')
}

function unsupported(detail: string): NotSupportedError {
  return new NotSupportedError({ code: 'not_supported', status: 0, detail, retryable: false })
}

const describe = ({ name, mode, clientId }: Request): LockInfo => ({ name, mode, clientId: clientId! })

function holderOf({ lock, holder }: Status, own: readonly Request[]): LockInfo[] {
  const isOwn = ({ name, held }: Request) => name === lock && held?.fence === holder?.fence
  if (holder === null || own.some(isOwn)) return []
  return [{ name: lock, clientId: `participant ${holder.participant}, fence ${holder.fence}` }]
}

function othersWaiting({ lock, participants }: Status, own: readonly Request[]): LockInfo[] {
  const inAll = participants.reduce((sum, { queue }) => sum + (queue ?? 0), 0)
  const ours = own.filter(({ name }) => name === lock).length
  return Array.from({ length: Math.max(0, inAll - ours) }, () => ({ name: lock }))
}
