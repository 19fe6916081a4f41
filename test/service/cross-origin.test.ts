/** Pages of other origins at the real service: what a browser asks first, and what it lets the page read. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { itKeepsEveryPromise, useService } from './harness.ts'

const SHOP = 'https://shop.example'
const KEY = 'baton_a-key-of-these-tests'
const KEYS = JSON.stringify([
  { name: 'shop', hash: createHash('sha256').update(KEY).digest('hex'), locks: ['*'], verbs: ['*'] },
])
const POST = { 'content-type': 'application/json' }
const preflight = (origin: string) => ({
  origin,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type',
})
const allowed = ({ headers }: { readonly headers: Headers }) => headers.get('access-control-allow-origin')

describe('a service with keys and BATON_CORS_ORIGINS', () => {
  const service = useService({ BATON_OPEN: '', BATON_KEYS: KEYS, BATON_CORS_ORIGINS: SHOP })
  const post = (origin: string, headers: object) =>
    fetch(`${service.url}/v1/locks/a/transact`, {
      method: 'POST',
      headers: { ...POST, origin, ...headers },
      body: JSON.stringify({ opId: 'o', ops: [{ get: 'a' }] }),
    })

  it('lets the listed page ask, use its key, and read a refusal', async () => {
    const headers = preflight(SHOP)
    const asked = await fetch(`${service.url}/v1/locks/a/transact`, { method: 'OPTIONS', headers })
    expect([asked.status, allowed(asked)]).toEqual([204, SHOP])
    const answered = await post(SHOP, { authorization: `Bearer ${KEY}` })
    expect([answered.status, allowed(answered)]).toEqual([200, SHOP])
    expect(answered.headers.get('access-control-expose-headers')).toContain('x-request-id')
    const refused = await post(SHOP, {})
    expect([refused.status, allowed(refused)]).toEqual([401, SHOP])
    const missing = await fetch(`${service.url}/nothing`, { headers: { origin: SHOP } })
    expect([missing.status, allowed(missing)]).toEqual([404, SHOP])
    for (const { headers } of [asked, answered, refused, missing]) expect(headers.get('vary')).toBe('Origin')
  })

  it('tells another page nothing', async () => {
    const other = 'https://evil.example'
    const asked = await fetch(`${service.url}/v1/locks/a/transact`, {
      method: 'OPTIONS',
      headers: preflight(other),
    })
    expect([asked.ok, allowed(asked)]).toEqual([false, null])
    expect(allowed(await post(other, { authorization: `Bearer ${KEY}` }))).toBeNull()
  })
})

describe('an open service, as `npm start` runs it', () => {
  const service = useService()
  const eject = (lock: string, origin: string) =>
    fetch(`${service.url}/v1/locks/${lock}/eject`, {
      method: 'POST',
      headers: { ...POST, origin },
      body: '{}',
    })

  it('serves a page of this machine on any port, and lets it read a stream', async () => {
    const lock = service.lock()
    const { fence } = await lock.granted()
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1:3000', 'http://[::1]:8080']) {
      const asked = await fetch(`${service.url}/v1/locks/a/acquire`, {
        method: 'OPTIONS',
        headers: preflight(origin),
      })
      expect([asked.status, allowed(asked)]).toEqual([204, origin])
    }
    const origin = 'http://localhost:5173'
    const stream = await fetch(`${service.url}/v1/locks/${lock.name}/watch`, { headers: { origin } })
    expect([stream.status, allowed(stream)]).toEqual([200, origin])
    await stream.body?.cancel()
    const ejected = await eject(lock.name, origin)
    expect([ejected.status, allowed(ejected), fence > 0]).toEqual([200, origin, true])
  })

  it('ejects nobody for a page of another site', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example']) {
      const refused = await eject(lock.name, origin)
      expect([refused.status, allowed(refused)]).toEqual([403, null])
    }
    await lock.released(grant)
  })
  itKeepsEveryPromise(service)
})

describe('a service that is set up wrongly', () => {
  const service = useService({ BATON_PROTOCOL: 'wme2', BATON_CORS_ORIGINS: SHOP })

  it('says so to the page as well', async () => {
    const response = await fetch(`${service.url}/healthz`, { headers: { origin: SHOP } })
    expect([response.status, allowed(response)]).toEqual([503, SHOP])
  })
})
