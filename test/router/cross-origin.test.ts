/** Which pages of other origins may call the service, and what they are told. */
import { describe, expect, it } from 'vitest'
import { type AllowedOrigins, acrossOrigins, allowedOrigins } from '../../worker/cross-origin.ts'
import type { BatonEnvironment } from '../../worker/environment.ts'

const SHOP = 'https://shop.example'
const EVIL = 'https://evil.example'
const OPEN: AllowedOrigins = { listed: [], loopback: true }
const LISTED: AllowedOrigins = { listed: [SHOP, 'http://localhost:3000'], loopback: false }

const answered = async () => new Response('refused', { status: 409, headers: { etag: '"1"' } })

function ask(
  origins: AllowedOrigins,
  headers: { readonly [name: string]: string },
  { method = 'POST', answer = answered } = {},
): Promise<Response> {
  const request = new Request('http://127.0.0.1:8787/v1/locks/a/eject', { method, headers })
  return acrossOrigins(request, origins, answer)
}

const preflight = (origin: string) => ({ origin, 'access-control-request-method': 'POST' })

describe('a page of an origin that is allowed', () => {
  it('may ask first, and is told what it may send', async () => {
    const never = () => Promise.reject(new Error('a preflight reaches nobody'))
    const { status, headers } = await ask(LISTED, preflight(SHOP), { method: 'OPTIONS', answer: never })
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe(SHOP)
    expect(headers.get('access-control-allow-methods')?.split(', ')).toEqual(
      expect.arrayContaining(['GET', 'PUT', 'POST', 'DELETE']),
    )
    expect(headers.get('access-control-allow-headers')?.split(', ')).toEqual(
      expect.arrayContaining([
        'authorization',
        'content-type',
        'if-none-match',
        'last-event-id',
        'x-request-id',
      ]),
    )
    expect(Number(headers.get('access-control-max-age'))).toBeGreaterThan(0)
    expect(headers.get('vary')).toBe('Origin')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  })

  it('can read an answer, a refusal too, with its headers', async () => {
    const response = await ask(LISTED, { origin: SHOP })
    expect([response.status, await response.text()]).toEqual([409, 'refused'])
    expect(response.headers.get('access-control-allow-origin')).toBe(SHOP)
    expect(response.headers.get('access-control-expose-headers')?.split(', ')).toEqual(
      expect.arrayContaining(['etag', 'retry-after', 'x-request-id']),
    )
    expect([response.headers.get('etag'), response.headers.get('vary')]).toEqual(['"1"', 'Origin'])
  })

  it('can read an answer whose headers cannot be changed, and that varies already', async () => {
    const answer = async () => {
      const response = new Response('x', { headers: { vary: 'Accept' } })
      const fail = () => {
        throw new TypeError('immutable')
      }
      Object.assign(response.headers, { set: fail, append: fail })
      return response
    }
    const { headers } = await ask(LISTED, { origin: SHOP }, { answer })
    expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([
      SHOP,
      'Accept, Origin',
    ])
  })
})

describe('another page', () => {
  it.each([EVIL, 'null', `${SHOP}.evil.example`, 'https://sub.shop.example', 'http://shop.example', ''])(
    'of %s is told nothing',
    async origin => {
      const { headers } = await ask(LISTED, { origin })
      expect(headers.get('access-control-allow-origin')).toBeNull()
      expect(headers.get('vary')).toBe('Origin')
      const asked = await ask(LISTED, preflight(origin), { method: 'OPTIONS' })
      expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([409, null])
    },
  )
})

describe('an open service', () => {
  it.each(['http://localhost:5173', 'http://127.0.0.1:3000', 'http://[::1]:8080', 'http://localhost'])(
    'allows pages of %s',
    async origin => {
      expect((await ask(OPEN, { origin })).headers.get('access-control-allow-origin')).toBe(origin)
      expect((await ask(OPEN, preflight(origin), { method: 'OPTIONS' })).status).toBe(204)
    },
  )

  it.each([EVIL, 'null', 'http://localhost.evil.example', 'http://127.0.0.1.evil.example'])(
    'allows no pages of %s',
    async origin => {
      expect((await ask(OPEN, { origin })).headers.get('access-control-allow-origin')).toBeNull()
    },
  )
})

describe('nothing is added', () => {
  it('where nobody is allowed', async () => {
    const { headers } = await ask({ listed: [], loopback: false }, { origin: SHOP })
    expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([null, null])
  })

  it('to the answer to a WebSocket', async () => {
    const answer = await answered()
    const given = await ask(LISTED, { origin: SHOP, upgrade: 'websocket' }, { answer: async () => answer })
    expect(given).toBe(answer)
  })
})

describe('the origins', () => {
  const of = (variables: object, more: string[] = []) =>
    allowedOrigins(variables as unknown as BatonEnvironment, more)

  it('are those of the deployment and of the code', () => {
    expect(of({ BATON_CORS_ORIGINS: ` ${SHOP}, http://localhost:3000 ,` }, [EVIL])).toEqual({
      listed: [SHOP, 'http://localhost:3000', EVIL],
      loopback: false,
    })
    expect(of({})).toEqual({ listed: [], loopback: false })
    expect(of({ BATON_OPEN: 'true' })).toEqual({ listed: [], loopback: true })
  })

  it('can be all of them', async () => {
    const { headers } = await ask(of({ BATON_CORS_ORIGINS: '*' }), { origin: EVIL })
    expect(headers.get('access-control-allow-origin')).toBe(EVIL)
  })
})
