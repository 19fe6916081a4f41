/** The service and the yardstick in one Worker, so that both run in the same process at the same time. */
import type { BatonEnvironment } from '../worker/environment.ts'
import baton, { BatonParticipant } from '../worker/index.ts'
import { PlainLock } from './plain-lock.ts'

export { BatonParticipant, PlainLock }

interface BenchEnvironment extends BatonEnvironment {
  readonly PLAIN: DurableObjectNamespace
}

export default {
  async fetch(request, env, ctx) {
    if (!new URL(request.url).pathname.startsWith('/plain/')) return baton.fetch(request, env, ctx)
    return env.PLAIN.get(env.PLAIN.idFromName('plain')).fetch(request)
  },
} satisfies ExportedHandler<BenchEnvironment>
