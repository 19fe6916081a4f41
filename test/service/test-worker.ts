/**
 * The service, with what only a test wants from it:
 *
 *   POST /crash/{lock}/{participant}   calls `ctx.abort()` of one object: callers that wait for it get an
 *                                      error, what it had not yet written is lost, and the next request finds
 *                                      a new instance
 *   POST /leave/{lock}{path}           asks `path` of the lock, and goes away as soon as somebody waits for
 *                                      the lock
 *   GET /near/{lock}/{location}        acquires the lock through a binding, with the client's `near`; `cf`
 *                                      stands for a request whose `cf` says so, `nowhere` for none. Answers
 *                                      with the participant
 *
 * The second is needed because the open runtime does not notice when a TCP connection of a waiting client
 * ends (the platform does; github.com/cloudflare/workerd, pull request 5062). Both notice a client inside the
 * runtime.
 */

import { createBaton } from '../../client/index.ts'
import type { Location } from '../../shared/api/limits.ts'
import { objectName } from '../../worker/directory.ts'
import { type BatonEnvironment, defineBaton } from '../../worker/library.ts'
import { rawResource } from './raw-resource.ts'

/** Locks whose names begin with `raw-` guard a resource that does as it likes. */
const baton = defineBaton({
  resources: [rawResource],
  resourceOf: lock => (lock.startsWith('raw-') ? rawResource.name : 'key-value'),
})

export class BatonParticipant extends baton.Participant {
  override async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === '/crash') this.ctx.abort('a test wants it')
    return super.fetch(request)
  }
}

export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url)
    const [, verb, lock, rest] = /^\/(crash|leave|near)\/([^/]+)(\/.+)$/.exec(pathname) ?? []
    if (verb === 'crash') return crash(env, lock!, Number(rest!.slice(1)))
    if (verb === 'leave') return leave(ctx, lock!, rest!, await request.text())
    if (verb === 'near') return Response.json(await acquireNear(ctx, lock!, rest!.slice(1)))
    return baton.fetch(request, env, ctx)
  },
} satisfies ExportedHandler<BatonEnvironment>

async function crash(env: BatonEnvironment, lock: string, participant: number): Promise<Response> {
  const object = env.PARTICIPANT.get(env.PARTICIPANT.idFromName(objectName(lock, { id: participant })))
  await object.fetch('https://participant/crash').catch(() => {})
  return new Response(null, { status: 204 })
}

const serviceOf = (ctx: ExecutionContext): Fetcher =>
  (ctx as unknown as { exports: { default: Fetcher } }).exports.default

async function acquireNear(ctx: ExecutionContext, lock: string, location: string): Promise<number> {
  const near =
    location === 'cf' ? { cf: { latitude: '35.7', longitude: '139.7' } } : (location as Location | 'nowhere')
  const options = near === 'nowhere' ? {} : { near }
  const held = await createBaton({ binding: serviceOf(ctx), ...options })
    .lock(lock)
    .acquire({ keepAlive: false })
  await held.release()
  return held.grant.participant
}

/** Answers 204 after it has gone away, or with what was answered to it if that came first. */
async function leave(ctx: ExecutionContext, lock: string, path: string, body: string): Promise<Response> {
  const service = serviceOf(ctx)
  const url = `http://localhost/v1/locks/${lock}`
  const client = new AbortController()
  const headers = { 'content-type': 'application/json' }
  const answer = service.fetch(
    new Request(`${url}${path}`, { method: 'POST', headers, body, signal: client.signal }),
  )
  const gone = goWhenQueued(service, url, client)
  return Promise.race([answer, gone]).catch(() => gone)
}

async function goWhenQueued(service: Fetcher, url: string, client: AbortController): Promise<Response> {
  for (;;) {
    const status = (await (await service.fetch(url)).json()) as { participants: { queue: number }[] }
    if (status.participants.some(({ queue }) => queue > 0)) break
    await scheduler.wait(20)
  }
  client.abort()
  return new Response(null, { status: 204 })
}
