/** The entry point: where the service is, and how to talk to it. */
import type { Location } from '../shared/api/limits.ts'
import { type Clock, randomId, systemClock } from './clock.ts'
import { Connection } from './connection.ts'
import { eachLock, type ListedLock, type ListLocksOptions, type LocksPage, listLocks } from './listing.ts'
import { Lock } from './lock.ts'
import { Locks } from './locks.ts'
import type { KeyValue } from './ops.ts'
import { DEFAULT_RETRY, type RetryOptions } from './retry.ts'
import { Schemas } from './schemas.ts'
import type { Socket } from './session.ts'
import { socketByConstructor, socketByUpgrade } from './socket.ts'
import type { InputsOf, OutputsOf, ResourceOf, StateMap, StateSchemas } from './state.ts'
import type { Tracer } from './tracing.ts'
import { type Fetch, Transport } from './transport.ts'

/** A service binding of a Worker, the stub of a Durable Object, or anything else with a `fetch`. */
export interface Binding {
  fetch(request: Request): Response | Promise<Response>
}

export type ServiceAddress =
  /** Where the service is mounted. */
  | { readonly url: string | URL; readonly fetch?: Fetch; readonly binding?: undefined }
  | { readonly binding: Binding; readonly url?: string | URL; readonly fetch?: undefined }
  | { readonly fetch: Fetch; readonly url?: string | URL; readonly binding?: undefined }

export type BatonOptions = ServiceAddress & {
  /** The key of the service's API, if it wants one. */
  readonly key?: string
  /** Sent with every request. */
  readonly headers?: { readonly [name: string]: string }
  /**
   * For a Worker that has the service as a binding: the request that the Worker is answering, or a Cloudflare
   * location hint. Baton then asks the participant that is nearest to it. A service at a URL finds out by
   * itself where a request comes from; a binding does not tell it.
   */
  readonly near?: Near
  /** How long one request may take, on top of the wait that it asks for. Default: 10 s. */
  readonly timeoutMs?: number
  readonly retry?: RetryOptions
  /**
   * Opens the sockets of sessions, instead of the platform's own `WebSocket`. Node before 22 has none, so the
   * client brings one for it.
   *
   * @example
   * createBaton({ url, webSocket: (url, protocols) => new WebSocket(url, protocols) })
   */
  readonly webSocket?: (url: string, protocols: string[]) => Socket
  /**
   * For a Worker: keeps work going after the answer, so that a wait that was given up is withdrawn even if
   * the Worker has nothing else to do.
   *
   * @example
   * createBaton({ binding: env.BATON, waitUntil: work => ctx.waitUntil(work) })
   */
  readonly waitUntil?: (work: Promise<unknown>) => void
  /**
   * Makes a span for each call: OpenTelemetry's `trace.getTracer('…')`, or anything of its shape. If a span
   * has a context, its requests carry it on as `traceparent`.
   */
  readonly tracer?: Tracer
  readonly clock?: Clock
  /** Between 0 and 1, for jitter. */
  readonly random?: () => number
  /** Makes the ids of operations. */
  readonly newId?: () => string
}

export interface Baton {
  /**
   * Returns a lock by its name, without asking the service: a lock that was never configured has the
   * defaults. `Guarded` says what it guards: the type of its state, or the ops of a resource of your own.
   *
   * @example
   * const stock = baton.lock<{ left: number; orders: Order[] }>('stock')
   * const { value } = await stock.get('left')
   */
  lock<Guarded extends object = KeyValue>(name: string): Lock<ResourceOf<Guarded>>
  /**
   * The same, with schemas for the keys (zod, valibot or any other Standard Schema): values are checked when
   * they are written and when they are read.
   */
  lock<const Schemas extends StateSchemas>(
    name: string,
    options: { readonly schemas: Schemas },
  ): Lock<StateMap<OutputsOf<Schemas>, InputsOf<Schemas>>>
  /** The same locks in the shape of the Web Locks API. */
  readonly locks: Locks
  /** One page of the locks that there are, in the order of their names. */
  listLocks(options?: ListLocksOptions): Promise<LocksPage>
  /**
   * All of them, page by page.
   *
   * @example
   * for await (const { lock } of baton.eachLock({ prefix: 'orders:' })) console.log(lock)
   */
  eachLock(options?: ListLocksOptions): AsyncGenerator<ListedLock, void, undefined>
}

/** A location hint, or a request: Cloudflare says where that comes from. */
export type Near = Location | { readonly cf?: unknown }

/** Nobody resolves this name: a binding, or a `fetch` of your own, looks only at the path. */
const ANY_ORIGIN = 'https://baton'
const DEFAULT_TIMEOUT_MS = 10_000

/**
 * @example
 * const baton = createBaton({ url: 'https://baton.example.com', key })
 * const baton = createBaton({ binding: env.BATON, key, near: request })
 * const baton = createBaton({ fetch: app.fetch })
 *
 * await baton.lock('orders').run(async held => {
 *   await held.apply([{ increment: 'sold' }])
 * })
 */
export function createBaton(options: BatonOptions): Baton {
  const { key, headers, clock = systemClock, random = Math.random, newId = randomId } = options
  const transport = new Transport({
    fetch: fetchOf(options),
    base: String(options.url ?? ANY_ORIGIN).replace(/\/+$/, ''),
    headers: { ...headers, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    clock,
    ...(options.near !== undefined && { cf: cfOf(options.near) }),
  })
  const retry = { ...DEFAULT_RETRY, ...options.retry }
  const { waitUntil = () => {}, tracer } = options
  const isElsewhere = options.binding === undefined && options.fetch === undefined
  const openSocket =
    isElsewhere || options.webSocket !== undefined
      ? socketByConstructor(key, options.webSocket)
      : socketByUpgrade
  const connection = new Connection({ transport, clock, random, newId, openSocket, retry, waitUntil, tracer })
  const lock = (name: string, options?: { readonly schemas: StateSchemas }) =>
    new Lock<never>(connection, name, options && new Schemas(options.schemas))
  return {
    lock,
    locks: new Locks(name => new Lock(connection, name), randomId()),
    listLocks: (options = {}) => listLocks(connection, options),
    eachLock: (options = {}) => eachLock(connection, options),
  }
}

/**
 * In Workers a request from Worker to Worker can carry what the platform would say about it; no request from
 * outside can.
 */
function cfOf(near: Near): unknown {
  return typeof near === 'string' ? { batonLocation: near } : near.cf
}

function fetchOf({ fetch, binding }: BatonOptions): Fetch {
  if (binding !== undefined) return request => binding.fetch(request)
  // Looked up at each call, so that what replaces the global `fetch` later (a test, a tracer) is heeded.
  return fetch ?? (request => globalThis.fetch(request))
}
