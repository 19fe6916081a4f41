/** What every part of the client works with: the way to the service, the time, chance, and how to try again. */
import type { Clock } from './clock.ts'
import { type RetryLimits, type RetryOptions, withRetries } from './retry.ts'
import type { OpenSocket } from './socket.ts'
import type { Answer, Call, Transport } from './transport.ts'

export interface ConnectionOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly random: () => number
  readonly newId: () => string
  readonly openSocket: OpenSocket
  readonly retry: Required<RetryOptions>
  readonly waitUntil: (work: Promise<unknown>) => void
}

export class Connection {
  readonly transport: Transport
  readonly clock: Clock
  readonly random: () => number
  readonly newId: () => string
  readonly openSocket: OpenSocket
  readonly retry: Required<RetryOptions>
  readonly #listeners = new Map<string, Set<(fence: number) => void>>()
  readonly #waitUntil: (work: Promise<unknown>) => void

  constructor(options: ConnectionOptions) {
    const { transport, clock, random, newId, openSocket, retry, waitUntil } = options
    this.transport = transport
    this.clock = clock
    this.random = random
    this.newId = newId
    this.openSocket = openSocket
    this.retry = retry
    this.#waitUntil = waitUntil
  }

  /** A call that may depend on the time at which it is sent is given as a function. */
  call(
    call: Call | (() => Call),
    limits: Omit<RetryLimits, 'signal'>,
    signal?: AbortSignal | undefined,
  ): Promise<Answer> {
    return this.attempts(limits, signal, () =>
      this.transport.request({ ...(typeof call === 'function' ? call() : call), signal }),
    )
  }

  /** Somebody was given this lock: a watch has said so. */
  granted(lock: string, fence: number): void {
    for (const listener of this.#listeners.get(lock) ?? []) listener(fence)
  }

  /** Until the signal is aborted, every grant of this lock that a watch of this client tells of. */
  onGranted(lock: string, signal: AbortSignal, listener: (fence: number) => void): void {
    const listeners = this.#listeners.get(lock) ?? new Set()
    this.#listeners.set(lock, listeners.add(listener))
    signal.addEventListener('abort', () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(lock)
    })
  }

  /** Goes on after the caller has its answer; what becomes of it, nobody asks. */
  later(work: Promise<unknown>): void {
    this.#waitUntil(work.catch(() => {}))
  }

  attempts<T>(
    limits: Omit<RetryLimits, 'signal'>,
    signal: AbortSignal | undefined,
    attempt: (before: number) => Promise<T>,
  ): Promise<T> {
    const { clock, random, retry } = this
    return withRetries({ clock, random, options: retry }, { ...limits, signal }, attempt)
  }
}

/** What one request may ask the service to wait. */
export const LONGEST_WAIT_MS = 25_000

/** The name of a lock goes into paths: one like `..` would lead elsewhere. */
export const LOCK_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

export function pathOf(...segments: readonly string[]): string {
  return segments.map(encodeURIComponent).join('/')
}
