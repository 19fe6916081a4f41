/** The yardsticks as a user would deploy them: a Worker of a few lines, and objects behind it. */
import type { PlainCall } from './calls.ts'
import { PlainLock } from './plain-lock.ts'
import { Replica, type ReplicaEnvironment } from './replicated-write.ts'

export { PlainLock, Replica }

interface YardstickEnvironment extends ReplicaEnvironment {
  readonly PLAIN: DurableObjectNamespace<PlainLock>
}

/**
 * `/plain/{name}` is the lock of this name, an object of its own. The Worker hands its requests on as they
 * are. Below `/anew/` and `/rpc/` it reads them first, as a Worker must that wants to check them.
 */
export default {
  async fetch(request, env) {
    const [, kind, name] = new URL(request.url).pathname.split('/')
    if (kind === 'floor') return env.REPLICA.get(env.REPLICA.idFromName('writer')).fetch(request)
    if (name === undefined) return new Response(null, { status: 404 })
    const object = env.PLAIN.get(env.PLAIN.idFromName(name))
    switch (kind) {
      case 'plain':
        return object.fetch(request)
      case 'anew':
        return writtenAnew(request, object)
      case 'rpc': {
        const answer = await object.answer((await request.json()) as PlainCall)
        return Response.json(answer, { status: answer.ok ? 200 : 410 })
      }
      default:
        return new Response(null, { status: 404 })
    }
  },
} satisfies ExportedHandler<YardstickEnvironment>

async function writtenAnew(request: Request, object: DurableObjectStub): Promise<Response> {
  const call = (await request.json()) as PlainCall
  const init = { method: 'POST', body: JSON.stringify(call) }
  const response = await object.fetch('https://object/', init)
  const { status, headers } = response
  return new Response(await response.text(), { status, headers })
}
