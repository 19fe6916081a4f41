/**
 * What every part of the client works with: the way to the service, the time, randomness, and how to try
 * again.
 */
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
}

export class Connection {
  readonly transport: Transport
  readonly clock: Clock
  readonly random: () => number
  readonly newId: () => string
  readonly openSocket: OpenSocket
  readonly retry: Required<RetryOptions>

  constructor({ transport, clock, random, newId, openSocket, retry }: ConnectionOptions) {
    this.transport = transport
    this.clock = clock
    this.random = random
    this.newId = newId
    this.openSocket = openSocket
    this.retry = retry
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

  attempts<T>(
    limits: Omit<RetryLimits, 'signal'>,
    signal: AbortSignal | undefined,
    attempt: (before: number) => Promise<T>,
  ): Promise<T> {
    const { clock, random, retry } = this
    return withRetries({ clock, random, options: retry }, { ...limits, signal }, attempt)
  }
}

/** The name of a lock goes into paths: one like `..` would lead elsewhere. */
export const LOCK_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

export function pathOf(...segments: readonly string[]): string {
  return segments.map(encodeURIComponent).join('/')
}
