/**
 * Which pages of other origins may call this service from a browser (CORS). It stands in front of everything,
 * so that a page can read every answer, a refusal as well. No cookie is involved: a key is a header that the
 * page's own code sends, and so a page that is allowed here can do no more than its key can.
 */
import { type BatonEnvironment, corsOrigins, isOpen } from './environment.ts'
import { isLoopbackOrigin } from './loopback.ts'
import { isUpgrade } from './router/subprotocols.ts'

export interface AllowedOrigins {
  readonly listed: readonly string[]
  /** Pages of this very machine, on whatever port: where a front end is developed. */
  readonly loopback: boolean
}

export const ANY_ORIGIN = '*'

const ALLOWED_METHODS = 'GET, HEAD, PUT, POST, DELETE'
/** The last two are what tracing in a page adds to its requests. */
const ALLOWED_HEADERS =
  'authorization, content-type, if-none-match, last-event-id, x-request-id, traceparent, tracestate'
const EXPOSED_HEADERS = 'etag, retry-after, server-timing, www-authenticate, x-request-id'
const PREFLIGHT_SECONDS = '86400'

/** `more`: the origins that the code of the Worker allows, beside those of the deployment. */
export function allowedOrigins(env: BatonEnvironment, more: readonly string[]): AllowedOrigins {
  return { listed: [...corsOrigins(env), ...more], loopback: isOpen(env) }
}

export function isAllowed({ listed, loopback }: AllowedOrigins, origin: string): boolean {
  return listed.includes(origin) || listed.includes(ANY_ORIGIN) || (loopback && isLoopbackOrigin(origin))
}

/** The answer, with what a browser needs to hand it to the page; a preflight is answered here. */
export async function acrossOrigins(
  request: Request,
  origins: AllowedOrigins,
  answer: () => Promise<Response>,
): Promise<Response> {
  const isNobody = origins.listed.length === 0 && !origins.loopback
  // A WebSocket is not subject to this, and its answer must stay as it is.
  if (isNobody || isUpgrade(request.headers)) return answer()
  const origin = request.headers.get('origin')
  const allowed = origin !== null && isAllowed(origins, origin) ? origin : null
  const response = allowed !== null && isPreflight(request) ? preflightAnswer() : await answer()
  try {
    return withOrigin(response, allowed)
  } catch {
    // The headers of an answer that came from elsewhere cannot be changed; those of its copy can.
    return withOrigin(new Response(response.body, response), allowed)
  }
}

function withOrigin(response: Response, allowed: string | null): Response {
  const { headers } = response
  headers.append('vary', 'Origin')
  if (allowed !== null) {
    headers.set('access-control-allow-origin', allowed)
    headers.set('access-control-expose-headers', EXPOSED_HEADERS)
  }
  return response
}

function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('access-control-request-method')
}

function preflightAnswer(): Response {
  const headers = {
    'access-control-allow-methods': ALLOWED_METHODS,
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': PREFLIGHT_SECONDS,
  }
  return new Response(null, { status: 204, headers })
}
