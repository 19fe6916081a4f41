/** An edge function that sells tickets: it runs wherever a buyer is, and there are never more tickets sold than there were. */
import { BatonError, createBaton, type Lock } from '@baton-lock/baton/client'
import { buy, look } from './shop.ts'

interface ShopEnvironment {
  /** The service binding to Baton. */
  readonly BATON: Fetcher
  /** Secret: the shop's key, with the verbs `acquire` and `read`. */
  readonly BATON_KEY: string
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url)
    const call = `${request.method} ${pathname}`
    const buyer = searchParams.get('buyer') ?? ''
    try {
      if (call === 'GET /left') return Response.json({ left: (await look(stockNear(request, env))).left })
      if (call !== 'POST /buy' || !/^[\w-]{1,64}$/.test(buyer)) {
        return new Response('POST /buy?buyer=… or GET /left\n', { status: 404 })
      }
      const sale = await buy(stockNear(request, env), buyer)
      return sale === null ? Response.json({ soldOut: true }, { status: 410 }) : Response.json(sale)
    } catch (error) {
      if (!(error instanceof BatonError)) throw error
      // Nobody is sold two tickets, so asking again is right whatever it was.
      const headers = { 'retry-after': '1' }
      return Response.json({ askAgain: true, because: error.code }, { status: 503, headers })
    }
  },
} satisfies ExportedHandler<ShopEnvironment>

/** Baton serves a request from the participant that is nearest to where it comes from. Ours come from where the buyer is. */
function stockNear({ cf }: Request, { BATON, BATON_KEY }: ShopEnvironment): Lock {
  const fetch = (request: Request) => BATON.fetch(new Request(request, { cf: cf as RequestInitCfProperties }))
  return createBaton({ binding: { fetch }, key: BATON_KEY }).lock('tickets')
}
