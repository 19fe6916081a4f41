/** The service about itself. */
import { describeApi, VERSION } from '../../../shared/api/openapi.ts'
import type { HomeAnswer } from '../../../shared/api/types.ts'
import type { ParticipantStatus } from '../../participant/calls.ts'
import { json, problemResponse, respond } from '../answers.ts'
import { authorization } from '../authentication.ts'
import type { Handlers, RouterContext, Services } from '../context.ts'
import { type LockViews, renderLockMetrics } from '../lock-metrics.ts'
import { type DocsOptions, renderDocs } from '../pages/docs.ts'
import { renderHome } from '../pages/home.ts'
import { askAll } from './locks.ts'

export const serviceHandlers = {
  home: async ({ c, services }) => {
    const base = baseOf(c, '/')
    const ledger = await services.ledgerHealth()
    const { protocol, participants } = services.defaults(ANY_LOCK)
    const answer: HomeAnswer = {
      service: 'baton',
      version: VERSION,
      status: 'ok',
      ...(ledger !== null && { ledger: { ...ledger } }),
      protocol,
      participants: participants.map(({ id, location }) => ({ id, location })),
      links: {
        docs: `${base}/docs`,
        openapi: `${base}/openapi.json`,
        health: `${base}/healthz`,
        metrics: `${base}/metrics`,
      },
    }
    // The same address has two answers.
    const vary = { vary: 'Accept' }
    if (!(c.req.header('accept') ?? '').includes('text/html')) return json(c, 200, answer, vary)
    const html = await renderHome(answer, { ...pageOptions(c, services, base), keys: services.keys.type })
    return respond(c, 200, html, { ...PAGE, ...vary })
  },

  health: async ({ c, services }) => {
    const ledger = await services.ledgerHealth()
    return json(c, 200, { status: 'ok', ...(ledger !== null && { ledger: { ...ledger } }) })
  },

  metrics: async ({ c, services, query }) => {
    const locks = [...new Set(query.lock?.split(',') ?? [])]
    for (const lock of locks) {
      const forbidden = authorization(c, 'metrics', lock)
      if (forbidden !== null) return forbidden
    }
    // One after the other: counting should not create the load.
    const views: LockViews[] = []
    for (const lock of locks) {
      const statuses = await askAll<ParticipantStatus>(services, lock, () => ({ type: 'status' }))
      if (statuses.absence !== null)
        return problemResponse(c, 'no_such_lock', `There is no lock ${lock} (any more).`)
      views.push(viewsOf(services, lock, statuses))
    }
    const more = (await services.participantMetrics()) + renderLockMetrics(views)
    const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
    return respond(c, 200, services.metrics.render(more), headers)
  },

  openapi: ({ c }) => json(c, 200, describeApi(baseOf(c, '/openapi.json'))),

  docs: async ({ c, services }) => {
    const base = baseOf(c, '/docs')
    return respond(c, 200, await renderDocs(describeApi(base), pageOptions(c, services, base)), PAGE)
  },
} satisfies Partial<Handlers>

const PAGE = { 'content-type': 'text/html; charset=UTF-8' }

/** The defaults are those of a lock that nobody has configured: any name will do. */
const ANY_LOCK = 'demo'

/** Those that do not answer are among them. */
function viewsOf(
  services: Services,
  lock: string,
  statuses: ReadonlyMap<number, ParticipantStatus>,
): LockViews {
  const { participants } = services.routing.configurationOf(lock)
  return { lock, participants: new Map(participants.map(({ id }) => [id, statuses.get(id) ?? null])) }
}

function pageOptions(c: RouterContext, { keys }: Services, base: string): DocsOptions {
  return {
    // What whoever reads the page has called this service.
    url: new URL(c.req.url).origin + base,
    hasKeys: keys.type !== 'open',
    nonce: c.get('secureHeadersNonce') ?? '',
  }
}

/** Where the service is mounted: the path of a request without the route's own. */
function baseOf(c: RouterContext, route: string): string {
  const { path } = c.req
  return path.endsWith(route) ? path.slice(0, -route.length) : path
}
