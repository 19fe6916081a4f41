/**
 * A session: the paper's user-stub events over a WebSocket. The session sends signs of life by itself, so the
 * grant lives as long as the socket. It also ends with the socket, so a session that breaks is not made
 * again: its user must know that the grant is over.
 */
import type {
  PING as ServicePing,
  PONG as ServicePong,
  SessionEvent,
  SessionProbe,
} from '../shared/api/session.ts'
import type { Json } from '../shared/json.ts'
import type { Clock } from './clock.ts'
import { type LastingCall, LONGEST_WAIT_MS } from './connection.ts'
import { networkError, timeoutError, tooLong } from './error-factory.ts'
import { BatonError, LockedError } from './errors.ts'
import type { ApplyOptions, TransactOptions } from './operations.ts'
import type { ResourceTypes, TransactResult } from './ops.ts'
import type { Get, GetOptions } from './reads.ts'
import type { Schemas } from './schemas.ts'
import { getName, SessionCalls, transactName } from './session-calls.ts'
import type { Read } from './types.ts'
import { writeJson } from './write-json.ts'

/**
 * The service's words, repeated here: importing them would bring the service's schemas along. The types keep
 * them equal.
 */
const PING: typeof ServicePing = 'ping'
const PONG: typeof ServicePong = 'pong'

export type { SessionEvent }

/** The part of a `WebSocket` that is used here. */
export interface Socket {
  send(data: string): void
  close(code?: number, reason?: string): void
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: { readonly data?: unknown }) => void,
  ): void
}

export interface OpenedSocket {
  readonly socket: Socket
  /** It will say `open`; until then nothing can be sent. */
  readonly isOpening: boolean
}

export interface TryOptions {
  /** How long to wait for the lock; without it, as long as the socket is open. */
  readonly waitMs?: number
  readonly ttlMs?: number
  readonly confirm?: boolean
  /** What you call yourself, up to 128 characters: others that look at the lock are told. */
  readonly owner?: string
}

/** How long an answer may take that does not wait for the lock. */
const ANSWER_MS = 15_000
/** So many in a row: then the service is gone. */
const UNHEARD_PINGS = 4
const DEFAULT_WAIT_MS = 10_000
/** The service reads no longer message, so nobody would hear what became of it. */
const MAX_MESSAGE_LENGTH = 2 * 1024 * 1024

/**
 * Besides the events there are calls: `transact` and `get` are answered to whoever called them, and their
 * answers are not among the events.
 *
 * @example
 * await using session = lock.session()
 * session.try()
 * for await (const event of session) {
 *   if (event.type === 'crit') session.issue([{ increment: 'n' }])
 *   if (event.type === 'outcome') session.exit()
 *   if (event.type === 'rem' || event.type === 'ejected') break
 * }
 */
