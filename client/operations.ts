/**
 * Operations on the guarded state. The service recognises each by its `opId`. So an operation whose answer
 * got lost is sent again until an answer comes, and nothing is applied twice. If none comes, the error says
 * `unknown`.
 */

import type { Json } from '../shared/json.ts'
import { type Connection, LONGEST_WAIT_MS, pathOf } from './connection.ts'
import type { Outcome } from './errors.ts'
import { BatonError, LockedError } from './errors.ts'
import type { RetryLimits } from './retry.ts'
import type { Answer, Call } from './transport.ts'
import { writeJson } from './write-json.ts'

export interface ApplyOptions {
  /**
   * Names the operation. Default: random. Give one to be able to ask again after a crash: the same id with
   * the same ops is applied once, and gives the same answer.
   */
  readonly opId?: string
  /**
   * Stops waiting for the answer. The operation may be applied all the same: the error says what is known.
   */
  readonly signal?: AbortSignal | undefined
}

export interface TransactOptions extends ApplyOptions {
  /** How long to wait for the lock; any length, even `Infinity`. Default: 10 s. */
  readonly waitMs?: number
  /** The participant to ask, instead of the nearest. */
  readonly at?: number
  /** What you call yourself, up to 128 characters, for those that look at the lock meanwhile. */
  readonly owner?: string
}

const DEFAULT_WAIT_MS = 10_000

/** For a span: a condition that did not hold is an outcome like others. */
export const outcomeOf = (answer: Json): string =>
  (answer as { readonly applied: boolean }).applied ? 'applied' : 'condition-failed'

export async function applyUnderGrant(
  connection: Connection,
  grantPath: string,
  request: { readonly opId: string; readonly body: string; readonly signal: AbortSignal | undefined },
): Promise<Json> {
  const call: Call = { method: 'POST', path: `${grantPath}/ops`, body: request.body }
  const operation = new Operation(connection, request.opId, request.signal, 'one grant')
  const answer = await operation.send(() => call, { repeat: 'always' })
  return answer.body
}

/** While the lock is taken, the same operation is sent again and again: each time it queues anew. */
export async function transact(
  connection: Connection,
  lock: string,
  ops: readonly unknown[],
  options: TransactOptions,
): Promise<Json> {
  const { waitMs = DEFAULT_WAIT_MS, at, owner, opId = connection.newId(), signal } = options
  const { clock, retry } = connection
  const until = clock.now() + waitMs
  const operation = new Operation(connection, opId, signal, 'a grant for each request')
  const opsText = writeJson(ops)
  const callNow = (): Call => {
    const waitMs = Math.max(0, Math.min(Math.ceil(until - clock.now()), LONGEST_WAIT_MS))
    const rest = writeJson({ opId, waitMs, at, owner })
    const body = `${rest.slice(0, -1)},"ops":${opsText}}`
    return { method: 'POST', path: pathOf(lock, 'transact'), body, waitMs }
  }
  for (;;) {
    try {
      const answer = await operation.send(callNow, { repeat: 'always', until: until + retry.totalMs })
      return answer.body
    } catch (error) {
      if (!(error instanceof LockedError) || clock.now() >= until) throw error
    }
  }
}

/** Remembers through all its requests whether one of them may have been carried out. */
class Operation {
  readonly #connection: Connection
  readonly #opId: string
  readonly #signal: AbortSignal | undefined
  readonly #under: 'one grant' | 'a grant for each request'
  #isInDoubt = false

  constructor(
    connection: Connection,
    opId: string,
    signal: AbortSignal | undefined,
    under: 'one grant' | 'a grant for each request',
  ) {
    this.#under = under
    this.#connection = connection
    this.#opId = opId
    this.#signal = signal
  }

  async send(callNow: () => Call, limits: Omit<RetryLimits, 'signal'>): Promise<Answer> {
    try {
      return await this.#connection.attempts(limits, this.#signal, () => this.#request(callNow()))
    } catch (error) {
      if (!(error instanceof BatonError)) throw error
      throw error.with({ opId: this.#opId, outcome: this.#outcome(error) })
    }
  }

  async #request(call: Call): Promise<Answer> {
    try {
      return await this.#connection.transport.request({ ...call, signal: this.#signal })
    } catch (error) {
      if (leavesInDoubt(error)) this.#isInDoubt = true
      throw error
    }
  }

  /**
   * After a doubt, only what is settled is known: an answer to the last request says nothing of those before.
   * The service settles an operation under one grant, and so for all requests under that grant.
   */
  #outcome(error: BatonError): Outcome {
    if (error.outcome === 'applied') return error.outcome
    const isSettled = this.#under === 'one grant' && error.more.settled === true
    return this.#isInDoubt && !isSettled ? 'unknown' : 'not-applied'
  }
}

/**
 * An answer that does not mention the operation refused it before anything was done. There are two
 * exceptions: it is no answer of the service, or it says that the grant is over, under which an earlier call
 * may have sent the same operation.
 */
function leavesInDoubt(error: unknown): boolean {
  if (!(error instanceof BatonError)) return true
  if (error.outcome !== undefined) return error.outcome === 'unknown'
  return error.status < 400 || error.status >= 500 || error.status === 410
}
