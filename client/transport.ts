/**
 * One request and its answer: how a call becomes HTTP, and how whatever comes back becomes a value or a
 * `BatonError`.
 */
import type { Json } from '../shared/json.ts'
import type { Clock } from './clock.ts'
import { abortedError, errorFromAnswer, networkError, timeoutError } from './error-factory.ts'
import { BatonError } from './errors.ts'

/** `globalThis.fetch`, `app.fetch` of a hono app, or anything else that answers a request. */
export type Fetch = (request: Request) => Response | Promise<Response>

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below `/v1/locks/`, already encoded; empty for the list of all locks. */
  readonly path: string
  readonly query?: { readonly [name: string]: string | number | undefined }
  /**
   * JSON as text, so that a request that is sent again is the same, even if the caller has changed its
   * objects.
   */
  readonly body?: string
  readonly headers?: { readonly [name: string]: string }
  /** How long the service may wait before it answers: the time limit grows by it. */
  readonly waitMs?: number
  /** Replaces the usual time limit. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
}

export interface Answer {
  readonly status: number
  /** `null` if there is none. */
  readonly body: Json
}

/**
 * The headers that the client sends by itself. A service that pages of other origins may call must allow them
 * (CORS).
 */
export const REQUEST_HEADERS = [
  'accept',
  'authorization',
  'content-type',
  'last-event-id',
  'traceparent',
] as const
/** The headers that the client reads from an answer. */
export const ANSWER_HEADERS = ['content-type', 'retry-after', 'x-request-id'] as const

const SWITCHING_PROTOCOLS = 101
const NO_CONTENT = 204
const NOT_WHOLE = 'the answer is not whole'

export interface TransportOptions {
  readonly fetch: Fetch
  /** Without a slash at its end. */
  readonly base: string
  readonly headers: { readonly [name: string]: string }
  readonly timeoutMs: number
  readonly clock: Clock
  /** The `cf` of the requests, which only Workers know. */
  readonly cf?: unknown
}

export class Transport {
  readonly #options: TransportOptions

  constructor(options: TransportOptions) {
    this.#options = options
  }

  /** The same transport, with more headers. */
  with(headers: { readonly [name: string]: string }): Transport {
    return new Transport({ ...this.#options, headers: { ...this.#options.headers, ...headers } })
  }

  /** Throws a `BatonError` for everything but a success. */
  request(call: Call): Promise<Answer> {
    return this.#limited(call, signal => this.#exchange(call, signal))
  }

  /**
   * Returns the response before its body is read. The time limit and the signal count until the headers are
   * there.
   */
  open(call: Call): Promise<Response> {
    const work = async (signal: AbortSignal): Promise<Response> => {
      const response = await this.#fetch(call, signal)
      if (response.ok || response.status === SWITCHING_PROTOCOLS) return response
      throw errorFromAnswer(response.status, response.headers, await readJson(response))
    }
    return this.#limited(call, work, late => {
      late.body?.cancel().catch(() => {})
    })
  }

  url(call: Pick<Call, 'path' | 'query'>): string {
    const parameters = new URLSearchParams()
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined) parameters.set(name, String(value))
    }
    const search = parameters.toString()
    const path = call.path === '' ? '/v1/locks' : `/v1/locks/${call.path}`
    return `${this.#options.base}${path}${search === '' ? '' : `?${search}`}`
  }

  async #exchange(call: Call, signal: AbortSignal): Promise<Answer> {
    const response = await this.#fetch(call, signal)
    const body = await readJson(response)
    if (!response.ok) throw errorFromAnswer(response.status, response.headers, body)
    if (body === null && response.status !== NO_CONTENT) throw networkError(new Error(NOT_WHOLE))
    if (body === undefined) throw errorFromAnswer(response.status, response.headers, undefined)
    return { status: response.status, body }
  }

  async #fetch(call: Call, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { ...this.#options.headers, ...call.headers }
    if (call.body !== undefined) headers['content-type'] = 'application/json'
    const request = new Request(this.url(call), {
      method: call.method,
      headers,
      signal,
      ...(call.body === undefined ? {} : { body: call.body }),
      ...(this.#options.cf === undefined ? {} : { cf: this.#options.cf }),
    } as RequestInit)
    // This is a plain function call: the platform's own `fetch` refuses to be called as a method.
    const { fetch } = this.#options
    try {
      return await fetch(request)
    } catch (error) {
      throw networkError(error)
    }
  }

  /**
   * Settles in time, whether or not `fetch` obeys the signal. A `fetch` that stays inside the process often
   * ignores it.
   */
  #limited<T>(
    call: Call,
    work: (signal: AbortSignal) => Promise<T>,
    /** Called with a result that came too late. */
    onLate?: (value: T) => void,
  ): Promise<T> {
    const { clock } = this.#options
    const { signal } = call
    const limitMs = (call.timeoutMs ?? this.#options.timeoutMs) + (call.waitMs ?? 0)
    if (signal?.aborted) return Promise.reject(abortedError(signal))
    return new Promise((resolve, reject) => {
      const stop = new AbortController()
      const over = new AbortController()
      const finish = (settle: () => void): void => {
        over.abort()
        signal?.removeEventListener('abort', onAbort)
        settle()
      }
      const giveUp = (error: BatonError): void => {
        if (over.signal.aborted) return
        finish(() => reject(error))
        stop.abort(error)
      }
      const onAbort = (): void => giveUp(abortedError(signal!))
      signal?.addEventListener('abort', onAbort)
      clock
        .sleep(limitMs, { signal: over.signal })
        .then(() => giveUp(timeoutError(`no answer within ${limitMs} ms`)))
      work(stop.signal).then(
        value => (over.signal.aborted ? onLate?.(value) : finish(() => resolve(value))),
        error => {
          if (!over.signal.aborted)
            finish(() => reject(error instanceof BatonError ? error : networkError(error)))
        },
      )
    })
  }
}

/** Returns `null` for an empty body, and `undefined` for a body that does not claim to be JSON. */
async function readJson(response: Response): Promise<Json | undefined> {
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    throw networkError(error)
  }
  if (text === '') return null
  if (!response.headers.get('content-type')?.includes('json')) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    throw networkError(new Error(NOT_WHOLE))
  }
}
