/**
 * The page that a browser gets at `/`, and its files below `/assets/`. They are built before (page/), and a
 * binding has them: Cloudflare's static assets, or a folder on this machine. Without the binding, or if it
 * has no page, `/` is answered as if this were not here.
 */
import type { Hono } from 'hono'
import { ROUTES } from '../../shared/api/routes.ts'
import { problemResponse, respond } from './answers.ts'
import type { RouterContext, RouterEnvironment } from './context.ts'

/** Something that answers requests for files, such as the binding of static assets. */
export interface AssetsBinding {
  fetch(request: Request): Promise<Response>
}

/** What is done around every answer. */
type Around = (c: RouterContext, route: string, run: () => Response | Promise<Response>) => Promise<Response>

/** Only the path counts. The folder keeps these files apart from others that a Worker may have. */
const FILES = 'https://assets/baton'

const FILE_NAME = /^[\w-][\w.-]*\.(js|css|svg)$/

const MEDIA_TYPES: { readonly [extension: string]: string } = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The page has no inline code and no inline style, and talks to nobody but this service. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** A service of the same kind may have any assets: this is in the page and in no other. */
const OWN_MARK = '<meta name="application-name" content="Baton">'

export function serveBuiltPage(app: Hono<RouterEnvironment>, assets: AssetsBinding, around: Around): void {
  app.on('get', ROUTES.home.path, async (c, next) => {
    if (!wantsPage(c)) return next()
    const page = await readPage(assets)
    if (page === null) return next()
    // The path below which the service is mounted, which the built page does not know.
    const base = c.req.path.replace(/\/$/, '')
    const html = page.replaceAll('"./', `"${base}/`)
    return around(c, ROUTES.home.path, () => respond(c, 200, html, PAGE_HEADERS))
  })
  app.on('get', '/assets/:file', c => around(c, '/assets/{file}', () => answerFile(c, assets)))
}

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=UTF-8',
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  // The same address has two answers.
  vary: 'Accept',
}

const wantsPage = (c: RouterContext): boolean => (c.req.header('accept') ?? '').includes('text/html')

/** `null` if it is not there: the binding belongs to something else, or nothing was built. */
async function readPage(assets: AssetsBinding): Promise<string | null> {
  const file = await read(assets, 'index.html')
  const page = file === null ? '' : await file.text()
  return page.includes(OWN_MARK) ? page : null
}

async function answerFile(c: RouterContext, assets: AssetsBinding): Promise<Response> {
  const name = c.req.param('file') ?? ''
  const extension = FILE_NAME.exec(name)?.[1]
  const file = extension === undefined ? null : await read(assets, `assets/${name}`)
  // Assets of a single-page application answer every path with their own page.
  const isPage = file?.headers.get('content-type')?.startsWith('text/html') ?? false
  if (file === null || isPage) {
    return problemResponse(c, 'no_such_route', 'The page has no such file. Load it again: it may be newer.')
  }
  // The name of a file changes with what is in it.
  const headers = { 'cache-control': 'public, max-age=31536000, immutable' }
  return respond(c, 200, file.body, { ...headers, 'content-type': MEDIA_TYPES[extension!]! })
}

async function read(assets: AssetsBinding, path: string): Promise<Response | null> {
  const response = await assets.fetch(new Request(`${FILES}/${path}`)).catch(() => null)
  return response?.status === 200 ? response : null
}
