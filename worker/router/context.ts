/** What a request carries through the router, and the services that handlers use. */
import type { Context } from 'hono'
import type * as z from 'zod'
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import type { ProblemCode } from '../../shared/api/problems.ts'
import type { ROUTES, RouteId } from '../../shared/api/routes.ts'
import type { LedgerHealth } from '../../shared/birth/ledger-types.ts'
import type { LogEntry } from '../../shared/log.ts'
import type { KeyEntry, KeySource } from './keys.ts'
import type { Metrics } from './metrics.ts'
import type { ParticipantCaller } from './participants.ts'
import type { Routing } from './routing.ts'

export type RouterEnvironment = {
  Variables: {
    requestId: string
    /** By `performance.now()`. */
    began: number
    /** As it came: a copy may lack what only the platform can set. */
    incoming: Request
    problemCode?: ProblemCode
    /** What the caller's key allows; absent if no key is needed. */
    keyEntries?: readonly KeyEntry[]
    secureHeadersNonce?: string
  }
}

export type RouterContext = Context<RouterEnvironment>

export interface RouterTimes {
  /** How long a participant may take for what does not wait for the lock, and the margin for what does. */
  readonly answerMs: number
  /** The same for each participant's part of `status` and `history`. */
  readonly statusMs: number
  readonly probeAfterMs: number
  readonly probeMs: number
  readonly retryMs: number
  /** How long a participant that was silent is asked last. */
  readonly silenceMs: number
}

/**
 * A participant settles or gives up within 10 s by itself: the router waits a little longer, to hear what it
 * says.
 */
export const DEFAULT_TIMES: RouterTimes = {
  answerMs: 15_000,
  statusMs: 2_000,
  probeAfterMs: 2_000,
  probeMs: 2_000,
  retryMs: 100,
  // Longer than it takes to find six of thirteen silent: otherwise a client that asks again would begin with
  // the first of them.
  silenceMs: 30_000,
}

export interface Services {
  readonly routing: Routing
  readonly caller: ParticipantCaller
  readonly keys: KeySource
  readonly metrics: Metrics
  readonly times: RouterTimes
  readonly defaults: (lock: string) => LockConfiguration
  readonly log: (entry: LogEntry) => void
  readonly randomUser: () => string
  /** One op of a resource that is not the built-in one. */
  readonly opSchemas: { readonly [resource: string]: z.ZodType }
  readonly ledgerHealth: () => Promise<LedgerHealth | null>
  readonly participantMetrics: () => string | Promise<string>
  readonly upgrade: (answer: Response, headers: Headers) => Response
}

/** A request of one route after it was found to be well-formed and allowed. */
export interface Call<Id extends RouteId> {
  readonly c: RouterContext
  readonly services: Services
  readonly parameters: z.output<(typeof ROUTES)[Id]['parameters']>
  readonly query: z.output<(typeof ROUTES)[Id]['query']>
  readonly body: (typeof ROUTES)[Id]['body'] extends z.ZodType
    ? z.output<(typeof ROUTES)[Id]['body']>
    : undefined
}

export type Handlers = { readonly [Id in RouteId]: (call: Call<Id>) => Response | Promise<Response> }

/** For what goes on after the answer. Outside of Workers a promise goes on by itself. */
export function runLater(c: RouterContext, work: Promise<unknown>): void {
  const quiet = work.catch(() => undefined)
  try {
    c.executionCtx.waitUntil(quiet)
  } catch {
    // There is no execution context: a test, or Node.
  }
}
