/**
 * What a session has asked with `transact` and `get`, until it is answered. An answer says what it is about,
 * by the `opId`, or by the `id` of the `get`: the answer to one that was given up, or was called lost, may
 * still come, and is older than what is asked since. An `opId` is asked for again only when the answer before
 * has come: one of the two may say that nothing was applied, and the other that it was. If that answer never
 * comes, or nobody took it, the `opId` is in doubt: whatever says later that nothing was applied speaks of a
 * later call.
 */
import type { SessionError, SessionEvent, SessionQuestion } from '../shared/api/session.ts'
import type { Json } from '../shared/json.ts'
import type { Clock } from './clock.ts'
import { abortedError, errorFromSession, networkError, timeoutError } from './error-factory.ts'
import { BatonError, type Outcome } from './errors.ts'

export interface Question {
  /** The same for what has the same answers. */
  readonly name: string
  /** Of the operation at stake. */
  readonly opId?: string
  /** A service that has not answered after so long never will. */
  readonly withinMs: number
  readonly signal: AbortSignal | undefined
  /** If it throws, nothing was sent. */
  send(): void
}

interface Pending {
  readonly opId: string | undefined
  readonly isAnswered: AbortController
  /** The answer was that nothing was applied. */
  wasRefused: boolean
  /** Its caller was told that the outcome is unknown, and does not hear the answer. */
  isGivenUp: boolean
  resolve(answer: Json): void
  /** Only the first call of the two counts, for whoever waits. */
  reject(error: BatonError): void
}

type CallEvent = Extract<SessionEvent, { type: 'outcome' | 'value' | 'error' }>

export const transactName = (opId: string): string => `transact ${opId}`
export const getName = (id: string): string => `get ${id}`

/** The calls in doubt that are remembered: more than a participant has under way at once. */
const MAX_IN_DOUBT = 1_000

export class SessionCalls {
  readonly #clock: Clock
  readonly #onSilence: (error: BatonError) => void
  readonly #pending = new Map<string, Pending[]>()
  /** Names whose callers were told that the outcome is unknown, and nobody the outcome since. */
  readonly #inDoubt = new Set<string>()

  constructor(clock: Clock, onSilence: (error: BatonError) => void) {
    this.#clock = clock
    this.#onSilence = onSilence
  }

  /** Between the last look at what is pending and the sending there is no waiting. */
  async ask(question: Question): Promise<Json> {
    const { name, opId, signal } = question
    let isInDoubt = false
    if (opId !== undefined) {
      for (let before = this.#lastOf(name); before !== undefined; before = this.#lastOf(name)) {
        await oneAborted(before.isAnswered.signal, signal)
        isInDoubt ||= !before.wasRefused
        if (signal?.aborted) break
      }
    }
    return this.#send(question, isInDoubt || this.#inDoubt.has(name))
  }

  #lastOf(name: string): Pending | undefined {
    return this.#pending.get(name)?.at(-1)
  }

  #send({ name, opId, withinMs, signal, send }: Question, isInDoubt: boolean): Promise<Json> {
    return new Promise((resolve, reject) => {
      const rejectWith = (error: BatonError, otherwise: Outcome) => {
        if (opId === undefined) return reject(error)
        const outcome = error.outcome ?? otherwise
        reject(error.with({ opId, outcome: isInDoubt && outcome === 'not-applied' ? 'unknown' : outcome }))
      }
      try {
        if (signal?.aborted) throw abortedError(signal)
        send()
      } catch (error) {
        return rejectWith(error instanceof BatonError ? error : networkError(error), 'not-applied')
      }
      const isAnswered = new AbortController()
      const pending: Pending = {
        opId,
        isAnswered,
        wasRefused: false,
        isGivenUp: false,
        resolve,
        reject: error => rejectWith(error, 'unknown'),
      }
      this.#pending.set(name, [...(this.#pending.get(name) ?? []), pending])
      const onAbort = () => {
        pending.isGivenUp = true
        pending.reject(abortedError(signal!))
      }
      signal?.addEventListener('abort', onAbort)
      const answered = isAnswered.signal
      void this.#clock.sleep(withinMs, { signal: answered, background: true }).then(() => {
        signal?.removeEventListener('abort', onAbort)
        if (!answered.aborted) this.#onSilence(timeoutError('the session was not answered in time'))
      })
    })
  }

  /** Whether this event is the answer to a call, and not one for the session's reader. */
  take(event: SessionEvent): boolean {
    if (event.type === 'error' && event.lost) {
      this.failAll(errorFromSession(event))
      return true
    }
    const name = nameOf(event)
    if (name === null) return false
    const [pending, ...rest] = this.#pending.get(name) ?? []
    if (rest.length > 0) this.#pending.set(name, rest)
    else this.#pending.delete(name)
    if (pending !== undefined) this.#settle(name, pending, event as CallEvent)
    return true
  }

  #settle(name: string, pending: Pending, event: CallEvent): void {
    const outcome = event.type === 'error' ? outcomeIn(event) : 'applied'
    pending.wasRefused = outcome === 'not-applied'
    if (outcome === 'unknown' || (outcome === 'applied' && pending.isGivenUp)) this.#doubt(name, pending)
    else if (outcome === 'applied') this.#inDoubt.delete(name)
    settle(pending, event)
  }

  #doubt(name: string, { opId }: Pending): void {
    if (opId === undefined) return
    this.#inDoubt.add(name)
    if (this.#inDoubt.size > MAX_IN_DOUBT) this.#inDoubt.delete(this.#inDoubt.values().next().value!)
  }

  /** Nothing more will be answered. */
  failAll(error: BatonError): void {
    const all = [...this.#pending].flatMap(([name, waiting]) => waiting.map(pending => ({ name, pending })))
    this.#pending.clear()
    for (const { name, pending } of all) {
      this.#doubt(name, pending)
      pending.isAnswered.abort()
      pending.reject(error)
    }
  }
}

function oneAborted(one: AbortSignal, other: AbortSignal | undefined): Promise<void> {
  return new Promise(resolve => {
    if (one.aborted || other?.aborted) return resolve()
    const onAbort = () => {
      other?.removeEventListener('abort', onAbort)
      resolve()
    }
    one.addEventListener('abort', onAbort)
    other?.addEventListener('abort', onAbort)
  })
}

function nameOf(event: SessionEvent): string | null {
  if (event.type === 'outcome') return event.fence === undefined ? null : transactName(event.opId)
  if (event.type !== 'value' && event.type !== 'error') return null
  if (event.type === 'error' && event.opId !== undefined) return transactName(event.opId)
  return event.id === undefined ? null : getName(event.id)
}

function settle(pending: Pending, event: CallEvent): void {
  pending.isAnswered.abort()
  if (event.type === 'error') {
    if (event.code === 'no_such_key') return pending.resolve({ key: event.key!, value: null, revision: 0 })
    return pending.reject(refusal(event))
  }
  // What the question was, whoever asked knows.
  const question = event as typeof event & Partial<SessionQuestion>
  const { type: _, opId: __, consistency: ___, id: ____, ...answer } = question
  pending.resolve(answer as unknown as Json)
}

function refusal(event: SessionError): BatonError {
  const error = errorFromSession(event)
  return event.opId === undefined ? error : error.with({ outcome: outcomeIn(event) })
}

/** What the service refuses without a word about the operation, it refuses before it does anything. */
const outcomeIn = (event: SessionError): Outcome => event.outcome ?? 'not-applied'
