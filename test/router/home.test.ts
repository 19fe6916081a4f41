/** The root: a page for a browser, a short answer with links for everybody else. */
import { readFileSync } from 'node:fs'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { homeAnswer } from '../../shared/api/answer-schemas.ts'
import { createHarness } from './fake.ts'

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const page = async (options = {}) => {
  const response = await createHarness(options).send('GET', '/', undefined, { headers: BROWSER })
  return { response, text: await response.text() }
}

describe('a browser', () => {
  it('gets a page with the state of the service, lines to try and links', async () => {
    const { response, text } = await page()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=UTF-8')
    expect(response.headers.get('vary')).toBe('Accept')
    expect(text).toContain('<dt>Health</dt><dd class="good">ok</dd>')
    expect(text).toContain('<dt>Participants</dt><dd>3</dd>')
    expect(text).toContain('weur, enam, apac')
    expect(text.match(/<pre class="curl"><code>curl /g)).toHaveLength(3)
    for (const path of ['/docs', '/openapi.json', '/healthz', '/metrics'])
      expect(text).toContain(`href="${path}"`)
    expect(text).not.toMatch(/undefined|\[object/)
  })

  it('needs nothing from elsewhere, and its policy allows its style alone', async () => {
    const { response, text } = await page()
    const policy = response.headers.get('content-security-policy')!
    const nonce = /style-src 'nonce-([^']+)'/.exec(policy)?.[1]
    expect(policy).toContain("default-src 'none'")
    expect(text).toContain(`<style nonce="${nonce}">`)
    expect(policy).toContain('img-src data:')
    const own = text.replaceAll(/<code>[^<]*<\/code>|<link rel="icon" href="data:[^"]*">/g, '')
    expect(own).not.toMatch(/<script|<link|<img|src=|https?:|style="/)
  })

  it('is told what is wrong', async () => {
    const healing = { ledgerHealth: async () => ({ healed: true, unfinishedLocks: 2 }) }
    expect((await page(healing)).text).toContain('<dd class="bad">recovering</dd>')
    const closed = (await page({ keys: undefined })).text
    expect(closed).toContain('none yet: every call is refused')
    expect(closed).toContain('<code>npx @baton-lock/baton key</code>')
    expect(closed).toContain('$BATON_KEY')
  })
})

describe('everybody else', () => {
  it.each(['*/*', 'application/json', undefined])(
    'with Accept: %s gets an answer with links',
    async accept => {
      const headers: { [name: string]: string } = accept === undefined ? {} : { accept }
      const response = await createHarness().send('GET', '/', undefined, { headers })
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(response.headers.get('vary')).toBe('Accept')
      const body = await response.json()
      expect(homeAnswer.safeParse(body).success).toBe(true)
      const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
      expect(body).toMatchObject({ status: 'ok', version, links: { docs: '/docs' } })
    },
  )

  it('is told of no address of a participant', async () => {
    const response = await createHarness({
      defaults: {
        number: 1,
        protocol: 'wme-2',
        participants: [{ id: 1, location: null, url: 'http://10.0.0.1:1' }],
        firstOwner: 1,
        ttlMs: 30_000,
        detector: { heartbeatMs: 500, timeoutMs: 2_000 },
        localHandoffs: 1,
        resource: 'key-value',
      },
    }).send('GET', '/')
    expect(await response.text()).not.toContain('10.0.0.1')
  })
})

it('below a path, its links are below it too', async () => {
  const outer = new Hono().route('/a/b', createHarness().app)
  const body = (await (await outer.request('/a/b')).json()) as { links: object }
  expect(body.links).toMatchObject({ docs: '/a/b/docs', metrics: '/a/b/metrics' })
})

it('has no other methods', async () => {
  const response = await createHarness().send('POST', '/', {})
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})
