/**
 * A client: the real client library on virtual time, behind a network that loses and delays. One after the
 * other it does what its plan says; client-actions.ts has each of them.
 */
import { type Baton, BatonError, createBaton } from '../../../client/index.ts'
import type { Json } from '../../../shared/json.ts'
import { Random } from '../random.ts'
import { answerOf, askedBy } from './asked.ts'
import { SimRequest, type SimResponse } from './http.ts'
import { STREAM } from './plan.ts'
import { MOVING } from './plan-moves.ts'
import type { SimRouter } from './sim-router.ts'
import type { Site } from './site.ts'
import type { ClientSocket } from './sockets.ts'
import { InternalError, type World } from './world.ts'

/** One connection's life: a client that is gone neither says nor hears anything any more. */
export interface Life {
  isGone: boolean
  /** The socket of a session that this connection has opened. */
  socket?: ClientSocket
}

/** Whether the service learns that a client has given a request up. */
const ABORT_IS_NOTICED = 0.5

/** Where most of the clients are: the first two of them nowhere near the participants. */
const PLACES = ['oc', 'oc', 'oc', 'weur'] as const

/** For an answer that is a problem, as the service describes it. */
export interface RawAnswer {
  readonly status: number
  readonly body: Json
}

export class SimClient {
  readonly world: World
  readonly site: Site
  readonly random: Random
  readonly #router: SimRouter

  constructor(world: World, site: Site, router: SimRouter, stream: number) {
    this.world = world
    this.site = site
    this.#router = router
    this.random = new Random(world.plan.seed, STREAM.actions * 10_000 + stream)
  }

  get name(): string {
    return this.site.name
  }

  note(text: string): void {
    this.world.note(this.name, text)
  }

  sleep(ms: number): Promise<void> {
    return this.world.loop.sleep(ms)
  }

  /** The library, for one thing to do. */
  connect(life: Life = { isGone: false }): Baton {
    return createBaton({
      fetch: request => this.#fetch(request as unknown as SimRequest, life) as unknown as Promise<Response>,
      clock: {
        now: () => this.site.now,
        sleep: (ms, { signal } = {}) => this.#sleepFor(ms, signal, life),
      },
      random: () => this.random.fraction(),
      newId: () => `id${this.random.next().toString(16)}${this.random.next().toString(16)}`,
    })
  }

  /** One request without the library: no retry, and the answer as it is. Rejects if none comes. */

  /** Only the lock whose participants move has clients whose places are known. */
  #placeFor({ url }: SimRequest): string | null {
    return url.includes(`/${MOVING}`) ? PLACES[this.site.index % PLACES.length]! : null
  }

  async request(method: string, path: string, body?: Json, timeoutMs = 60_000): Promise<RawAnswer> {
    const controller = new AbortController()
    const timer = this.world.loop.after(timeoutMs, () => controller.abort(new Error('no answer')))
    const request = new SimRequest(`https://baton/v1/locks/${path}`, {
      method,
      signal: controller.signal,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    })
    const response = await this.#fetch(request, { isGone: false })
    const text = await response.text()
    timer.cancel()
    return { status: response.status, body: text === '' ? null : (JSON.parse(text) as Json) }
  }

  #sleepFor(ms: number, signal: AbortSignal | undefined, life: Life): Promise<void> {
    return new Promise(resolve => {
      if (signal?.aborted) return resolve()
      const finish = (): void => {
        timer.cancel()
        signal?.removeEventListener('abort', finish)
        if (!life.isGone) resolve()
      }
      const timer = this.world.loop.after(ms, finish)
      signal?.addEventListener('abort', finish)
    })
  }

  #fetch(asked: SimRequest, life: Life): Promise<SimResponse> {
    if (life.isGone) return new Promise(() => {})
    const { world } = this
    world.counts.requests++
    const controller = new AbortController()
    const request = new SimRequest(asked, { signal: controller.signal })
    this.note(`${request.method} ${new URL(request.url).pathname.slice('/v1/locks/'.length)}`)
    const noted = askedBy(this.name, request, world.loop.now)
    if (noted !== null) world.journal.asked.push(noted)
    const hear = (response: SimResponse): SimResponse => {
      if (noted !== null) noted.answer = answerOf(response, world.loop.now)
      return response
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        world.counts.clientAborts++
        reject(asked.signal.reason)
        if (this.random.chance(ABORT_IS_NOTICED)) world.loop.after(2, () => controller.abort())
      }
      if (asked.signal.aborted) return onAbort()
      asked.signal.addEventListener('abort', onAbort)
      world.network.request<SimResponse>(
        this.site,
        this.#router.site,
        respond => {
          if (noted !== null) noted.arrivals++
          this.#router.serve(request.clone(), respond, this.#placeFor(request))
        },
        result => {
          asked.signal.removeEventListener('abort', onAbort)
          if (life.isGone) return
          // A client that has given up closes the connection.
          if (asked.signal.aborted) return result.ok ? result.value.discard() : undefined
          if (!result.ok) return reject(new TypeError('fetch failed', { cause: result.error }))
          this.#check(request, result.value)
          if (result.value.webSocket !== null) life.socket = result.value.webSocket as ClientSocket
          resolve(world.tampering.response?.(request, result.value).then(hear) ?? hear(result.value))
        },
        request.method !== 'POST',
      )
    })
  }

  #check(request: SimRequest, response: SimResponse): void {
    if (response.status !== 500) return
    this.world.fail(new InternalError(`${request.method} ${request.url} is answered with 500`))
  }

  /** What a client may throw is an error of the library; anything else is a defect. */
  isExpected(error: unknown): error is BatonError {
    if (error instanceof BatonError) return true
    this.world.escaped(this.name, error)
    return false
  }
}
