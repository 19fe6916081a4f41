/** The app as a whole: mounted anywhere, with hono's middlewares around it. */
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { createHarness, NEAR_2, problemOf } from './fake.ts'

describe('mounted below a path', () => {
  const mount = (path: string) => {
    const harness = createHarness()
    const outer = new Hono()
    outer.get('/', c => c.text('hello'))
    outer.route(path, harness.app)
    outer.notFound(c => c.text('outer', 404))
    return { ...harness, outer }
  }

  it.each(['/baton', '/a/b', '/:tenant/locks'])('%s', async path => {
    const { outer, participants } = mount(path)
    const base = path.replace(':tenant', 'acme')
    const acquired = await outer.request(`${base}/v1/locks/jobs/acquire`, { method: 'POST' })
    expect(acquired.status).toBe(200)
    expect(acquired.headers.get('x-request-id')).not.toBeNull()
    expect(participants.asked[0]?.lock).toBe('jobs')
    expect((await outer.request(`${base}/v1/locks/jobs/state/a%2Fb`)).status).toBe(200)
    expect(participants.asked[1]?.call).toMatchObject({ key: 'a/b' })
    expect((await outer.request(`${base}/healthz`)).status).toBe(200)

    const missing = await outer.request(`${base}/nothing`)
    expect(missing.status).toBe(404)
    expect((await problemOf(missing)).code).toBe('no_such_route')
    const wrong = await outer.request(`${base}/v1/locks/jobs/acquire`)
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])

    const openapi = (await (await outer.request(`${base}/openapi.json`)).json()) as { servers: unknown }
    expect(openapi.servers).toEqual([{ url: base }])
    expect(await (await outer.request(`${base}/docs`)).text()).toContain(`${base}</code>`)
  })

  it('leaves the rest to the outer app', async () => {
    const { outer } = mount('/baton')
    expect(await (await outer.request('/')).text()).toBe('hello')
    expect(await (await outer.request('/v1/locks/jobs')).text()).toBe('outer')
  })

  it('handles its defects by itself', async () => {
    const harness = createHarness({
      participantMetrics: () => {
        throw new Error('broken')
      },
    })
    const outer = new Hono().route('/baton', harness.app)
    outer.onError((_, c) => c.text('outer', 500))
    const response = await outer.request('/baton/metrics')
    expect(response.status).toBe(500)
    expect((await problemOf(response)).code).toBe('internal')
  })
})

describe('/metrics', () => {
  it('counts requests by route and status, problems by code, and silences', async () => {
    const { send, participants } = createHarness({
      participantMetrics: () => '# TYPE mine counter\nmine 1\n\n',
    })
    participants.on(2, () => {
      throw new Error('gone')
    })
    await send('POST', '/v1/locks/one/acquire')
    await send('POST', '/v1/locks/two/acquire')
    await send('POST', '/v1/locks/two/acquire', { x: 1 })
    await send('GET', '/v1/locks/two/state/a', undefined, { cf: NEAR_2 })
    await send('GET', '/nothing"\n')
    const response = await send('GET', '/metrics')
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const lines = (await response.text()).split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        '# TYPE baton_requests_total counter',
        'baton_requests_total{route="/v1/locks/{lock}/acquire",method="POST",status="200"} 2',
        'baton_requests_total{route="/v1/locks/{lock}/acquire",method="POST",status="400"} 1',
        'baton_requests_total{route="/v1/locks/{lock}/state/{key}",method="GET",status="200"} 1',
        'baton_requests_total{route="none",method="GET",status="404"} 1',
        'baton_problems_total{code="bad_request"} 1',
        'baton_problems_total{code="no_such_route"} 1',
        'baton_participant_silences_total{participant="2"} 1',
        'mine 1',
      ]),
    )
    for (const line of lines) expect(line).toMatch(/^$|^# (HELP|TYPE) \w+ .+$|^\w+(\{.*\})? \d+$/)
  })
})

describe('every answer', () => {
  it.each(['/healthz', '/nothing', '/v1/locks/jobs', '/v1/locks/!', '/docs', '/metrics'])(
    '%s has the headers',
    async path => {
      const { headers } = await createHarness().send('GET', path)
      expect(headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('server-timing')).toContain('total;dur=')
      expect(headers.get('access-control-allow-origin')).toBeNull()
    },
  )

  it('has the id that the request came with', async () => {
    const { send } = createHarness()
    const response = await send('GET', '/nothing', undefined, { headers: { 'x-request-id': 'mine-1' } })
    expect(response.headers.get('x-request-id')).toBe('mine-1')
    expect((await problemOf(response)).requestId).toBe('mine-1')
  })
})
