/** The yardsticks as a user would deploy them: a Worker of a few lines, and objects behind it. */
import { PlainLock } from './plain-lock.ts'
import { Replica, type ReplicaEnvironment } from './replicated-write.ts'

export { PlainLock, Replica }

interface YardstickEnvironment extends ReplicaEnvironment {
  readonly PLAIN: DurableObjectNamespace
}

/** `/plain/{name}` is the lock of this name, an object of its own. */
export default {
  async fetch(request, env) {
    const [, kind, name] = new URL(request.url).pathname.split('/')
    if (kind === 'floor') return env.REPLICA.get(env.REPLICA.idFromName('writer')).fetch(request)
    if (kind === 'plain') return env.PLAIN.get(env.PLAIN.idFromName(name!)).fetch(request)
    return new Response(null, { status: 404 })
  },
} satisfies ExportedHandler<YardstickEnvironment>
