/** The page as the router serves it, with files of the tests' own. */
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import type { AssetsBinding } from '../../worker/router/built-page.ts'
import { createHarness } from './fake.ts'

const BROWSER = { accept: 'text/html,*/*;q=0.8' }
const MARK = '<meta name="application-name" content="Baton">'
const FILES: { readonly [path: string]: string } = {
  '/baton/index.html': `${MARK}<script type="module" src="./assets/index-1.js"></script><a href="./docs">docs</a>`,
  '/baton/assets/index-1.js': 'run()',
}

const NOT_FOUND = () => new Response('nothing', { status: 404 })

/** `otherwise` answers for what is not among the files. */
const assetsOf = (files = FILES, otherwise = NOT_FOUND) => ({
  fetch: async (request: Request) => {
    const file = files[new URL(request.url).pathname]
    return file === undefined ? otherwise() : new Response(file)
  },
})

const ask = (path: string, assets: AssetsBinding | undefined, headers: Record<string, string> = BROWSER) =>
  createHarness({ assets }).send('GET', path, undefined, { headers })

describe('the page', () => {
  it('finds its files below the path where the service is mounted', async () => {
    const app = createHarness({ assets: assetsOf() }).app
    const outer = new Hono().route('/locks-api', app)
    const html = await (await outer.request('/locks-api', { headers: BROWSER })).text()
    expect(html).toContain('src="/locks-api/assets/index-1.js"')
    expect(html).toContain('href="/locks-api/docs"')
    expect(await (await outer.request('/locks-api/assets/index-1.js')).text()).toBe('run()')
    expect(await (await ask('/', assetsOf())).text()).toContain('src="/assets/index-1.js"')
  })

  it('is counted and named like every other answer', async () => {
    const harness = createHarness({ assets: assetsOf() })
    const response = await harness.send('GET', '/', undefined, { headers: BROWSER })
    expect(response.headers.get('x-request-id')).toBeTruthy()
    await harness.send('GET', '/assets/index-1.js')
    const metrics = await (await harness.send('GET', '/metrics')).text()
    expect(metrics).toMatch(/route="\/assets\/\{file\}".* 1$/m)
  })

  it.each<[why: string, assets: AssetsBinding | undefined]>([
    ['there is no binding', undefined],
    ['the binding has no page', assetsOf({})],
    ['the binding has the page of another program', assetsOf({}, () => new Response('<title>Shop</title>'))],
    ['the binding fails', { fetch: () => Promise.reject(new Error('no service')) }],
  ])('is the one without scripts if %s', async (_, assets) => {
    const response = await ask('/', assets)
    expect(await response.text()).toContain('<pre class="curl">')
    expect(response.headers.get('content-security-policy')).toContain("style-src 'nonce-")
  })

  it('is not for programs', async () => {
    for (const headers of [{}, { accept: '*/*' }]) {
      const response = await ask('/', assetsOf(), headers as Record<string, string>)
      expect(await response.json()).toMatchObject({ service: 'baton', status: 'ok' })
    }
  })
})

describe('a file', () => {
  it('that a single-page application answers for is not there', async () => {
    const html = { headers: { 'content-type': 'text/html' } }
    const assets = assetsOf(FILES, () => new Response('<title>Shop</title>', html))
    expect((await ask('/assets/index-2.js', assets)).status).toBe(404)
    expect((await ask('/assets/index-1.js', assets)).status).toBe(200)
  })

  it.each(['/assets/index-1.ts', '/assets/.js', '/assets/%2e%2e%2findex.html', '/assets/index-1.js/more'])(
    'is not at %s, and nobody is asked for it',
    async path => {
      const assets = { fetch: () => Promise.reject(new Error('asked')) }
      expect((await ask(path, assets)).status).toBe(404)
    },
  )

  it('needs no key, as the page needs none', async () => {
    const harness = createHarness({ assets: assetsOf(), keys: undefined })
    expect((await harness.send('GET', '/assets/index-1.js')).status).toBe(200)
    expect((await harness.send('POST', '/assets/index-1.js', {})).status).toBe(404)
  })
})
