/**
 * Is every variable what it should be? This is asked before the first request is served: a mistake in one of
 * them must not reach a lock, which keeps for good what it is born with.
 */
import * as z from 'zod'
import { API_LIMITS } from '../shared/api/limits.ts'
import { location } from '../shared/api/primitives.ts'
import { protocolName } from '../shared/api/protocol-options.ts'
import { check, firstMistake } from '../shared/api/validation.ts'
import { ANY_ORIGIN } from './cross-origin.ts'
import { type BatonEnvironment, corsOrigins, isOpen, ownUrls } from './environment.ts'
import { checkKeys } from './router/keys.ts'
import { normalUrl } from './signature.ts'

export interface EnvironmentReport {
  /** Sentences, each with the name of its variable. While there is one, nothing is served. */
  readonly mistakes: readonly string[]
  readonly warnings: readonly string[]
}

/** Shorter ones can be guessed. */
export const LEAST_SECRET_LENGTH = 16
const MAX_EVENTS_KEPT = 1_000_000

type Check = (env: BatonEnvironment) => string | null

/** What is called `ASSETS` may belong to the rest of the Worker, whatever it is. */
type Checked = Exclude<keyof BatonEnvironment, 'ASSETS'>

const CHECKS: { readonly [name in Checked]-?: Check } = {
  PARTICIPANT: env =>
    env.PARTICIPANT === undefined ? 'is not bound to the class of the participants' : null,
  BATON_PROTOCOL: env =>
    protocolName.safeParse(env.BATON_PROTOCOL || 'wme-2').success
      ? null
      : `is none of ${protocolName.options.join(', ')}`,
  BATON_PARTICIPANTS: env => (env.BATON_PARTICIPANTS ? mistakeInParticipants(env) : null),
  BATON_EVENTS_KEPT: env =>
    isCount(env.BATON_EVENTS_KEPT || '0', MAX_EVENTS_KEPT)
      ? null
      : `is not a whole number from 0 to ${MAX_EVENTS_KEPT}`,
  BATON_KEYS: mistakeInKeys,
  BATON_OPEN: env =>
    ['', 'true', 'false'].includes(env.BATON_OPEN ?? '') ? null : 'is neither true nor false',
  BATON_PEER_SECRET: env => mistakeInSecret(env.BATON_PEER_SECRET),
  BATON_PEER_SECRET_OLD: env => {
    if (!env.BATON_PEER_SECRET_OLD) return null
    if (!env.BATON_PEER_SECRET) return 'is set without BATON_PEER_SECRET, which signs'
    return mistakeInSecret(env.BATON_PEER_SECRET_OLD)
  },
  BATON_URL: env => {
    const wrong = ownUrls(env).find(url => mistakeInUrl(url) !== null)
    return wrong === undefined ? null : `has an address that ${mistakeInUrl(wrong)}`
  },
  BATON_CORS_ORIGINS: mistakeInOrigins,
}

export const isVariable = (name: string): boolean => Object.hasOwn(CHECKS, name)

export function checkEnvironment(env: BatonEnvironment): EnvironmentReport {
  const names = Object.keys(CHECKS) as Checked[]
  const mistakes = names.flatMap(name => {
    const mistake = isText(name, env) ? CHECKS[name](env) : 'is not text'
    return mistake === null ? [] : [`${name} ${mistake}.`]
  })
  const unknown = Object.keys(env).filter(name => name.startsWith('BATON_') && !isVariable(name))
  return { mistakes, warnings: unknown.map(name => `${name} is no variable of Baton, and has no effect.`) }
}

/** A variable of a deployment can be JSON as well; all of ours are text. */
function isText(name: keyof BatonEnvironment, env: BatonEnvironment): boolean {
  return name === 'PARTICIPANT' || env[name] === undefined || typeof env[name] === 'string'
}

// ---------------------------------------------------------------- participants

const listed = z
  .array(z.strictObject({ location: location.optional(), url: z.string().optional() }))
  .min(API_LIMITS.participants.least)
  .max(API_LIMITS.participants.most)

function mistakeInParticipants(env: BatonEnvironment): string | null {
  const checked = check(listed, parseJson(env.BATON_PARTICIPANTS!), 'body')
  if (!checked.ok)
    return `is not a JSON list of {location, url}: ${firstMistake(checked.errors, 'the value')}`
  const urls = checked.value.flatMap(({ url }) => (url === undefined ? [] : [url]))
  if (urls.length === 0) return null
  const wrong = urls.find(url => mistakeInUrl(url) !== null)
  if (wrong !== undefined) return `has a url that ${mistakeInUrl(wrong)}`
  // A participant without one would be another one at each process: two of them would each serve the lock
  // alone.
  if (urls.length < checked.value.length)
    return 'has participants with and without a url: all need one, or none'
  if (new Set(urls.map(normalUrl)).size < urls.length) return 'has the same url twice'
  return env.BATON_PEER_SECRET ? null : 'has urls, and BATON_PEER_SECRET is not set'
}

function mistakeInUrl(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return 'is not an address with http(s)://'
  if (url.username !== '' || url.password !== '') return 'has a name or a password in it'
  return url.search === '' && url.hash === '' ? null : 'has a query or a fragment'
}

// ---------------------------------------------------------------- origins

function mistakeInOrigins(env: BatonEnvironment): string | null {
  const origins = corsOrigins(env)
  if (origins.includes(ANY_ORIGIN)) {
    if (origins.length > 1) return 'has a * beside other origins: it stands alone, for all of them'
    return isOpen(env) ? 'is *, and BATON_OPEN asks nobody for a key: any page could use this service' : null
  }
  const wrong = origins.find(origin => mistakeInOrigin(origin) !== null)
  return wrong === undefined ? null : `has ${JSON.stringify(wrong)}, which ${mistakeInOrigin(wrong)}`
}

/** A browser sends an origin in one spelling: what is written otherwise would never match. */
function mistakeInOrigin(text: string): string | null {
  if (text.includes('*')) return 'has a * in it: list each origin'
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return 'is not an origin such as https://shop.example'
  return url.origin === text ? null : `is written ${url.origin}`
}

// ---------------------------------------------------------------- secrets

/** Without any the service refuses everything, and says so to whoever asks. */
function mistakeInKeys({ BATON_KEYS: text, BATON_OPEN: open }: BatonEnvironment): string | null {
  if (!text?.trim()) return null
  if (open === 'true') return 'is set, and BATON_OPEN lets everybody in: set BATON_OPEN=false'
  const keys = checkKeys(text)
  return keys.ok ? null : `is not a list of keys: ${firstMistake(keys.errors, 'the value')}`
}

function mistakeInSecret(secret: string | undefined): string | null {
  if (!secret || secret.length >= LEAST_SECRET_LENGTH) return null
  return `is shorter than ${LEAST_SECRET_LENGTH} characters`
}

function isCount(text: string, most: number): boolean {
  return /^[0-9]{1,16}$/.test(text) && Number(text) <= most
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
