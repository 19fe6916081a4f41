/**
 * The service about itself: `healthz`, `metrics`, `openapi.json`, `docs`, and the headers of every answer.
 */
import { describe, expect, it } from 'vitest'
import { ROUTE_IDS, ROUTES } from '../../shared/api/routes.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus } from './lock.ts'

const service = useService()

describe('the service', () => {
  it('GET /healthz', async () => {
    const { text } = expectStatus(await service.send('GET', '/healthz'), 200)
    expect(JSON.parse(text)).toEqual({ status: 'ok' })
  })

  it('GET /metrics counts what was asked and refused', async () => {
    const lock = service.lock()
    const count = async (line: string) => {
      const { text } = expectStatus(await service.send('GET', '/metrics'), 200)
      const found = text.split('\n').find(candidate => candidate.startsWith(`${line} `))
      return Number(found?.slice(line.length + 1) ?? 0)
    }
    const asked = 'baton_requests_total{route="/v1/locks/{lock}/acquire",method="POST",status="409"}'
    const refused = 'baton_problems_total{code="locked"}'
    const before = [await count(asked), await count(refused)]
    const grant = await lock.granted()
    await lock.acquire({ waitMs: 0 })
    expect([await count(asked), await count(refused)]).toEqual(before.map(number => number + 1))
    await lock.released(grant)
    const { text, headers } = await service.send('GET', '/metrics')
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    for (const line of text.trimEnd().split('\n')) {
      expect(line).toMatch(
        /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[^{}]*(\{lock\}|\{id\}|\{key\}|[^{}])*\})? [0-9.e+]+)$/,
      )
    }
  })

  it('GET /openapi.json describes every call', async () => {
    const { text } = expectStatus(await service.send('GET', '/openapi.json'), 200)
    const document = JSON.parse(text) as {
      openapi: string
      paths: { [path: string]: { [method: string]: unknown } }
    }
    expect(document.openapi).toMatch(/^3\.1/)
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(method => `${method} ${path}`),
    )
    expect(described.sort()).toEqual(ROUTE_IDS.map(id => `${ROUTES[id].method} ${ROUTES[id].path}`).sort())
  })

  it('GET /docs is a page without scripts', async () => {
    const { text, headers } = expectStatus(await service.send('GET', '/docs'), 200)
    expect(headers.get('content-type')).toContain('text/html')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(text).not.toContain('<script')
    for (const id of ROUTE_IDS) expect(text).toContain(ROUTES[id].summary.replaceAll('&', '&amp;'))
  })

  it('gives every answer an id, and nobody a copy to keep', async () => {
    const lock = service.lock()
    for (const answer of [
      await lock.status(),
      await lock.get('nothing'),
      await lock.transact([{ get: 'a' }]),
      await service.send('GET', '/nothing'),
    ]) {
      expect(answer.headers.get('x-request-id')).toMatch(/\S/)
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(answer.headers.get('cache-control')).toMatch(/no-(store|cache)/)
    }
    const named = await service.send('GET', '/healthz', { headers: { 'x-request-id': 'my-own-id' } })
    expect(named.headers.get('x-request-id')).toBe('my-own-id')
  })
})

itKeepsEveryPromise(service)
