/** The service about itself. */
import { describeApi } from '../../../shared/api/openapi.ts'
import { json } from '../answers.ts'
import type { Handlers, RouterContext } from '../context.ts'
import { renderDocs } from '../docs-page.ts'

export const serviceHandlers = {
  health: ({ c }) => json(c, 200, { status: 'ok' }),

  metrics: async ({ c, services }) => {
    const more = await services.participantMetrics()
    const headers = {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'cache-control': 'no-store',
    }
    return c.body(services.metrics.render(more), 200, headers)
  },

  openapi: ({ c }) => json(c, 200, describeApi(baseOf(c, '/openapi.json'))),

  docs: ({ c }) => c.html(renderDocs(describeApi(baseOf(c, '/docs')), c.get('secureHeadersNonce') ?? '')),
} satisfies Partial<Handlers>

/** Where the service is mounted: what is left of the path of a request without the route's own. */
function baseOf(c: RouterContext, route: string): string {
  return c.req.path.slice(0, -route.length)
}
