/**
 * The public API as a hono app. It can be the whole Worker, or be mounted below a path of another hono app:
 *
 * @example
 * const baton = createRouter({ participants, keys: env.BATON_KEYS, defaults })
 * app.route('/locks', baton)
 *
 * The table of routes (shared/api/routes.ts) says what there is. Each request is checked in this order: who
 * is asking (401), is the path well-formed (400, 404), may they do this (403), are query and body well-formed
 * (400, 413, 415)? Then the handler of its route answers.
 */
import { Hono } from 'hono'
import { NONCE, secureHeaders } from 'hono/secure-headers'
import { ROUTE_IDS, ROUTES, type Route, type RouteId } from '../../shared/api/routes.ts'
import { requestIdOf } from '../request-id.ts'
import { defect, malformed, problemResponse } from './answers.ts'
import { type Authentication, authentication, authorization } from './authentication.ts'
import { serveBuiltPage } from './built-page.ts'
import { checkBody, checkPath, checkQuery } from './check-request.ts'
import type { Call, Handlers, RouterContext, RouterEnvironment, Services } from './context.ts'
import { endHandlers } from './handlers/ends.ts'
import { grantHandlers } from './handlers/grants.ts'
import { historyHandlers } from './handlers/history.ts'
import { listingHandlers } from './handlers/listing.ts'
import { lockHandlers } from './handlers/locks.ts'
import { memberHandlers } from './handlers/members.ts'
import { movingHandlers } from './handlers/moving.ts'
import { serviceHandlers } from './handlers/service.ts'
import { stateHandlers } from './handlers/state.ts'
import { streamHandlers } from './handlers/streams.ts'
import { type RouterOptions, servicesFrom } from './options.ts'

const HANDLERS: Handlers = {
  ...endHandlers,
  ...grantHandlers,
  ...historyHandlers,
  ...listingHandlers,
  ...lockHandlers,
  ...memberHandlers,
  ...movingHandlers,
  ...serviceHandlers,
  ...stateHandlers,
  ...streamHandlers,
}

/** A browser shows these. */
const PAGES: readonly RouteId[] = ['home', 'docs']

/** With these, an answer to `HEAD` would leave a stream open that nobody reads. */
const WITHOUT_HEAD: readonly RouteId[] = ['watch', 'session']

export function createRouter(options: RouterOptions): Hono<RouterEnvironment> {
  const services = servicesFrom(options)
  const authenticate = authentication(services.keys)
  const app = new Hono<RouterEnvironment>()
  if (options.assets !== undefined)
    serveBuiltPage(app, options.assets, (c, route, run) => answer(c, services, route, run))
  for (const page of PAGES) app.on('get', pattern(ROUTES[page].path), PAGE_HEADERS)
  for (const id of ROUTE_IDS) {
    const { method, path }: Route = ROUTES[id]
    app.on(method, pattern(path), c => answer(c, services, path, () => serve(c, id, services, authenticate)))
  }
  for (const path of new Set(ROUTE_IDS.map(id => ROUTES[id].path))) {
    app.all(pattern(path), c => answer(c, services, path, () => methodNotAllowed(c, path)))
  }
  // Not `notFound`, which belongs to the outermost app.
  app.all('*', c => answer(c, services, 'none', () => noSuchRoute(c)))
  return app
}

/**
 * What is done around every route, in one pass. Middlewares would do the same with a wait for each of them,
 * on every request.
 */
async function answer(
  c: RouterContext,
  { metrics, log }: Services,
  route: string,
  run: () => Response | Promise<Response>,
): Promise<Response> {
  const { raw, method } = c.req
  c.set('incoming', raw)
  c.set('began', performance.now())
  c.set('requestId', requestIdOf(raw.headers))
  let response = refuseBody(c)
  try {
    response ??= await run()
  } catch (error) {
    response = defect(c, error, log)
  }
  metrics.request(route, method, response.status)
  const code = c.get('problemCode')
  if (code !== undefined) metrics.problem(code)
  return response
}

async function serve(
  c: RouterContext,
  id: RouteId,
  services: Services,
  authenticate: Authentication,
): Promise<Response> {
  const route: Route = ROUTES[id]
  const stranger = route.verb === null ? null : await authenticate(c)
  if (stranger !== null) return stranger
  if (c.req.method === 'HEAD' && WITHOUT_HEAD.includes(id)) return methodNotAllowed(c, route.path)
  const parameters = checkPath(c, route)
  if (!parameters.ok) return parameters.response
  const lock = (parameters.value.lock as string | undefined) ?? null
  const forbidden = authorization(c, route.verb, lock)
  if (forbidden !== null) return forbidden
  const query = checkQuery(c, route)
  if (!query.ok) return query.response
  const body = route.body === null ? NO_BODY : await checkBody(c, services, route, lock ?? '')
  if (!body.ok) return body.response
  const handler = HANDLERS[id] as (call: Call<RouteId>) => Response | Promise<Response>
  const call = { c, services, parameters: parameters.value, query: query.value, body: body.value }
  try {
    return await handler(call as Call<RouteId>)
  } catch (error) {
    return defect(c, error, services.log, id === 'ops' || id === 'transact' ? 'unknown' : undefined)
  }
}

const NO_BODY = { ok: true, value: undefined } as const

// ---------------------------------------------------------------- around the routes

/** Other headers of a page are those of every answer. The nonce is for its style, and its icon is in it. */
const PAGE_HEADERS = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
    styleSrc: [NONCE],
    imgSrc: ['data:'],
  },
  strictTransportSecurity: false,
})

/** Such a body means nothing, and a proxy in between may take it for another request. */
function refuseBody(c: RouterContext): Response | null {
  const { method, raw } = c.req
  if ((method !== 'GET' && method !== 'HEAD') || !hasBody(raw)) return null
  return malformed(c, [{ in: 'body', path: '', message: `must be empty: a ${method} has none` }])
}

/** The runtime has a stream also for a body that is said to have no bytes. */
function hasBody({ headers, body }: Request): boolean {
  const length = headers.get('content-length')
  if (length === null || headers.has('transfer-encoding')) return body !== null
  return Number(length) !== 0
}

/** A key may hold anything, also a slash that was not encoded, and also a line break. */
function pattern(path: string): string {
  return path.replace('{key}', ':key{[\\s\\S]+}').replaceAll(/\{(\w+)\}(?!\})/g, ':$1')
}

function methodNotAllowed(c: RouterContext, path: string): Response {
  const methods = ROUTE_IDS.filter(id => ROUTES[id].path === path).flatMap(id => {
    const { method }: Route = ROUTES[id]
    return method === 'get' && !WITHOUT_HEAD.includes(id) ? ['GET', 'HEAD'] : [method.toUpperCase()]
  })
  const allow = methods.join(', ')
  return problemResponse(c, 'method_not_allowed', `This path has the methods ${allow}.`, {
    headers: { allow },
  })
}

function noSuchRoute(c: RouterContext): Response {
  return problemResponse(
    c,
    'no_such_route',
    'There is nothing at this path. `GET /docs` lists what there is.',
  )
}
