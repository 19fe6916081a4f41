/**
 * The events of a lock, as long as the caller listens: a connection that breaks is made again where it broke.
 */
import type { Clock } from './clock.ts'
import { type Connection, type LastingCall, pathOf } from './connection.ts'
import { abortedError, networkError, timeoutError } from './error-factory.ts'
import { BatonError } from './errors.ts'
import { parseEventStream, type ServerSentEvent, type StreamState } from './event-stream.ts'
import { pause } from './retry.ts'
import type { WatchEvent } from './types.ts'

export interface WatchOptions {
  /** Begin after this sequence; 0 for everything that is kept. */
  readonly since?: number
  /** The participant to ask, instead of the nearest. */
  readonly at?: number
  /** Aborted, it ends the iteration, which is no error. */
  readonly signal?: AbortSignal | undefined
}

/** The service sends at least a comment every 15 s. */
const LONGEST_SILENCE_MS = 45_000

export async function* watchLock(
  connection: Connection,
  lock: string,
  options: WatchOptions,
): AsyncGenerator<WatchEvent, void, undefined> {
  const call = connection.lasting('watch', lock)
  let events = 0
  let failure: unknown
  try {
    for await (const event of eventsOf(call, lock, options)) {
      events++
      yield event
    }
  } catch (error) {
    failure = error
    throw error
  } finally {
    call.note({ 'baton.events': events })
    call.end(failure)
  }
}

async function* eventsOf(
  { connection, note }: LastingCall,
  lock: string,
  options: WatchOptions,
): AsyncGenerator<WatchEvent, void, undefined> {
  const { clock, random, retry } = connection
  const { since, at, signal } = options
  const state: StreamState = { lastEventId: since?.toString(), retryMs: undefined }
  const seen = new Seen(since)
  let connections = 0
  for (let failures = 0; !signal?.aborted; failures++) {
    let askedMs = 0
    if (++connections > 1) note({ 'baton.retries': connections - 1 })
    try {
      const query = { since: state.lastEventId, at }
      const headers: Record<string, string> = { accept: 'text/event-stream' }
      if (state.lastEventId !== undefined) headers['last-event-id'] = state.lastEventId
      const call = { method: 'GET', path: pathOf(lock, 'watch'), query, headers, signal } as const
      const response = await connection.transport.open(call)
      for await (const event of parseEventStream(chunksOf(response, clock, signal), state)) {
        failures = 0
        const parsed = parseWatchEvent(event)
        if (parsed?.type === 'holder' && parsed.participant !== null) connection.granted(lock, parsed.fence)
        if (parsed !== undefined && seen.isNew(parsed)) yield parsed
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!(error instanceof BatonError) || !error.retryable) throw error
      askedMs = error.retryAfterMs ?? 0
    }
    await clock.sleep(Math.max(askedMs, state.retryMs ?? 0) + pause(retry, random, failures), { signal })
  }
}

/**
 * After a disconnect some events may come again. Each operation is reported once; the whole state and the
 * holder of the lock only if they are news.
 */
class Seen {
  #operation: number
  #anything: number
  #holders: SeenHolders

  constructor(since: number | undefined) {
    this.#operation = since ?? -1
    this.#anything = this.#operation
    this.#holders = new SeenHolders((since ?? 0) > 0)
  }

  isNew(event: WatchEvent): boolean {
    // Sequences begin anew with a lock that is deleted, and made again.
    if (event.type === 'snapshot' && event.anew) {
      this.#operation = this.#anything = -1
      this.#holders = new SeenHolders(true)
    }
    const before = this.#anything
    this.#anything = Math.max(before, event.sequence)
    if (event.type === 'holder') return this.#holders.isNew(event)
    if (event.sequence <= (event.type === 'op' ? this.#operation : before)) return false
    this.#operation = event.sequence
    return true
  }
}

/**
 * Fences order the holders. Another participant may know less than the one before, and the log, which is told
 * again after a disconnect, says nothing of those that have left.
 */
class SeenHolders {
  #fence = -1
  /** `null`: that nobody holds the lock. */
  #last: string | null

  /** `mayBelieve`: the caller may have been told of a holder before, so that nobody is news. */
  constructor(mayBelieve: boolean) {
    this.#last = mayBelieve ? '' : null
  }

  isNew(event: Extract<WatchEvent, { type: 'holder' }>): boolean {
    const before = this.#last
    if (event.participant === null) {
      this.#last = null
      return before !== null
    }
    const { fence, owner, since, expiresAt } = event
    const isDescribed = since !== undefined
    if (fence < this.#fence || (fence === this.#fence && !isDescribed)) return false
    this.#fence = fence
    this.#last = JSON.stringify({ fence, owner, since, expiresAt })
    return this.#last !== before
  }
}

/** Kinds of events that came after this client was written are passed over. */
function parseWatchEvent({ event, data }: ServerSentEvent): WatchEvent | undefined {
  if (event !== 'op' && event !== 'holder' && event !== 'snapshot') return undefined
  try {
    return { ...JSON.parse(data), type: event }
  } catch (error) {
    throw networkError(error)
  }
}

async function* chunksOf(
  response: Response,
  clock: Clock,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      // Before anything is read: nobody would hear that the reading failed.
      if (signal?.aborted) throw abortedError(signal)
      const { done, value } = await within(clock, LONGEST_SILENCE_MS, signal, reader.read())
      if (done) return
      yield decoder.decode(value, { stream: true })
    }
  } finally {
    // Also when the caller leaves its loop: nobody is to send events that nobody reads.
    reader.cancel().catch(() => {})
  }
}

/** A connection can die without a word; then nothing would ever come. */
async function within<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal | undefined,
  work: Promise<T>,
): Promise<T> {
  const done = new AbortController()
  const onAbort = (): void => done.abort()
  signal?.addEventListener('abort', onAbort)
  const silence = clock.sleep(ms, { signal: done.signal }).then(() => {
    if (signal?.aborted) throw abortedError(signal)
    throw timeoutError(`silent for ${ms} ms`)
  })
  silence.catch(() => {})
  try {
    return await Promise.race([work, silence])
  } catch (error) {
    throw error instanceof BatonError ? error : networkError(error)
  } finally {
    signal?.removeEventListener('abort', onAbort)
    done.abort()
  }
}
