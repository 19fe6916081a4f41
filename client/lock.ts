/** One lock, by its name: everything that the service does with it. */
import { type AcquireOptions, acquireGrant } from './acquire.ts'
import { type Connection, LOCK_NAME, pathOf } from './connection.ts'
import { BadRequestError, type BatonError, ConflictError, LockedError } from './errors.ts'
import { GrantById } from './grant.ts'
import { Held } from './held.ts'
import { type HistoryOptions, historyPages, wholeHistory } from './history.ts'
import { outcomeOf, type TransactOptions, transact } from './operations.ts'
import type { KeyValue, ResourceTypes, TransactResult } from './ops.ts'
import { type Get, type GetOptions, getKey, type ListOptions, listAll, listKeys } from './reads.ts'
import type { Repeat } from './retry.ts'
import type { Schemas } from './schemas.ts'
import { Session } from './session.ts'
import type { ValueIn } from './state.ts'
import type { Call } from './transport.ts'
import type {
  ChangedMembers,
  Configuration,
  Entry,
  HistoryPage,
  LockExport,
  LockHistory,
  LockOptions,
  MembersChange,
  Membership,
  Page,
  Status,
  WatchEvent,
} from './types.ts'
import { type WatchOptions, watchLock } from './watch.ts'
import { writeJson } from './write-json.ts'

export interface HoldOptions extends AcquireOptions {
  /**
   * `false`: the grant ends when its time to live does, without keep-alives. `held.signal` is aborted a
   * little before that, also if something else (`lock.grant(id)`) keeps the grant alive.
   */
  readonly keepAlive?: boolean
  /**
   * The holder hears at once when it loses the lock, not only at the next keep-alive (after about a third of
   * the time to live): a request is under way all the time that the service answers as soon as the grant is
   * over. It costs what a watch does: the participant stays in memory meanwhile. A watch of this client on
   * the same lock does nearly the same without it: it tells when somebody else was given the lock.
   */
  readonly hearLoss?: boolean
}

export interface RunOptions extends HoldOptions {
  /**
   * Rejects with the reason (an `EjectedError` or `ExpiredError`) if the lock was lost before the callback
   * was done, even if the callback resolves; and if nobody can tell because the release does not get through.
   */
  readonly rejectIfLost?: boolean
}

export interface SignalOptions {
  readonly signal?: AbortSignal | undefined
}

export interface DeleteOptions extends SignalOptions {
  /** Whoever holds the lock is ejected. */
  readonly force?: boolean
}

export interface EjectOptions extends SignalOptions {
  readonly fence?: number
}

/**
 * Gives the token time to come from another region. Without it, only a lock whose token is nearby would ever
 * seem free.
 */
const TRY_WAIT_MS = 1_000

const MAY_HAVE_EJECTED = 'But an earlier request of this call got no answer, and may have ejected it.'
const MAY_STILL_DELETE = 'But an earlier request of this call got no answer, and may still delete the lock.'

/** `Resource` is the type of what the lock guards. Default: the built-in map. */
export class Lock<Resource extends ResourceTypes = KeyValue> {
  readonly name: string
  readonly #connection: Connection
  readonly #schemas: Schemas | undefined

  constructor(connection: Connection, name: string, schemas?: Schemas) {
    if (!LOCK_NAME.test(name)) {
      const detail = `the name of a lock matches ${LOCK_NAME.source}`
      throw new BadRequestError({ code: 'bad_request', status: 400, detail, retryable: false })
    }
    this.name = name
    this.#connection = connection
    this.#schemas = schemas
  }

  /**
   * Acquires the lock, runs the callback, releases the lock. Keeps the grant alive meanwhile. Resolves or
   * rejects exactly as the callback does (unless `rejectIfLost`): if the lock is lost on the way,
   * `held.signal` says so, and what the callback does with the lock from then on is refused.
   *
   * @example
   * const left = await lock.run({ waitMs: 5_000 }, async held => {
   *   const { applied, results } = await held.apply([{ increment: 'stock', by: -1 }])
   *   await ship({ fence: held.fence, signal: held.signal })
   *   return applied ? results[0].value : 0
   * })
   */
  run<T>(callback: (held: Held<Resource>) => Promise<T> | T): Promise<T>
  run<T>(options: RunOptions, callback: (held: Held<Resource>) => Promise<T> | T): Promise<T>
  async run<T>(
    first: RunOptions | ((held: Held<Resource>) => Promise<T> | T),
    second?: (held: Held<Resource>) => Promise<T> | T,
  ): Promise<T> {
    const [options, callback] = typeof first === 'function' ? [{}, first] : [first, second!]
    const held = await this.acquire(options)
    let result: T
    try {
      result = await callback(held)
    } catch (error) {
      await held[Symbol.asyncDispose]()
      throw error
    }
    if (!options.rejectIfLost) await held[Symbol.asyncDispose]()
    else {
      await held.release()
      if (held.lost !== undefined) throw held.lost
    }
    return result
  }

