/** The service about itself. */
import { describeApi } from '../../../shared/api/openapi.ts'
import type { ParticipantStatus } from '../../participant/calls.ts'
import { json } from '../answers.ts'
import { authorization } from '../authentication.ts'
import type { Handlers, RouterContext, Services } from '../context.ts'
import { type LockViews, renderLockMetrics } from '../lock-metrics.ts'
import { renderDocs } from '../pages/docs.ts'
import { askAll } from './locks.ts'

export const serviceHandlers = {
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
    // One after the other: who counts should not be who makes the load.
    const views: LockViews[] = []
    for (const lock of locks) views.push(await viewsOf(services, lock))
    const more = (await services.participantMetrics()) + renderLockMetrics(views)
    const headers = {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'cache-control': 'no-store',
    }
    return c.body(services.metrics.render(more), 200, headers)
  },

  openapi: ({ c }) => json(c, 200, describeApi(baseOf(c, '/openapi.json'))),

  docs: ({ c, services }) => {
    const base = baseOf(c, '/docs')
    const page = renderDocs(describeApi(base), {
      url: addressOf(c, base),
      hasKeys: services.keys.type !== 'open',
      nonce: c.get('secureHeadersNonce') ?? '',
    })
    return c.html(page)
  },
} satisfies Partial<Handlers>

/** Those that do not answer are among them. */
async function viewsOf(services: Services, lock: string): Promise<LockViews> {
  const statuses = await askAll<ParticipantStatus>(services, lock, () => ({ type: 'status' }))
  const { participants } = services.routing.configurationOf(lock)
  return { lock, participants: new Map(participants.map(({ id }) => [id, statuses.get(id) ?? null])) }
}

/** What whoever reads the page has called this service. */
function addressOf(c: RouterContext, base: string): string {
  return new URL(c.req.url).origin + base
}

/** Where the service is mounted: what is left of the path of a request without the route's own. */
function baseOf(c: RouterContext, route: string): string {
  return c.req.path.slice(0, -route.length)
}