export class Session<Resource extends ResourceTypes = ResourceTypes>
  implements AsyncDisposable, AsyncIterable<SessionEvent, void>
{
  readonly #newId: () => string
  readonly #clock: Clock
  readonly #schemas: Schemas | undefined
  #gets = 0
  readonly #calls: SessionCalls
  readonly #call: Pick<LastingCall, 'note' | 'end'>
  /** Aborted while the session neither holds the lock nor waits for it. */
  #pings = abortedController()
  /** Whether there was a `try` since the pings began: it is in turn if what they were for is over by then. */
  #isTriedAgain = false
  #socket: Socket | undefined
  /** Messages that were sent before the socket was open. */
  #outbox: string[] | undefined = []
  readonly #inbox: SessionEvent[] = []
  #failure: BatonError | undefined
  #isClosed = false
  /** When the service last said anything. */
  #heardAt = 0
  /** Whether it has said anything since the last ping. */
  #isHeard = false
  /** Readers that wait for an event, or for the end. */
  readonly #waiting = new Set<() => void>()

  constructor(
    opened: Promise<OpenedSocket>,
    newId: () => string,
    clock: Clock,
    call: Pick<LastingCall, 'note' | 'end'>,
    schemas?: Schemas,
  ) {
    this.#newId = newId
    this.#clock = clock
    this.#call = call
    this.#schemas = schemas
    this.#calls = new SessionCalls(clock, error => {
      this.#socket?.close(1000)
      this.#close(error)
    })
    opened.then(
      ({ socket, isOpening }) => this.#connect(socket, isOpening),
      error => this.#close(error instanceof BatonError ? error : networkError(error)),
    )
  }

  try(options: TryOptions = {}): void {
    this.#send({ type: 'try', ...options })
    this.#isTriedAgain = !this.#pings.signal.aborted
    // One that is out of turn is refused: then the pings go on as they are.
    if (this.#pings.signal.aborted) void this.#listenWhileWaiting()
  }

  /** Starts an operation, and returns the id that its outcome will have. */
  issue(ops: readonly Resource['op'][], { opId = this.#newId() }: Pick<ApplyOptions, 'opId'> = {}): string {
    this.#send({ type: 'issue', opId, ops })
    return opId
  }

  exit(): void {
    this.#send({ type: 'exit' })
  }

  /**
   * Acquires the lock, applies the ops as one atomic operation and releases the lock, in one message. It
   * waits for the lock like everybody else, also while this session holds it. If the session breaks
   * meanwhile, the error says that the outcome is unknown: `lock.transact` with the same `opId` finds out.
   */
  async transact<const Batch extends readonly Resource['op'][]>(
    ops: Batch,
    options: Omit<TransactOptions, 'at'> = {},
  ): Promise<TransactResult<Batch, Resource>> {
    const { opId = this.#newId() } = options
    await this.#schemas?.checkOps(ops)
    const answer = await this.#transact(ops, { ...options, opId })
    const checked = (await this.#schemas?.checkResults(ops, answer, opId)) ?? answer
    return checked as unknown as TransactResult<Batch, Resource>
  }

  /** One message waits for so long at most; while the lock is taken, the same operation is sent again. */
  async #transact(
    ops: readonly unknown[],
    { opId, waitMs = DEFAULT_WAIT_MS, owner, signal }: TransactOptions & { readonly opId: string },
  ): Promise<Json> {
    const until = this.#clock.now() + waitMs
    let opsText: string | undefined
    for (;;) {
      const leftMs = Math.max(0, Math.ceil(until - this.#clock.now()))
      const nowMs = Math.min(leftMs, LONGEST_WAIT_MS)
      const send = () => {
        opsText ??= writeJson(ops)
        const rest = writeJson({ type: 'transact', opId, waitMs: nowMs, owner })
        this.#sendText(`${rest.slice(0, -1)},"ops":${opsText}}`)
      }
      try {
        const name = transactName(opId)
        return await this.#calls.ask({ name, opId, withinMs: nowMs + ANSWER_MS, signal, send })
      } catch (error) {
        if (!(error instanceof LockedError) || nowMs === leftMs) throw error
      }
    }
  }

  /** The value of a key, and `null` with revision 0 if there is none. */
  readonly get: Get<Resource> = (async (key: string, options: Omit<GetOptions, 'at'> = {}) => {
    const { consistency = 'linearizable', signal } = options
    const id = String(++this.#gets)
    const read = (await this.#calls.ask({
      name: getName(id),
      withinMs: ANSWER_MS,
      signal,
      send: () => this.#send({ type: 'get', key, consistency, id }),
    })) as unknown as Read<unknown>
    return this.#schemas === undefined ? read : this.#schemas.read(read)
  }) as Get<Resource>

  /** Ends the grant, or the wait for it. */
  close(): void {
    this.#socket?.close(1000)
    this.#close(undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
  }

  /**
   * Ends when the socket does; rejects if it broke. Each event is delivered once, to whichever reader asks.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<SessionEvent, void, undefined> {
    for (;;) {
      const event = this.#inbox.shift()
      if (event !== undefined) yield event
      else if (this.#failure !== undefined) throw this.#failure
      else if (this.#isClosed) return
      else {
        await new Promise<void>(resolve => {
          this.#waiting.add(resolve)
        })
      }
    }
  }

  /** All of them: each looks for itself whether there is anything left for it. */
  #wakeReaders(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  #connect(socket: Socket, isOpening: boolean): void {
    if (this.#isClosed) return socket.close(1000)
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)))
    socket.addEventListener('close', () => this.#close(undefined))
    socket.addEventListener('error', () => this.#close(networkError(new Error('the socket broke'))))
    if (isOpening) socket.addEventListener('open', () => this.#flush())
    else this.#flush()
  }

  #flush(): void {
    for (const text of this.#outbox ?? []) this.#socket!.send(text)
    this.#outbox = undefined
  }

  #send(message: object): void {
    this.#sendText(writeJson(message))
  }

  #sendText(text: string): void {
    if (this.#isClosed) throw networkError(new Error('the session is closed'))
    if (text.length > MAX_MESSAGE_LENGTH) throw tooLong(MAX_MESSAGE_LENGTH)
    if (this.#outbox !== undefined) return void this.#outbox.push(text)
    try {
      this.#socket!.send(text)
    } catch (error) {
      // It is closing, and its close event is still to come.
      throw networkError(error)
    }
  }

  #receive(text: string): void {
    this.#heardAt = this.#clock.now()
    this.#isHeard = true
    if (this.#isClosed || text === PONG) return
    const event = JSON.parse(text) as SessionEvent | SessionProbe
    // The service wants to know whether anybody reads this.
    if (event.type === 'probe') return this.#socket!.send(text)
    if (event.type === 'crit') {
      this.#call.note({ 'baton.fence': event.fence })
      void this.#sendPings(event.ttlMs)
    }
    if (event.type === 'rem' || event.type === 'ejected' || isNotInTime(event)) this.#onOver()
    if (this.#calls.take(event)) return
    this.#inbox.push(event)
    this.#wakeReaders()
  }

  /**
   * Runs while there is a grant. It lives for `ttlMs` after the last sign of life, so two of these may be
   * late. Each is answered: if no answer has come for as long, the service has not heard them either, or this
   * process stood still.
   */
  async #sendPings(ttlMs: number): Promise<void> {
    const signal = this.#beginPings()
    for (;;) {
      await this.#clock.sleep(ttlMs / 4, { signal, background: true })
      if (signal.aborted) return
      if (this.#clock.now() - this.#heardAt >= ttlMs) return this.#endSilent(ttlMs)
      this.#ping()
    }
  }

  /**
   * Runs while the session waits for the lock: a service that is gone looks like a lock that is taken. The
   * pings are counted and not the time, because nothing is lost if this process stood still.
   */
  async #listenWhileWaiting(): Promise<void> {
    const signal = this.#beginPings()
    for (let unheard = 0; unheard < UNHEARD_PINGS; unheard = this.#isHeard ? 0 : unheard + 1) {
      this.#isHeard = false
      this.#ping()
      await this.#clock.sleep(ANSWER_MS, { signal, background: true })
      if (signal.aborted) return
    }
    this.#endSilent(UNHEARD_PINGS * ANSWER_MS)
  }

  /** The grant, or the wait for it, is over. */
  #onOver(): void {
    if (this.#isTriedAgain) void this.#listenWhileWaiting()
    else this.#pings.abort()
  }

  #beginPings(): AbortSignal {
    this.#pings.abort()
    this.#pings = new AbortController()
    this.#isTriedAgain = false
    return this.#pings.signal
  }

  #ping(): void {
    try {
      this.#socket?.send(PING)
    } catch {
      // The socket is not open yet, or it is closing: then its close event comes.
    }
  }

  #endSilent(ms: number): void {
    this.#socket?.close(1000)
    this.#close(timeoutError(`the session was silent for ${ms} ms`))
  }

  #close(failure: BatonError | undefined): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#failure = failure
    this.#pings.abort()
    this.#calls.failAll(failure ?? networkError(new Error('the session was closed')))
    this.#call.end(failure)
    this.#wakeReaders()
  }
}

/** The wait that a `try` began is over. */
const isNotInTime = (event: SessionEvent): boolean =>
  event.type === 'error' && event.code === 'locked' && event.opId === undefined

function abortedController(): AbortController {
  const controller = new AbortController()
  controller.abort()
  return controller
}