  /**
   * Acquires the lock and keeps it until it is released. Rejects with a `LockedError` if it is not granted in
   * time.
   *
   * @example
   * await using held = await lock.acquire({ waitMs: 60_000, signal })
   */
  async acquire(options: HoldOptions = {}): Promise<Held<Resource>> {
    const granted = await this.#connection.traced('acquire', this.name, async (connection, note) => {
      const granted = await acquireGrant(connection, this.name, options)
      const { participant, fence } = granted.grant
      note({ 'baton.participant': participant, 'baton.fence': fence, 'baton.outcome': 'granted' })
      return granted
    })
    return new Held(this.#connection, this.name, granted, { ...options, schemas: this.#schemas })
  }

  /** The same, but `null` if the lock is taken. Waits for a second unless `waitMs` says otherwise. */
  async tryAcquire(options: HoldOptions = {}): Promise<Held<Resource> | null> {
    try {
      return await this.acquire({ waitMs: TRY_WAIT_MS, ...options })
    } catch (error) {
      if (error instanceof LockedError) return null
      throw error
    }
  }

  /** A grant of this lock that was acquired elsewhere, by its id. Asks the service nothing. */
  grant(id: string): GrantById<Resource> {
    return new GrantById(this.#connection, this.name, id)
  }

  /**
   * Acquires the lock, applies the ops as one atomic operation and releases the lock, in one request.
   *
   * @example
   * const { applied } = await lock.transact([{ put: 'leader', value: 'me', ifRevision: 0 }])
   */
  async transact<const Batch extends readonly Resource['op'][]>(
    ops: Batch,
    options: TransactOptions = {},
  ): Promise<TransactResult<Batch, Resource>> {
    const { opId = this.#connection.newId() } = options
    await this.#schemas?.checkOps(ops)
    const answer = await this.#connection.traced('transact', this.name, async (connection, note) => {
      const answer = await transact(connection, this.name, ops, { ...options, opId })
      const { fence } = answer as { readonly fence: number }
      note({ 'baton.fence': fence, 'baton.outcome': outcomeOf(answer) })
      return answer
    })
    const checked = (await this.#schemas?.checkResults(ops, answer, opId)) ?? answer
    return checked as unknown as TransactResult<Batch, Resource>
  }

  /** The value of a key, and `null` with revision 0 if there is none. */
  readonly get: Get<Resource> = ((key: string, options: GetOptions = {}) =>
    this.#connection.traced('get', this.name, connection =>
      getKey(connection, this.name, key, options, this.#schemas),
    )) as Get<Resource>

  /** One page of the keys, in their order. */
  list<Value = ValueIn<Resource>>(options: ListOptions = {}): Promise<Page<Value>> {
    return this.#connection.traced('list', this.name, connection =>
      listKeys(connection, this.name, options, this.#schemas),
    )
  }

  /**
   * All keys, page by page. Each page is one moment of the state; from page to page it may change.
   *
   * @example
   * for await (const { key, value } of lock.entries({ prefix: 'user/' })) console.log(key, value)
   */
  entries<Value = ValueIn<Resource>>(
    options: ListOptions = {},
  ): AsyncGenerator<Entry<Value>, void, undefined> {
    return listAll(page => this.list<Value>(page), options)
  }

  /**
   * What is applied, who holds the lock, and that nobody does any more, as it happens. Goes on by itself
   * after a disconnect; each operation is told once, and a holder only if that is news. Ends when the signal
   * is aborted or the loop is left.
   *
   * @example
   * for await (const event of lock.watch({ since: 0, signal })) {
   *   if (event.type === 'op') console.log(event.sequence, event.changes)
   * }
   */
  watch(options: WatchOptions = {}): AsyncGenerator<WatchEvent, void, undefined> {
    return watchLock(this.#connection, this.name, options)
  }

  /**
   * A WebSocket that speaks the events of a user: `try`, `issue` and `exit` go, `crit`, `outcome`, `rem` and
   * `ejected` come. The grant lives as long as the socket: the session sends signs of life by itself. A
   * session also carries `transact` and `get`, which then cost no request of their own.
   */
  session({ at }: { readonly at?: number } = {}): Session<Resource> {
    const call = this.#connection.lasting('session', this.name)
    const { transport, openSocket, newId, clock } = call.connection
    const opened = openSocket(transport, { path: pathOf(this.name, 'session'), query: { at } })
    return new Session(opened, newId, clock, call, this.#schemas)
  }

  /**
   * How the lock and each of its participants are. A participant that is not reachable is reported as such.
   */
  status(options: SignalOptions = {}): Promise<Status> {
    return this.#repeatable('status', { method: 'GET', path: pathOf(this.name) }, options)
  }

  /** What the participants recorded, for the checker: all of it. It may be long. */
  history(options: SignalOptions = {}): Promise<LockHistory> {
    return wholeHistory(this.historyPages(options))
  }

  /** The same page by page, the oldest events first. */
  historyPages(options: HistoryOptions = {}): AsyncGenerator<HistoryPage, void, undefined> {
    return historyPages(this.#connection, this.name, options)
  }

  /**
   * Decides what the lock is made of, once. Rejects with a `ConflictError` if it is made of something else
   * already.
   */
  async configure(lockOptions: LockOptions, options: SignalOptions = {}): Promise<Configuration> {
    const call = { method: 'PUT', path: pathOf(this.name), body: writeJson(lockOptions) } as const
    return this.#repeatable('configure', call, options)
  }

  /**
   * Forces the present holder out. With a `fence` only the one that has it, and a `ConflictError` if that is
   * another one. Without, it is not repeated if the answer gets lost: by then there may be another holder.
   *
   * @example
   * const { holder } = await lock.status()
   * if (holder !== null && isStuck(holder)) await lock.eject({ fence: holder.fence })
   */
  async eject({ fence, signal }: EjectOptions = {}): Promise<{ readonly epoch: number }> {
    const call = {
      method: 'POST',
      path: pathOf(this.name, 'eject'),
      body: writeJson({ fence }),
    } as const
    if (fence === undefined) return this.#once('eject', call, signal)
    // The first request may have forced it out, and the second then found another holder, or none.
    return this.#doubtful('eject', call, signal, { refusal: ConflictError, doubt: MAY_HAVE_EJECTED })
  }

  /**
   * Deletes the lock with the state that it guards. Rejects with a `LockedError` while it is held, unless it
   * is forced, and with a `NotFoundError` if there is none. It deletes the lock that is there now: if an
   * answer gets lost and the request is repeated, a lock that was created meanwhile stays.
   */
  async delete({ force = false, signal }: DeleteOptions = {}): Promise<void> {
    const { generation } = await this.status({ signal })
    const path = `${pathOf(this.name)}?force=${force}&generation=${generation}`
    const call = { method: 'DELETE', path } as const
    // The first request may hold the lock by now, and end it.
    await this.#doubtful('delete', call, signal, { refusal: LockedError, doubt: MAY_STILL_DELETE })
  }

  /**
   * Everything that counts of this lock, at one point: for `importFrom` of a lock that does not exist yet,
   * here or at another service.
   */
  async export({ signal }: SignalOptions = {}): Promise<LockExport> {
    return this.#repeatable('export', { method: 'GET', path: pathOf(this.name, 'export') }, { signal })
  }

  /**
   * Makes this lock from an export. Rejects with a `ConflictError` if there is a lock of this name. Not
   * repeated if the answer gets lost: look at `status()` then.
   */
  async importFrom(exported: LockExport, { signal }: SignalOptions = {}): Promise<Configuration> {
    const path = pathOf(this.name, 'import')
    return this.#once('import', { method: 'POST', path, body: writeJson(exported) }, signal)
  }

  /**
   * Adds, removes or replaces a participant, or says which participants there are to be. It goes on after the
   * answer if `isDone` is `false`; the same call again, which changes nothing else, tells whether it is done.
   * Rejects with a `ConflictError` if another change came first: `more.participants` are those of now.
   *
   * @example
   * const { participants, isDone } = await lock.changeMembers({ replace: 2, location: 'apac' })
   */
  async changeMembers(change: MembersChange, { signal }: SignalOptions = {}): Promise<ChangedMembers> {
    const call = { method: 'POST', path: pathOf(this.name, 'participants'), body: writeJson(change) } as const
    const { status, body } = await this.#connection.traced('participants', this.name, connection =>
      connection.call(call, { repeat: 'always' }, signal),
    )
    return { ...(body as unknown as Membership), isDone: status !== 202 }
  }

  /** For calls that may be repeated, because doing one twice is the same as doing it once. */
  #repeatable<T>(name: string, call: Call, { signal }: SignalOptions): Promise<T> {
    return this.#send(name, call, 'always', signal)
  }

  #once<T>(name: string, call: Call, signal: AbortSignal | undefined): Promise<T> {
    return this.#send(name, call, 'never', signal)
  }

  /** Repeatable, but such a refusal of a later request does not say what came of those before it. */
  async #doubtful<T>(
    name: string,
    call: Call,
    signal: AbortSignal | undefined,
    { refusal, doubt }: { readonly refusal: typeof BatonError; readonly doubt: string },
  ): Promise<T> {
    let requests = 0
    const counted = () => {
      requests++
      return call
    }
    try {
      return await this.#send(name, counted, 'always', signal)
    } catch (error) {
      if (!(error instanceof refusal) || requests === 1) throw error
      throw error.with({ detail: `${error.detail} ${doubt}`, outcome: 'unknown' })
    }
  }

  async #send<T>(
    name: string,
    call: Call | (() => Call),
    repeat: Repeat,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const answer = await this.#connection.traced(name, this.name, connection =>
      connection.call(call, { repeat }, signal),
    )
    return answer.body as T
  }
}
