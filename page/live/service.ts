/** The service that serves this page: the client for it, and the little that the client has no call for. */
import { type Baton, createBaton } from '../../client/baton.ts'
import type { HomeAnswer } from '../../shared/api/types.ts'
import { type LockMetrics, readMetrics } from './metrics.ts'

/** The path below which the service is mounted: that of the page. */
const BASE = location.origin + location.pathname.replace(/\/+$/, '')

/** A difference between the clocks that is smaller says nothing: the service tells whole seconds. */
const NOTICEABLE_MS = 2_000

export class Service {
  readonly baton: Baton
  readonly docs = `${BASE}/docs`
  readonly #headers: { readonly [name: string]: string }
  #aheadMs = 0

  constructor(key: string) {
    const isKeyed = key !== ''
    this.#headers = isKeyed ? { authorization: `Bearer ${key}` } : {}
    const fetch = async (request: Request) => this.#heed(await globalThis.fetch(request))
    // What fails is shown at once, and asked for again by whoever looks.
    this.baton = createBaton({ url: BASE, fetch, retry: { attempts: 2 }, ...(isKeyed && { key }) })
  }

  /** The time by the service's clock, which says when a grant ends. */
  now(): number {
    return Date.now() + this.#aheadMs
  }

  /** `null` if the service, or the key, does not allow it. */
  async metricsOf(lock: string, signal: AbortSignal): Promise<LockMetrics | null> {
    const address = `${BASE}/metrics?lock=${encodeURIComponent(lock)}`
    const response = await fetch(address, { headers: this.#headers, signal })
    return response.ok ? readMetrics(await response.text()) : null
  }

  async about(): Promise<HomeAnswer> {
    const response = await fetch(`${BASE}/`, { headers: { accept: 'application/json' } })
    return response.json()
  }

  #heed(response: Response): Response {
    const date = Date.parse(response.headers.get('date') ?? '')
    if (!Number.isNaN(date)) {
      const ahead = date - Date.now()
      this.#aheadMs = Math.abs(ahead) < NOTICEABLE_MS ? 0 : ahead
    }
    return response
  }
}
