/**
 * The service as tests run it (index.ts): its clock can be moved, and its process cut off from all others.
 * Everything else is the code that is deployed. This one never is: whoever reaches it can do both.
 */
import type { BatonEnvironment } from '../worker/environment.ts'
import { defineBaton } from '../worker/library.ts'

const baton = defineBaton()

/** How far this process is ahead of the real time. */
let offsetMs = 0
let isCut = false
/** All objects that have lived in this process. */
const objects = new Set<string>()

const realNow = Date.now
Date.now = () => realNow() + offsetMs

const realFetch = globalThis.fetch
globalThis.fetch = async (input: RequestInfo | URL, init?: RequestInit) => {
  if (isCut) throw new Error('this process is cut off')
  const response = await realFetch(input as RequestInfo, init)
  if (isCut) throw new Error('this process is cut off')
  return response
}

const TICK = '/testing/tick'

export class BatonParticipant extends baton.Participant {
  constructor(ctx: DurableObjectState, env: BatonEnvironment) {
    super(withMovedClock(ctx), env)
    objects.add(ctx.id.toString())
  }

  override async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== TICK) return super.fetch(request)
    // What has become due is done now, and the alarm is set anew for what comes next.
    await this.alarm()
    return new Response(null, { status: 204 })
  }
}

/** The platform keeps real time: it is told when an alarm is due by that, and says when a ping came. */
function withMovedClock(ctx: DurableObjectState): DurableObjectState {
  const { storage } = ctx
  const setAlarm = storage.setAlarm.bind(storage)
  storage.setAlarm = at => setAlarm(Number(at) - offsetMs)
  const lastPing = ctx.getWebSocketAutoResponseTimestamp.bind(ctx)
  ctx.getWebSocketAutoResponseTimestamp = socket => {
    const at = lastPing(socket)
    return at === null ? null : new Date(at.getTime() + offsetMs)
  }
  return ctx
}

export default {
  async fetch(request: Request, env: BatonEnvironment, ctx: ExecutionContext): Promise<Response> {
    const url = new URL(request.url)
    if (url.pathname === '/testing/set') return set(await request.json(), env)
    if (isCut) throw new Error('this process is cut off')
    // A Worker that has the service as a binding calls it by this name, over a connection without encryption
    // here.
    if (url.hostname === 'baton') url.protocol = 'https:'
    const response = await baton.fetch(new Request(url, request), env, ctx)
    if (isCut) throw new Error('this process is cut off')
    return response
  },
}

async function set(wanted: unknown, env: BatonEnvironment): Promise<Response> {
  ;({ offsetMs, isCut } = wanted as { readonly offsetMs: number; readonly isCut: boolean })
  const namespace = env.PARTICIPANT as unknown as DurableObjectNamespace
  const ticks = [...objects].map(id =>
    // An object that has just failed is made again by its next request.
    namespace
      .get(namespace.idFromString(id))
      .fetch(`https://participant${TICK}`)
      .catch(() => {}),
  )
  await Promise.all(ticks)
  return new Response(null, { status: 204 })
}
