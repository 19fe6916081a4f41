/**
 * How a lock is acquired: in one request that waits, or, if the wait is longer than a request should last,
 * with a ticket that is asked after until it has become a grant.
 *
 * Each request names its waiter, a random token of its own. A request that is given up (its answer got lost,
 * or the caller no longer wants it) is withdrawn by that name, until the service has answered: so it does not
 * come back as a holder that nobody knows of. Then another request, with another name, may follow.
 */

import { randomToken } from './clock.ts'
import { type Connection, LONGEST_WAIT_MS, pathOf } from './connection.ts'
import {
  AbortedError,
  BatonError,
  GrantOverError,
  LockedError,
  NetworkError,
  NotFoundError,
  ServerError,
} from './errors.ts'
import { pause } from './retry.ts'
import type { Answer } from './transport.ts'
import type { Grant, Ticket } from './types.ts'
import { writeJson } from './write-json.ts'

export interface AcquireOptions {
  /**
   * How long to wait while somebody else holds the lock: any length, even `Infinity`. Default: 10 s.
   */
  readonly waitMs?: number
  /**
   * How long the grant lasts without a keep-alive: 1 s to 10 min. Default: what the lock is configured with.
   */
  readonly ttlMs?: number
  /** The participant to ask, instead of the nearest. */
  readonly at?: number
  readonly mode?: 'exclusive' | 'shared'
  /**
   * The lock is granted only once a majority knows of the grant, so that effects outside of the lock are safe
   * from the first moment.
   */
  readonly confirm?: boolean
  /**
   * What you call yourself, up to 128 characters: others that look at the lock, or do not get it, are told.
   */
  readonly owner?: string
  /** Aborting it while the request waits withdraws the request. */
  readonly signal?: AbortSignal | undefined
}

export interface Granted {
  readonly grant: Grant
  /** The answer was not the first that the service gave: the grant may be older than it looks. */
  readonly isOld: boolean
}

const DEFAULT_WAIT_MS = 10_000
/** Long enough for the token to come from another region, so that an idle lock takes one request. */
const FIRST_TICKET_WAIT_MS = 1_000
/** Below the longest wait, because a proxy in between may be less patient. */
const POLL_WAIT_MS = 20_000
/**
 * How long a withdrawal that nobody answers is repeated. By then the service has given the waiter up by
 * itself.
 */
const WITHDRAW_MS = 60_000

export function acquireGrant(
  connection: Connection,
  lock: string,
  options: AcquireOptions,
): Promise<Granted> {
  const waitMs = options.waitMs ?? DEFAULT_WAIT_MS
  return waitMs <= LONGEST_WAIT_MS
    ? new Acquisition(connection, lock, options, waitMs).inOneRequest()
    : new Acquisition(connection, lock, options, waitMs).withTicket()
}

class Acquisition {
  readonly #connection: Connection
  readonly #lock: string
  readonly #options: AcquireOptions
  readonly #waitMs: number
  readonly #until: number

  constructor(connection: Connection, lock: string, options: AcquireOptions, waitMs: number) {
    this.#connection = connection
    this.#lock = lock
    this.#options = options
    this.#waitMs = waitMs
    this.#until = connection.clock.now() + waitMs
  }

  async inOneRequest(): Promise<Granted> {
    const answer = await this.#request(LONGEST_WAIT_MS, undefined)
    return { grant: grantIn(answer)!, isOld: false }
  }

  async withTicket(): Promise<Granted> {
    for (let lostTickets = 0; ; lostTickets++) {
      const answer = await this.#request(FIRST_TICKET_WAIT_MS, true)
      const grant = grantIn(answer)
      if (grant !== undefined) return { grant, isOld: false }
      const granted = await this.#poll(ticketIn(answer))
      if (granted !== undefined) return granted
      const { clock, random, retry } = this.#connection
      await clock.sleep(pause(retry, random, lostTickets), { signal: this.#options.signal })
    }
  }

  async #request(longestWaitMs: number, ticket: true | undefined): Promise<Answer> {
    const { ttlMs, at, mode, confirm, owner, signal } = this.#options
    return this.#connection.attempts({ repeat: 'always', until: this.#until }, signal, async () => {
      const waiter = randomToken()
      const waitMs = Math.min(this.#remainingMs(), longestWaitMs)
      const body = writeJson({ waitMs, ttlMs, ticket, at, mode, confirm, waiter, owner })
      const call = { method: 'POST', path: pathOf(this.#lock, 'acquire'), body, waitMs, signal } as const
      try {
        return await this.#connection.transport.request(call)
      } catch (error) {
        if (isLost(error)) this.#withdraw('waiters', waiter)
        throw error
      }
    })
  }

  /** `undefined` if the ticket is gone: then there is neither a place in the queue nor a grant. */
  async #poll(ticket: Ticket): Promise<Granted | undefined> {
    const path = pathOf(this.#lock, 'tickets', ticket.id)
    try {
      for (;;) {
        let requests = 0
        const answer = await this.#connection.call(
          () => {
            const waitMs = Math.min(this.#remainingMs(), POLL_WAIT_MS)
            requests++
            return { method: 'GET', path, query: { waitMs }, waitMs }
          },
          { repeat: 'always', until: this.#until },
          this.#options.signal,
        )
        const grant = grantIn(answer)
        if (grant !== undefined) return { grant, isOld: requests > 1 }
        if (this.#remainingMs() === 0) throw this.#locked()
      }
    } catch (error) {
      if (isGone(error)) {
        if (this.#remainingMs() === 0) throw this.#locked()
        return undefined
      }
      this.#withdraw('tickets', ticket.id)
      throw error
    }
  }

  #remainingMs(): number {
    return Math.max(0, Math.ceil(this.#until - this.#connection.clock.now()))
  }

  #locked(): LockedError {
    const detail = `not granted within ${this.#waitMs} ms`
    return new LockedError({ code: 'locked', status: 409, detail, retryable: true })
  }

  /** The withdrawal goes on after the caller has its answer, until the service has answered too. */
  #withdraw(kind: 'waiters' | 'tickets', id: string): void {
    const connection = this.#connection
    const until = connection.clock.now() + WITHDRAW_MS
    const call = { method: 'DELETE', path: pathOf(this.#lock, kind, id) } as const
    const limits = { repeat: 'always', until, background: true } as const
    connection.later(connection.traced('withdraw', this.#lock, traced => traced.call(call, limits)))
  }
}

/** The request may be with the service, or on its way there. What a proxy answers says nothing of it. */
function isLost(error: unknown): boolean {
  if (error instanceof BatonError && error.outcome === 'unknown') return true
  return error instanceof NetworkError || error instanceof ServerError || error instanceof AbortedError
}

/** Nobody asked after it for too long; so long, perhaps, that even the grant that it became is over. */
function isGone(error: unknown): boolean {
  if (error instanceof GrantOverError) return true
  return error instanceof NotFoundError && error.code === 'no_such_ticket'
}

function grantIn({ body }: Answer): Grant | undefined {
  return (body as { readonly grant?: Grant } | null)?.grant
}

function ticketIn({ body }: Answer): Ticket {
  return (body as unknown as { readonly ticket: Ticket }).ticket
}
