/**
 * The public API as a hono app. It can be the whole Worker, or be mounted below a path of another hono app:
 *
 * @example
 * const baton = createRouter({ participants, keys: env.BATON_KEYS, defaults })
 * app.route('/locks', baton)
 *
 * The table of routes (shared/api/routes.ts) says what there is. For each route: who is there (401), is the
 * path well-formed
 * (400, 404), may they (403), are query and body well-formed (400, 413, 415), and then its handler.
 */
import { Hono, type MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { requestId } from 'hono/request-id'
import { NONCE, secureHeaders } from 'hono/secure-headers'
import { timing } from 'hono/timing'
import { ROUTE_IDS, ROUTES, type Route, type RouteId } from '../../shared/api/routes.ts'
import { defect, malformed, problemResponse } from './answers.ts'
import { authentication, authorization } from './authentication.ts'
import { checkBody, checkPath, checkQuery } from './check-request.ts'
import type { Call, Handlers, RouterContext, RouterEnvironment, Services } from './context.ts'
import { grantHandlers } from './handlers/grants.ts'
import { historyHandlers } from './handlers/history.ts'
import { lockHandlers } from './handlers/locks.ts'
import { serviceHandlers } from './handlers/service.ts'
import { stateHandlers } from './handlers/state.ts'
import { streamHandlers } from './handlers/streams.ts'
import { type RouterOptions, servicesFrom } from './options.ts'

type Middleware = MiddlewareHandler<RouterEnvironment>

const HANDLERS: Handlers = {
  ...grantHandlers,
  ...historyHandlers,
  ...lockHandlers,
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
  const app = new Hono<RouterEnvironment>()
  app.onError((error, c) => onError(error, c, services))
  app.use(requestId(), timing(), counting(services), withoutBody)
  const key = authentication(services.keys)
  for (const id of ROUTE_IDS) {
    const { method, path, verb }: Route = ROUTES[id]
    const handle = (c: RouterContext) => serve(c, id, services)
    const headers = PAGES.includes(id) ? PAGE_HEADERS : API_HEADERS
    app.on(method, pattern(path), named(path), headers, verb === null ? pass : key, handle)
  }
  for (const path of new Set(ROUTE_IDS.map(id => ROUTES[id].path))) {
    app.all(pattern(path), API_HEADERS, c => methodNotAllowed(c, path))
  }
  // Not `notFound`, which belongs to the outermost app.
  app.all('*', API_HEADERS, c =>
    problemResponse(c, 'no_such_route', 'There is nothing at this path. `GET /docs` lists what there is.'),
  )
  return app
}

async function serve(c: RouterContext, id: RouteId, services: Services): Promise<Response> {
  const route: Route = ROUTES[id]
  if (c.req.method === 'HEAD' && WITHOUT_HEAD.includes(id)) return methodNotAllowed(c, route.path)
  const parameters = checkPath(c, route)
  if (!parameters.ok) return parameters.response
  const lock = (parameters.value.lock as string | undefined) ?? null
  const forbidden = authorization(c, route.verb, lock)
  if (forbidden !== null) return forbidden
  const query = checkQuery(c, route)
  if (!query.ok) return query.response
  const body = await checkBody(c, services, route, lock ?? '')
  if (!body.ok) return body.response
  const handler = HANDLERS[id] as (call: Call<RouteId>) => Response | Promise<Response>
  const call = { c, services, parameters: parameters.value, query: query.value, body: body.value }
  try {
    return await handler(call as Call<RouteId>)
  } catch (error) {
    return defect(c, error, services.log, id === 'ops' || id === 'transact' ? 'unknown' : undefined)
  }
}

// ---------------------------------------------------------------- around the routes

/** In no frame, with nothing from elsewhere. */
const NOTHING = {
  defaultSrc: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
}

/** The other names below this domain are none of our business. */
const TRANSPORT = 'max-age=15552000'

/** For pages; the nonce is for their style, and their icon is in them. */
const PAGE_HEADERS = secureHeaders({
  contentSecurityPolicy: { ...NOTHING, styleSrc: [NONCE], imgSrc: ['data:'] },
  strictTransportSecurity: TRANSPORT,
}) as Middleware

/** Answers that are not pages need fewer. They are on every answer, and each costs a little. */
const API_HEADERS = secureHeaders({
  contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  strictTransportSecurity: TRANSPORT,
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  referrerPolicy: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
}) as Middleware

function counting({ metrics }: Services): Middleware {
  return async (c, next) => {
    await next()
    const code = c.get('problemCode')
    metrics.request(c.get('route') ?? 'none', c.req.method, c.res.status)
    if (code !== undefined) metrics.problem(code)
  }
}

const pass: Middleware = (_, next) => next()

/** Such a body means nothing, and a proxy in between may take it for another request. */
const withoutBody: Middleware = async (c, next) => {
  const { method, raw } = c.req
  const isRead = method === 'GET' || method === 'HEAD'
  const hasBody = raw.body !== null || Number(c.req.header('content-length') ?? 0) !== 0
  if (!isRead || !hasBody) return next()
  return malformed(c, [{ in: 'body', path: '', message: `must be empty: a ${method} has none` }])
}

function named(path: string): Middleware {
  return (c, next) => {
    c.set('route', path)
    c.set('incoming', c.req.raw)
    return next()
  }
}

/** A key may hold anything, also a slash that was not encoded, and also a line break. */
function pattern(path: string): string {
  return path.replace('{key}', ':key{[\\s\\S]+}').replaceAll(/\{(\w+)\}(?!\})/g, ':$1')
}

function methodNotAllowed(c: RouterContext, path: string): Response {
  c.set('route', path)
  const methods = ROUTE_IDS.filter(id => ROUTES[id].path === path).flatMap(id => {
    const { method }: Route = ROUTES[id]
    return method === 'get' && !WITHOUT_HEAD.includes(id) ? ['GET', 'HEAD'] : [method.toUpperCase()]
  })
  const allow = methods.join(', ')
  return problemResponse(c, 'method_not_allowed', `This path has the methods ${allow}.`, {
    headers: { allow },
  })
}

/** What hono's own middlewares refuse comes as an exception that holds the response. */
function onError(error: Error, c: RouterContext, services: Services): Response {
  if (!(error instanceof HTTPException) || error.res === undefined) return defect(c, error, services.log)
  const { status, headers } = error.res
  return c.body(
    error.res.body as Parameters<RouterContext['body']>[0],
    status as 401,
    Object.fromEntries(headers),
  )
}
