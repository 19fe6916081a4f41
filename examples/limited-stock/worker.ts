/**
 * An edge function that sells tickets. It runs wherever a buyer is, and never sells more tickets than there
 * are.
 */
import {
  BatonError,
  createBaton,
  ForbiddenError,
  type Lock,
  UnauthenticatedError,
} from '@baton-lock/baton/client'
import { buy, look } from './shop.ts'

interface ShopEnvironment {
  /** The service binding to Baton, where both are deployed to one account. */
  readonly BATON?: Fetcher
  /** Where Baton is instead, such as under `npm start`. */
  readonly BATON_URL?: string
  /** Secret: the shop's key, with the verbs `acquire` and `read`. An open service needs none. */
  readonly BATON_KEY?: string
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
      return answerTo(error)
    }
  },
} satisfies ExportedHandler<ShopEnvironment>

/**
 * Baton serves a request from the participant that is nearest to where it comes from: to where the buyer is.
 */
function stockNear(request: Request, { BATON, BATON_URL, BATON_KEY }: ShopEnvironment): Lock {
  const key = BATON_KEY ? { key: BATON_KEY } : {}
  const baton =
    BATON === undefined
      ? createBaton({ url: BATON_URL ?? 'http://127.0.0.1:8787', ...key })
      : createBaton({ binding: BATON, near: request, ...key })
  return baton.lock('tickets')
}

/**
 * A buyer can do something about a busy lock, and nothing about a wrong key: that is for whoever runs the
 * shop.
 */
function answerTo(error: unknown): Response {
  if (!(error instanceof BatonError)) throw error
  const { code, detail } = error
  if (error instanceof UnauthenticatedError || error instanceof ForbiddenError) {
    console.error(`The shop's BATON_KEY is wrong. ${detail}`)
    return Response.json({ error: 'The shop is not set up correctly.', because: code }, { status: 500 })
  }
  // Nobody is sold two tickets, so asking again is right whatever else it was.
  return Response.json({ askAgain: true, because: code }, { status: 503, headers: { 'retry-after': '1' } })
}
