/**
 * The shop of examples/limited-stock and Baton as two Workers of one Miniflare, and buyers in several
 * regions.
 */
import { createHash } from 'node:crypto'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { type Baton, createBaton } from '../../client/index.ts'
import type { Sale } from '../../examples/limited-stock/shop.ts'
import { bundle } from '../../worker/local/build.ts'
import { COMPATIBILITY_DATE } from '../../worker/local/workerd.ts'
import { fileOf } from './workers.ts'

/** As Cloudflare tells where a request comes from, each near another participant: 1 weur, 2 enam, 3 apac. */
export const REGIONS = [
  { colo: 'FRA', latitude: '50.1', longitude: '8.7' },
  { colo: 'IAD', latitude: '39.0', longitude: '-77.5' },
  { colo: 'HKG', latitude: '22.3', longitude: '114.2' },
]

export class Market {
  private readonly miniflare: Miniflare
  /** As an operator sees it. */
  readonly baton: Baton

  private constructor(miniflare: Miniflare, key: string) {
    this.miniflare = miniflare
    const fetch = async (request: Request) => {
      const { method, url, headers } = request
      const body = method === 'POST' || method === 'PUT' ? { body: await request.text() } : {}
      const options = { method, headers: [...headers], ...body }
      return (await miniflare.dispatchFetch(url, options)) as unknown as Response
    }
    this.baton = createBaton({ fetch, key })
  }

  static async open(): Promise<Market> {
    const [shopKey, operatorKey] = ['key-of-the-shop', 'key-of-the-operator']
    const entry = (key: string, locks: string, ...verbs: string[]) => {
      return { name: key, hash: createHash('sha256').update(key).digest('hex'), locks: [locks], verbs }
    }
    const worker = { modules: true, compatibilityDate: COMPATIBILITY_DATE }
    const shop = {
      ...worker,
      name: 'shop',
      script: await bundle(fileOf('examples/limited-stock/worker.ts')),
      serviceBindings: { BATON: 'baton' },
      bindings: { BATON_KEY: shopKey },
    }
    const baton = {
      ...worker,
      name: 'baton',
      script: await bundle(fileOf('test/examples/crashing-baton.ts')),
      compatibilityFlags: ['enable_request_signal', 'request_signal_passthrough'],
      // The host that the client names when it has a `fetch` instead of an address.
      routes: ['baton/*'],
      durableObjects: { PARTICIPANT: { className: 'BatonParticipant', useSQLite: true } },
      bindings: {
        BATON_KEYS: JSON.stringify([
          entry(shopKey, 'tickets', 'acquire', 'read'),
          entry(operatorKey, '*', '*'),
        ]),
      },
    }
    const miniflare = new Miniflare(convertV4MiniflareOptions({ workers: [shop, baton], cf: false }))
    await miniflare.ready
    return new Market(miniflare, operatorKey)
  }

  /** Asks as often as the shop says that one should. `null` if there is no ticket left. */
  async buy(buyer: string, region: (typeof REGIONS)[number]): Promise<Sale | null> {
    for (;;) {
      const response = await this.miniflare.dispatchFetch(`http://shop/buy?buyer=${buyer}`, {
        method: 'POST',
        cf: region,
      })
      if (response.status === 200) return (await response.json()) as Sale
      if (response.status === 410) return null
      if (response.status !== 503) throw new Error(`${response.status} ${await response.text()}`)
      await new Promise(resolve => setTimeout(resolve, Number(response.headers.get('retry-after')) * 1_000))
    }
  }

  async left(): Promise<number> {
    const response = await this.miniflare.dispatchFetch('http://shop/left', { cf: REGIONS[0]! })
    return ((await response.json()) as { readonly left: number }).left
  }

  /** As if the machine that this participant lives on had failed. */
  async crash(lock: string, participant: number): Promise<boolean> {
    const response = await this.miniflare.dispatchFetch(`https://baton/crash/${lock}/${participant}`)
    return ((await response.json()) as { readonly isGone: boolean }).isGone
  }

  close(): Promise<void> {
    return this.miniflare.dispose()
  }
}
