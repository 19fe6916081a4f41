/**
 * What every part of the client uses: the transport, the clock, randomness, and the rules for retries.
 */
import type { Clock } from './clock.ts'
import { type RetryLimits, type RetryOptions, withRetries } from './retry.ts'
import type { OpenSocket } from './socket.ts'
import { beginSpan, endWith, inSpan, type Note, type Span, type Tracer, traceparentOf } from './tracing.ts'
import type { Answer, Call, Transport } from './transport.ts'

export interface ConnectionOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly random: () => number
  readonly newId: () => string
  readonly openSocket: OpenSocket
  readonly retry: Required<RetryOptions>
  readonly waitUntil: (work: Promise<unknown>) => void
  readonly tracer?: Tracer | undefined
}

/** A call that lasts longer than the function that made it. */
export interface LastingCall {
  readonly connection: Connection
  readonly note: Note
  /** With the error that ended it, if one did. */
  readonly end: (error?: unknown) => void
}

export class Connection {
  readonly transport: Transport
  readonly clock: Clock
  readonly random: () => number
  readonly newId: () => string
  readonly openSocket: OpenSocket
  readonly retry: Required<RetryOptions>
  readonly #options: ConnectionOptions
  readonly #listeners: Map<string, Set<(fence: number) => void>>
  /** Called with the number of retries so far. */
  readonly #onRetries: (retries: number) => void

  constructor(options: ConnectionOptions, of?: Connection, onRetries: (retries: number) => void = () => {}) {
    const { transport, clock, random, newId, openSocket, retry } = options
    this.transport = transport
    this.clock = clock
    this.random = random
    this.newId = newId
    this.openSocket = openSocket
    this.retry = retry
    this.#options = options
    this.#listeners = of === undefined ? new Map() : of.#listeners
    this.#onRetries = onRetries
  }

  /**
   * Runs a call in a span of its own, if there is a tracer. The work must use the connection that it is
   * given.
   */
  traced<T>(
    name: string,
    lock: string,
    work: (connection: Connection, note: Note) => Promise<T>,
  ): Promise<T> {
    const { tracer } = this.#options
    if (tracer === undefined) return work(this, () => {})
    return inSpan(tracer, name, { 'baton.lock': lock }, span => work(this.#within(span), noteIn(span)))
  }

  /** The same for a watch or a session: its span ends when it does. */
  lasting(name: string, lock: string): LastingCall {
    const { tracer } = this.#options
    if (tracer === undefined) return { connection: this, note: () => {}, end: () => {} }
    const span = beginSpan(tracer, name, { 'baton.lock': lock })
    return { connection: this.#within(span), note: noteIn(span), end: error => endWith(span, error) }
  }

  #within(span: Span): Connection {
    const traceparent = traceparentOf(span)
    const transport = traceparent === undefined ? this.transport : this.transport.with({ traceparent })
    const onRetries = (retries: number) => span.setAttributes({ 'baton.retries': retries })
    return new Connection({ ...this.#options, transport }, this, onRetries)
  }

  /**
   * Sends a call, with retries. A function makes the call anew for each attempt, because what it asks for
   * depends on the time.
   */
  call(
    call: Call | (() => Call),
    limits: Omit<RetryLimits, 'signal'>,
    signal?: AbortSignal | undefined,
  ): Promise<Answer> {
    return this.attempts(limits, signal, () =>
      this.transport.request({ ...(typeof call === 'function' ? call() : call), signal }),
    )
  }

  /** A watch has seen that somebody was granted this lock. */
  granted(lock: string, fence: number): void {
    for (const listener of this.#listeners.get(lock) ?? []) listener(fence)
  }

  /**
   * Calls the listener for each grant of this lock that a watch of this client sees, until the signal is
   * aborted.
   */
  onGranted(lock: string, signal: AbortSignal, listener: (fence: number) => void): void {
    const listeners = this.#listeners.get(lock) ?? new Set()
    this.#listeners.set(lock, listeners.add(listener))
    signal.addEventListener('abort', () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(lock)
    })
  }

  /** Lets work go on after the caller has its answer. Nobody waits for its outcome. */
  later(work: Promise<unknown>): void {
    this.#options.waitUntil(work.catch(() => {}))
  }

  attempts<T>(
    limits: Omit<RetryLimits, 'signal'>,
    signal: AbortSignal | undefined,
    attempt: (before: number) => Promise<T>,
  ): Promise<T> {
    const { clock, random, retry } = this
    return withRetries({ clock, random, options: retry }, { ...limits, signal }, before => {
      if (before > 0) this.#onRetries(before)
      return attempt(before)
    })
  }
}

const noteIn =
  (span: Span): Note =>
  attributes =>
    span.setAttributes({ ...attributes })

/** The longest wait that one request may ask for. */
export const LONGEST_WAIT_MS = 25_000

/** The name of a lock becomes part of a path, and a name like `..` would lead elsewhere. */
export const LOCK_NAME = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/

export function pathOf(...segments: readonly string[]): string {
  return segments.map(encodeURIComponent).join('/')
}
