/** What the service serves of the page, and how: without a browser. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { homeAnswer } from '../../shared/api/answer-schemas.ts'
import { builtPage } from '../../worker/local/page-folder.ts'
import { useService, useServiceWithPage } from '../service/harness.ts'

const LIMIT_BYTES = 150_000
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

const service = useServiceWithPage()
const without = useService()

const filesIn = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="([^"]*\/assets\/[^"]+)"/g)].map(([, path]) => path!)

describe('a browser', () => {
  it('gets the page, with a policy that allows nothing inline and nobody else', async () => {
    const response = await fetch(`${service.url}/`, { headers: BROWSER })
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=UTF-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('vary')).toContain('Accept')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    const policy = response.headers.get('content-security-policy')!
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
      ]),
    )
    expect(policy).not.toMatch(/unsafe|nonce|\*|https?:/)
    expect(html).not.toMatch(/<style|style="|<script(?![^>]*src=)|https?:/)
  })

  it('gets each of its files, which may be kept for ever', async () => {
    const html = await (await fetch(`${service.url}/`, { headers: BROWSER })).text()
    const types = await Promise.all(
      filesIn(html).map(async path => {
        const response = await fetch(service.url + path)
        expect(response.status, path).toBe(200)
        expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
        expect((await response.text()).length).toBeGreaterThan(50)
        return response.headers.get('content-type')
      }),
    )
    expect(types.sort()).toEqual([
      'image/svg+xml',
      'text/css; charset=utf-8',
      'text/javascript; charset=utf-8',
    ])
  })

  it.each([
    '/assets/nothing.js',
    '/assets/nothing',
    '/assets/index.html',
    '/assets/..%2Findex.html',
    '/assets/',
    '/assets/a/b.js',
    '/index.html',
    '/baton/index.html',
  ])('finds nothing at %s', async path => {
    const response = await fetch(service.url + path, { headers: BROWSER })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ code: 'no_such_route' })
  })

  it('can ask for the head alone', async () => {
    const response = await fetch(`${service.url}/`, { headers: BROWSER, method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  it('gets the page without scripts from a service that has no assets', async () => {
    const html = await (await fetch(`${without.url}/`, { headers: BROWSER })).text()
    expect(html).toContain('<pre class="curl">')
    expect((await fetch(`${without.url}/assets/index.js`)).status).toBe(404)
  })
})

it.each(['*/*', 'application/json'])('a program with Accept: %s gets what it got before', async accept => {
  const [one, other] = await Promise.all(
    [service, without].map(async ({ url }) => (await fetch(`${url}/`, { headers: { accept } })).json()),
  )
  expect(homeAnswer.safeParse(one).success).toBe(true)
  expect(one).toEqual(other)
})

it(`is at most ${LIMIT_BYTES} bytes, compressed`, async () => {
  const folder = join(await builtPage(), 'baton')
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(file => file.isFile())
  const sizes = files.map(file => gzipSync(readFileSync(join(file.parentPath, file.name))).byteLength)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  console.log(`the page: ${files.length} files, ${total} bytes compressed of at most ${LIMIT_BYTES}`)
  expect(files.length).toBeGreaterThan(3)
  expect(total).toBeLessThanOrEqual(LIMIT_BYTES)
})
