import { Hono } from 'hono'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type BatonOptions, createBaton } from '../../client/index.ts'

const page = { entries: [], cursor: null, sequence: 0 }
const path = '/v1/locks/orders/state'

afterEach(() => vi.unstubAllGlobals())

/** The request that a client with these options makes. */
async function requestOf(
  make: (fetch: (request: Request) => Promise<Response>) => BatonOptions,
): Promise<Request> {
  const requests: Request[] = []
  const options = make(async request => {
    requests.push(request)
    return Response.json(page)
  })
  await createBaton(options).lock('orders').list()
  return requests[0]!
}

describe('where the service is', () => {
  it.each(['https://example.com', 'https://example.com/', 'https://example.com/some/path/'])(
    'url: %s',
    async url => {
      const request = await requestOf(fetch => {
        vi.stubGlobal('fetch', fetch)
        return { url, key: 'secret', headers: { 'x-own': '1' } }
      })
      expect(request.url).toBe(`${url.replace(/\/$/, '')}${path}`)
      expect(request.headers.get('authorization')).toBe('Bearer secret')
      expect(request.headers.get('x-own')).toBe('1')
    },
  )

  it('url: a URL, with a fetch of one’s own', async () => {
    const request = await requestOf(fetch => ({ url: new URL('https://example.com/x'), fetch }))
    expect(request.url).toBe(`https://example.com/x${path}`)
    expect(request.headers.has('authorization')).toBe(false)
  })

  it('binding: called as a method, as bindings must be', async () => {
    class Binding {
      readonly #answer = page
      async fetch(_: Request): Promise<Response> {
        return Response.json(this.#answer)
      }
    }
    expect(await createBaton({ binding: new Binding() }).lock('orders').list()).toEqual(page)
  })

  it('fetch: called without an object in front, as the platform’s must be', async () => {
    const fetch = async function (this: unknown): Promise<Response> {
      expect(this).toBeUndefined()
      return Response.json(page)
    }
    expect(await createBaton({ fetch }).lock('orders').list()).toEqual(page)
  })

  it('fetch: of a hono app, either of its two', async () => {
    const app = new Hono().get(path, c => c.json(page))
    expect(await createBaton({ fetch: app.fetch }).lock('orders').list()).toEqual(page)
    expect(
      await createBaton({ fetch: request => app.request(request) })
        .lock('orders')
        .list(),
    ).toEqual(page)
  })
})
