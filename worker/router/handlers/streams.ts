/**
 * What stays open: Server-Sent Events and WebSockets. The router finds a participant and hands its answer on.
 */
import type { ParticipantPlace } from '../../../shared/api/configuration.ts'
import { malformed, noSuchParticipant, pass, respond } from '../answers.ts'
import { callerOf, clientOf, mayDo } from '../authentication.ts'
import type { Handlers, RouterContext, Services } from '../context.ts'
import { nearOf, whereFrom } from '../nearest.ts'
import type { Plan, Routed } from '../routing.ts'
import { chosenHeaders, isUpgrade } from '../subprotocols.ts'

export const streamHandlers = {
  watch: async ({ c, services, parameters: { lock }, query: { since, at } }) => {
    const last = c.req.header('last-event-id')
    if (last !== undefined && !isSequence(last)) {
      return malformed(c, [{ in: 'header', path: 'last-event-id', message: 'is not a sequence' }])
    }
    // A browser that reconnects repeats its first address, with the `since` of long ago.
    const start = last ?? since?.toString()
    const headers = new Headers({ accept: 'text/event-stream' })
    const path = start === undefined ? '/watch' : `/watch?since=${start}`
    const answer = await open(c, services, lock, at, () => path, headers, isEventStream, {
      onlyReads: true,
    })
    if (answer.type === 'gone') return noSuchParticipant(c, 'query', at!)
    if (answer.type !== 'opened') return pass(c, answer)
    return respond(c, 200, answer.response.body, {
      'content-type': 'text/event-stream',
      // Some proxies gather up what is small, and a watcher would hear of nothing.
      'x-accel-buffering': 'no',
    })
  },

  session: async ({ c, services, parameters: { lock }, query: { at } }) => {
    const offered = c.get('incoming').headers
    if (!isUpgrade(offered)) {
      const message =
        'is missing: a session is a WebSocket, so connect with one, or send `Upgrade: websocket`'
      return malformed(c, [{ in: 'header', path: 'upgrade', message }])
    }
    // Made anew: a key that was offered as a subprotocol goes no further than this.
    const headers = new Headers({ upgrade: 'websocket' })
    const { client } = clientOf(c)
    const { key, requestId } = callerOf(c)
    const search = {
      ...(client !== undefined && { client }),
      ...(key !== undefined && { key }),
      ...(requestId !== undefined && { request: requestId }),
      ...(mayDo(c, 'read', lock) && { read: 'yes' }),
      ...nearOf(c.get('incoming')),
    }
    // Each try has a user of its own: the socket of one that got no answer may be there for a while.
    const path = () => `/session?${new URLSearchParams({ user: services.randomUser(), ...search })}`
    const answer = await open(c, services, lock, at, path, headers, ({ status }) => status === 101, {
      createsLock: true,
    })
    if (answer.type === 'gone') return noSuchParticipant(c, 'query', at!)
    if (answer.type !== 'opened') return pass(c, answer)
    return services.upgrade(answer.response, chosenHeaders(offered))
  },
} satisfies Partial<Handlers>

async function open(
  c: RouterContext,
  services: Services,
  lock: string,
  at: number | undefined,
  path: () => string,
  headers: Headers,
  isOpen: (response: Response) => boolean,
  more: Pick<Plan, 'createsLock' | 'onlyReads'> = {},
): Promise<Routed> {
  const { routing, caller, times } = services
  const plan = {
    lock,
    from: () => whereFrom(c.get('incoming')),
    limitMs: times.answerMs,
    ...more,
    ask: (place: ParticipantPlace, leftMs: number) =>
      caller.open(lock, place, path, headers, isOpen, { limitMs: leftMs }),
  }
  return at === undefined ? routing.anyone(plan) : routing.only(at, plan)
}

function isEventStream(response: Response): boolean {
  return (
    response.status === 200 && (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
  )
}

function isSequence(text: string): boolean {
  return /^[0-9]{1,16}$/.test(text) && Number.isSafeInteger(Number(text))
}

/**
 * The socket of the participant's answer becomes the socket of ours. `webSocket` is an addition of Workers.
 */
export function upgradeInWorkers(answer: Response, headers: Headers): Response {
  const { webSocket } = answer as Response & { readonly webSocket?: unknown }
  return new Response(null, { status: 101, headers, webSocket } as ResponseInit)
}
