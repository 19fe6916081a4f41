/**
 * Authentication: who is there, and what may they do? A key is found by its hash (keys.ts); `healthz`, the
 * description and its page need none.
 */
import type { MiddlewareHandler } from 'hono'
import { bearerAuth } from 'hono/bearer-auth'
import type { Verb } from '../../shared/api/routes.ts'
import type { Caller } from '../participant/observe/callers.ts'
import { problemResponse } from './answers.ts'
import type { RouterContext, RouterEnvironment } from './context.ts'
import { allows, entriesOf, type KeyEntry, type KeySource } from './keys.ts'
import { isUpgrade, keyOffered } from './subprotocols.ts'

type Middleware = MiddlewareHandler<RouterEnvironment>

const NO_KEY = 'Send a key as `Authorization: Bearer <key>`.'
const WRONG_KEY = 'This service does not know the key that came with the request.'

/** `401` unless the request brings a key that is known. */
export function authentication(keys: KeySource): Middleware {
  switch (keys.type) {
    case 'open':
      return (_, next) => next()
    case 'closed':
      return async c => unauthenticated(c, keys.detail)
    case 'keys':
      return withKeys(keys.entries)
  }
}

function withKeys(entries: readonly KeyEntry[]): Middleware {
  const isKnown = async (c: RouterContext, key: string): Promise<boolean> => {
    const found = await entriesOf(entries, key)
    c.set('keyEntries', found)
    return found.length > 0
  }
  const refusal = (detail: string) => ({
    message: (c: unknown) => unauthenticated(c as RouterContext, detail),
  })
  const byHeader: Middleware = bearerAuth<RouterEnvironment>({
    realm: 'baton',
    verifyToken: (key, c) => isKnown(c, key),
    noAuthenticationHeader: refusal(NO_KEY),
    invalidAuthenticationHeader: refusal(NO_KEY),
    invalidToken: refusal(WRONG_KEY),
  })
  return async (c, next) => {
    const { headers } = c.req.raw
    const key = isUpgrade(headers) && !headers.has('authorization') ? keyOffered(headers) : null
    if (key === null) return byHeader(c, next)
    return (await isKnown(c, key)) ? next() : unauthenticated(c, WRONG_KEY)
  }
}

function unauthenticated(c: RouterContext, detail: string): Response {
  return problemResponse(c, 'unauthenticated', detail, {
    headers: { 'www-authenticate': 'Bearer realm="baton"' },
  })
}

const CLIENT_DIGITS = 16

/** What participants call every client with this key, so that one key cannot take all places for waiting. */
export function clientOf(c: RouterContext): { readonly client?: string } {
  const entry = c.get('keyEntries')?.[0]
  return entry === undefined ? {} : { client: entry.hash.slice(0, CLIENT_DIGITS) }
}

/** What participants log of whoever asks: the name of the key, never the key. */
export function callerOf(c: RouterContext): Caller {
  const names = new Set(c.get('keyEntries')?.map(({ name }) => name))
  return { requestId: c.get('requestId'), ...(names.size > 0 && { key: [...names].join(', ') }) }
}

/** `403` if the key does not allow this; `null` if it does. */
export function authorization(c: RouterContext, verb: Verb | null, lock: string | null): Response | null {
  const entries = c.get('keyEntries')
  if (verb === null || entries === undefined || allows(entries, verb, lock)) return null
  const what = lock === null ? verb : `${verb} on the lock ${lock}`
  const names = [...new Set(entries.map(({ name }) => name))].join(', ')
  return problemResponse(c, 'forbidden', `The key ${names} does not allow ${what}.`)
}
