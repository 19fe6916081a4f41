/** The deployed Worker: the public router in front, the participants behind it. */
import { createDirectory, objectName, PARTICIPANT_PATH } from './directory.ts'
import { type BatonEnvironment, defaultConfiguration } from './environment.ts'
import { createRouter } from './router/router.ts'
import { isSignedBy } from './signature.ts'

export { BatonParticipant } from './participant/participant.ts'

export default {
  async fetch(request, env, ctx) {
    const { pathname, search } = new URL(request.url)
    if (pathname.startsWith(`${PARTICIPANT_PATH}/`) && (await isFromPeer(request, env))) {
      const lock = request.headers.get('x-baton-lock')!
      const id = Number(request.headers.get('x-baton-participant'))
      const inner = new Request(
        `https://participant${pathname.slice(PARTICIPANT_PATH.length)}${search}`,
        request,
      )
      return env.PARTICIPANT.get(env.PARTICIPANT.idFromName(objectName(lock, id))).fetch(inner)
    }
    return routerOf(env).fetch(request, env, ctx)
  },
} satisfies ExportedHandler<BatonEnvironment>

/** Without the secret, or without its signature, the path of the participants is as unknown as any other. */
async function isFromPeer(request: Request, env: BatonEnvironment): Promise<boolean> {
  return Boolean(env.BATON_PEER_SECRET) && isSignedBy(request, env.BATON_PEER_SECRET!, Date.now())
}

const routers = new WeakMap<BatonEnvironment, ReturnType<typeof createRouter>>()

function routerOf(env: BatonEnvironment): ReturnType<typeof createRouter> {
  const known = routers.get(env)
  if (known !== undefined) return known
  const router = createRouter({
    participants: createDirectory(env),
    defaults: defaultConfiguration(env, 1),
    keys: env.BATON_KEYS,
    open: env.BATON_OPEN === 'true',
  })
  routers.set(env, router)
  return router
}
