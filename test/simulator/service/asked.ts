/**
 * What clients asked of a lock as a whole, request by request as it was on the wire, and what each of them
 * was told; and what the library made of its requests.
 */
import type { Json } from '../../../shared/json.ts'
import type { SimRequest, SimResponse } from './http.ts'

/** What is asked for. */
export type Wanted = 'configure' | 'delete' | 'eject' | 'members' | 'acquire' | 'withdraw'

export interface Answered {
  readonly at: number
  readonly status: number
  readonly body: Json
}

/** One request. */
export interface Asked {
  readonly wanted: Wanted
  readonly lock: string
  /** What follows in the path. */
  readonly rest: string
  readonly by: string
  readonly query: URLSearchParams
  readonly body: { readonly [member: string]: Json }
  readonly begunAt: number
  /** How often it got to the service: what is between may repeat it. */
  arrivals: number
  /** `null`: nothing was heard. */
  answer: Answered | null
}

/** A call of the library that it said was not done, whatever its requests were told. */
export interface CallRefused {
  readonly wanted: Wanted
  readonly lock: string
  readonly by: string
  readonly begunAt: number
  readonly endedAt: number
}

const ROUTES: { readonly [route: string]: Wanted } = {
  'PUT ': 'configure',
  'DELETE ': 'delete',
  'POST eject': 'eject',
  'POST participants': 'members',
  'POST acquire': 'acquire',
  'DELETE tickets': 'withdraw',
}

/** `null` for what is not about a lock as a whole. */
export function askedBy(by: string, request: SimRequest, begunAt: number): Asked | null {
  const { pathname, searchParams: query } = new URL(request.url)
  const [, , , lock, route = '', rest = ''] = pathname.split('/')
  const wanted = ROUTES[`${request.method} ${route}`]
  if (lock === undefined || wanted === undefined) return null
  const body = parsed(request.whole) as Asked['body']
  const what = { wanted, lock: decodeURIComponent(lock), rest: decodeURIComponent(rest), query, body }
  return { ...what, by, begunAt, arrivals: 0, answer: null }
}

export const answerOf = (response: SimResponse, at: number): Answered => ({
  at,
  status: response.status,
  body: parsed(response.whole),
})

const parsed = (text: string | null): Json => (text === null || text === '' ? {} : (JSON.parse(text) as Json))

/**
 * Whether it was said that this is not done, and never will be. Nobody knows what became of a request that
 * arrived twice.
 */
export function isRefused({ wanted, body: wish, arrivals, answer }: Asked): boolean {
  if (answer === null || arrivals > 1) return false
  const { outcome, code } = answer.body as { readonly outcome?: string; readonly code?: string }
  if (outcome !== undefined) return outcome === 'not-applied'
  // The lock is held, and stays.
  if (wanted === 'delete') return code === 'locked'
  // The holder is another one: it stays.
  return wanted === 'eject' && wish.fence !== undefined && code === 'conflict'
}

/** All requests of this call are of one client, which does one thing after the other. */
export const isOfCall = (asked: Asked, call: CallRefused): boolean =>
  asked.wanted === call.wanted &&
  asked.lock === call.lock &&
  asked.by === call.by &&
  asked.begunAt >= call.begunAt &&
  asked.begunAt < call.endedAt
