/**
 * Authentication: who is there, and what may they do? A key is found by its hash (keys.ts); `healthz`, the
 * description and its page need none.
 */
import type { Verb } from '../../shared/api/routes.ts'
import type { Caller } from '../participant/observe/callers.ts'
import { problemResponse } from './answers.ts'
import type { RouterContext } from './context.ts'
import { allowedPatterns, allows, type KeyEntry, type KeySource, KnownKeys } from './keys.ts'
import { isUpgrade, keyOffered } from './subprotocols.ts'

/** `401` unless the request brings a key that is known; `null` if it does. */
export type Authentication = (c: RouterContext) => Promise<Response | null> | Response | null

/** A token as RFC 6750 has it. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i
const NO_KEY = 'Send a key as `Authorization: Bearer <key>`.'
const WRONG_KEY = 'This service does not know the key that came with the request.'

export function authentication(keys: KeySource): Authentication {
  switch (keys.type) {
    case 'open':
      return () => null
    case 'closed':
      return c => unauthenticated(c, keys.detail)
    case 'keys':
      return withKeys(keys.entries)
  }
}

function withKeys(entries: readonly KeyEntry[]): Authentication {
  const known = new KnownKeys(entries)
  return async c => {
    const key = keyIn(c.get('incoming').headers)
    if (key === null) return unauthenticated(c, NO_KEY)
    const found = await known.entriesOf(key)
    if (found.length === 0) return unauthenticated(c, WRONG_KEY)
    c.set('keyEntries', found)
    return null
  }
}

/** A browser cannot set headers on a WebSocket: it offers its key as a subprotocol. */
function keyIn(headers: Headers): string | null {
  const authorization = headers.get('authorization')
  if (authorization !== null) return BEARER.exec(authorization)?.[1] ?? null
  return isUpgrade(headers) ? keyOffered(headers) : null
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

/** Whoever needs no key may do everything. */
export function mayDo(c: RouterContext, verb: Verb, lock: string | null): boolean {
  const entries = c.get('keyEntries')
  return entries === undefined || allows(entries, verb, lock)
}

/** On which locks, as the entries of keys have them. */
export function patternsFor(c: RouterContext, verb: Verb): readonly string[] {
  const entries = c.get('keyEntries')
  return entries === undefined ? ['*'] : allowedPatterns(entries, verb)
}

/** `403` if the key does not allow this; `null` if it does. */
export function authorization(c: RouterContext, verb: Verb | null, lock: string | null): Response | null {
  if (verb === null || mayDo(c, verb, lock)) return null
  const entries = c.get('keyEntries')!
  const what = lock === null ? verb : `${verb} on the lock ${lock}`
  const names = [...new Set(entries.map(({ name }) => name))].join(', ')
  return problemResponse(c, 'forbidden', `The key ${names} does not allow ${what}.`)
}
