/** Checks path, query and body of a request by the schemas of its route, and gives the value or a refusal. */
import * as z from 'zod'
import { explainOps } from '../../shared/api/explain-ops.ts'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { findOversized, foreignOps } from '../../shared/api/ops.ts'
import type { FieldError } from '../../shared/api/problems.ts'
import { type ReadJson, readJson } from '../../shared/api/read-json.ts'
import { NUMERIC_PARAMETERS, ticketPath } from '../../shared/api/requests.ts'
import type { Route } from '../../shared/api/routes.ts'
import { check } from '../../shared/api/validation.ts'
import { readLimited } from '../limited-body.ts'
import { malformed, oversized, problemResponse } from './answers.ts'
import type { RouterContext, Services } from './context.ts'

export type CheckedRequest<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly response: Response }

type Fields = { readonly [name: string]: unknown }

const EMPTY: ReadJson = { ok: true, value: {} }
const JSON_MEDIA_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i

// ---------------------------------------------------------------- path

export function checkPath(c: RouterContext, route: Route): CheckedRequest<Fields> {
  // hono leaves in its path what it could not decode; to look at the address itself takes longer.
  if (c.req.path.includes('%') && !isDecodable(new URL(c.req.url).pathname)) {
    return refused(malformed(c, [{ in: 'path', path: '', message: 'is not percent-encoded UTF-8' }]))
  }
  const given = c.req.param() as { readonly [name: string]: string }
  // The router may be mounted below a path that has parameters of its own.
  const own = Object.fromEntries(Object.keys(route.parameters.shape).map(name => [name, given[name]]))
  if (own.key !== undefined && own.key.length > API_LIMITS.keyLength) {
    return refused(
      oversized(c, [
        { in: 'path', path: 'key', message: `must have at most ${API_LIMITS.keyLength} characters` },
      ]),
    )
  }
  const checked = check(route.parameters, own, 'path')
  if (checked.ok) return checked
  // To its client an id is opaque: what is not the id of a ticket is the id of no ticket.
  if (route.parameters === ticketPath && checked.errors.every(({ path }) => path === 'id')) {
    return refused(problemResponse(c, 'no_such_ticket', 'This is not the id of a ticket.'))
  }
  return refused(malformed(c, checked.errors))
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

// ---------------------------------------------------------------- query

export function checkQuery(c: RouterContext, route: Route): CheckedRequest<Fields> {
  const begin = c.req.url.indexOf('?')
  if (begin === -1) return withoutQuery(c, route)
  const search = c.req.url.slice(begin)
  // Bytes that are not UTF-8 would be changed silently, as in a body.
  if (!isDecodable(search))
    return refused(malformed(c, [{ in: 'query', path: '', message: 'is not percent-encoded UTF-8' }]))
  // Without a prototype: `__proto__` is a name like any other.
  const given: { [name: string]: unknown } = Object.create(null)
  const errors: FieldError[] = []
  for (const [name, value] of new URLSearchParams(search)) {
    if (name in given) errors.push({ in: 'query', path: name, message: 'is given more than once' })
    else given[name] = NUMERIC_PARAMETERS.has(name) ? asNumber(value) : value
  }
  const checked = check(route.query, given, 'query')
  if (checked.ok && errors.length === 0) return checked
  return refused(malformed(c, checked.ok ? errors : [...errors, ...checked.errors]))
}

/** What a route's query is if there is none: the same for every request. */
const NO_QUERY = new Map<Route, Fields>()

function withoutQuery(c: RouterContext, route: Route): CheckedRequest<Fields> {
  const known = NO_QUERY.get(route)
  if (known !== undefined) return { ok: true, value: known }
  const checked = check(route.query, {}, 'query')
  if (!checked.ok) return refused(malformed(c, checked.errors))
  NO_QUERY.set(route, checked.value)
  return checked
}

/** Anything that is not a number stays text, and the schema reports it. */
function asNumber(text: string): number | string {
  return /^(?:0|-?[1-9][0-9]{0,15})$/.test(text) ? Number(text) : text
}

// ---------------------------------------------------------------- body

export async function checkBody(
  c: RouterContext,
  services: Services,
  route: Route,
  lock: string,
): Promise<CheckedRequest<unknown>> {
  const { body, bodyBytes = API_LIMITS.bodyBytes, isStreamed } = route
  const schema = body!
  if (isStreamed) return checkBeginning(c, bodyBytes)
  const bytes = await readBody(c.req.raw, bodyBytes)
  if (bytes === 'too-large') {
    return refused(tooLong(c, bodyBytes))
  }
  if (bytes === null)
    return refused(malformed(c, [{ in: 'body', path: '', message: 'broke off before its end' }]))
  if (!isJson(c, bytes.byteLength === 0)) return refused(notJson(c))
  const read = bytes.byteLength === 0 ? EMPTY : parse(bytes)
  if (!read.ok) return refused(malformed(c, [{ in: 'body', ...read.mistake }]))
  const parsed = read.value
  const { resource } = services.routing.configurationOf(lock)
  const isKeyValue = resource === 'key-value'
  const tooLarge = hasOps(schema) ? findOversized((parsed as Fields | null)?.ops, isKeyValue) : []
  if (tooLarge.length > 0) return refused(oversized(c, tooLarge))
  const own = isKeyValue ? schema : withForeignOps(schema, services.opSchemas[resource])
  const checked = check(own, parsed, 'body')
  if (checked.ok) return checked
  const errors = isKeyValue ? explainOps(checked.errors, (parsed as Fields | null)?.ops) : checked.errors
  return refused(malformed(c, errors))
}

/** What can be said of a body that is read later. */
function checkBeginning(c: RouterContext, bodyBytes: number): CheckedRequest<unknown> {
  const { headers, body } = c.req.raw
  if (Number(headers.get('content-length') ?? 0) > bodyBytes) return refused(tooLong(c, bodyBytes))
  return isJson(c, body === null) ? { ok: true, value: undefined } : refused(notJson(c))
}

const tooLong = (c: RouterContext, bodyBytes: number): Response =>
  oversized(c, [{ in: 'body', path: '', message: `must have at most ${bodyBytes} bytes` }])

function isJson(c: RouterContext, isEmpty: boolean): boolean {
  const mediaType = c.req.raw.headers.get('content-type')
  return mediaType === null ? isEmpty : JSON_MEDIA_TYPE.test(mediaType)
}

function notJson(c: RouterContext): Response {
  const detail = 'The body must be JSON, and say so: `Content-Type: application/json`.'
  return problemResponse(c, 'unsupported_media_type', detail)
}

/** `null` if it breaks off, or comes in chunks that are none. */
async function readBody(request: Request, most: number): Promise<Uint8Array | 'too-large' | null> {
  try {
    return await readLimited(request, most)
  } catch {
    return null
  }
}

/** Text that is not UTF-8 would be changed silently: two keys could become one. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

function parse(bytes: Uint8Array): ReadJson {
  try {
    return readJson(decoder.decode(bytes))
  } catch {
    return { ok: false, mistake: { path: '', message: 'is not UTF-8' } }
  }
}

function hasOps(body: z.ZodType): body is z.ZodObject {
  return body instanceof z.ZodObject && 'ops' in body.shape
}

function withForeignOps(body: z.ZodType, op: z.ZodType | undefined): z.ZodType {
  if (!hasOps(body)) return body
  return z.strictObject({ ...body.shape, ops: op === undefined ? foreignOps : z.array(op).min(1) })
}

function refused(response: Response): { readonly ok: false; readonly response: Response } {
  return { ok: false, response }
}
