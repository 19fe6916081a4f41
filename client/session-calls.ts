/**
 * What a session has asked with `transact` and `get`, until it is answered. An answer says what it is about,
 * by the `opId` or by the key. Answers about one key may come in any order: the service reads a value when it
 * sends it, so each is as good as another. But a call that was given up still takes the answer that comes
 * next. And an `opId` is asked for again only when the answer before has come: one of the two may say that
 * nothing was applied, and the other that it was.
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
  resolve(answer: Json): void
  /** Only the first call of the two counts, for whoever waits. */
  reject(error: BatonError): void
}

type CallEvent = Extract<SessionEvent, { type: 'outcome' | 'value' | 'error' }>

export const transactName = (opId: string): string => `transact ${opId}`
export const getName = (key: string, consistency: string): string => `get ${consistency} ${key}`

export class SessionCalls {
  readonly #clock: Clock
  readonly #onSilence: (error: BatonError) => void
  readonly #pending = new Map<string, Pending[]>()

  constructor(clock: Clock, onSilence: (error: BatonError) => void) {
    this.#clock = clock
    this.#onSilence = onSilence
  }

  /** Resolves when nothing of this name waits for an answer any more. */
  async settled(name: string): Promise<void> {
    for (;;) {
      const last = this.#pending.get(name)?.at(-1)
      if (last === undefined) return
      await aborted(last.isAnswered.signal)
    }
  }

  ask({ name, opId, withinMs, signal, send }: Question): Promise<Json> {
    return new Promise((resolve, reject) => {
      const rejectWith = (error: BatonError, outcome: Outcome) =>
        reject(opId === undefined ? error : error.with({ opId, outcome: error.outcome ?? outcome }))
      try {
        if (signal?.aborted) throw abortedError(signal)
        send()
      } catch (error) {
        return rejectWith(error instanceof BatonError ? error : networkError(error), 'not-applied')
      }
      const isAnswered = new AbortController()
      const pending = {
        opId,
        isAnswered,
        resolve,
        reject: (error: BatonError) => rejectWith(error, 'unknown'),
      }
      this.#pending.set(name, [...(this.#pending.get(name) ?? []), pending])
      const onAbort = () => pending.reject(abortedError(signal!))
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
    if (pending !== undefined) settle(pending, event as CallEvent)
    return true
  }

  /** Nothing more will be answered. */
  failAll(error: BatonError): void {
    const all = [...this.#pending.values()].flat()
    this.#pending.clear()
    for (const pending of all) {
      pending.isAnswered.abort()
      pending.reject(error)
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function nameOf(event: SessionEvent): string | null {
  if (event.type === 'outcome') return event.fence === undefined ? null : transactName(event.opId)
  if (event.type === 'value') return getName(event.key, event.consistency)
  if (event.type !== 'error') return null
  if (event.opId !== undefined) return transactName(event.opId)
  return event.key === undefined ? null : getName(event.key, event.consistency ?? 'linearizable')
}

function settle(pending: Pending, event: CallEvent): void {
  pending.isAnswered.abort()
  if (event.type === 'error') {
    if (event.code === 'no_such_key') return pending.resolve({ key: event.key!, value: null, revision: 0 })
    return pending.reject(refusal(event))
  }
  // What the question was, whoever asked knows.
  const { type: _, opId: __, consistency: ___, ...answer } = event as typeof event & Partial<SessionQuestion>
  pending.resolve(answer as unknown as Json)
}

/** What the service refuses without a word about the operation, it refuses before it does anything. */
function refusal(event: SessionError): BatonError {
  const error = errorFromSession(event)
  return event.opId === undefined ? error : error.with({ outcome: event.outcome ?? 'not-applied' })
}
