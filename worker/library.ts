/**
 * Baton as part of another Worker; the deployed service is made of it too. See docs/library.md.
 *
 * @example
 * const baton = defineBaton({ basePath: '/locks-api' })
 * export const BatonParticipant = baton.Participant
 * export default { fetch: baton.fetch }
 */
import { waitUntil } from 'cloudflare:workers'
import { Hono } from 'hono'
import type { Resource } from '../shared/resource/resource.ts'
import { type AllowedOrigins, acrossOrigins, allowedOrigins } from './cross-origin.ts'
import { createDirectory } from './directory.ts'
import {
  assetsOf,
  type BatonEnvironment,
  DEFAULT_RESOURCE,
  defaultConfiguration,
  isOpen,
} from './environment.ts'
import { refuseMalformed } from './malformed.ts'
import { refuseMisconfigured } from './misconfigured.ts'
import { ledgerHealth, wakeLedger } from './own-ledgers.ts'
import { BatonParticipant } from './participant/durable-object.ts'
import { answerPeer } from './peer-door.ts'
import type { RouterEnvironment } from './router/context.ts'
import type { RouterOptions } from './router/options.ts'
import { createRouter } from './router/router.ts'
import { refuseStrangers } from './same-machine.ts'

export type { BatonEnvironment } from './environment.ts'

export interface ServiceOptions extends Pick<RouterOptions, 'opSchemas'> {
  /** Pages of these origins may call the service from a browser, beside those of `BATON_CORS_ORIGINS`. */
  readonly cors?: { readonly origin: string | string[] }
  /** The path below which the API is served, such as `/locks-api`. Default: the root. */
  readonly basePath?: string
  /**
   * What locks can guard, besides the built-in map. A resource must stay here as long as there are locks that
   * guard it.
   */
  readonly resources?: readonly Resource[]
  /** The name of the resource that a lock guards, by the lock's name. A lock keeps what it was born with. */
  readonly resourceOf?: (lock: string) => string
}

export interface Service {
  /**
   * The class of the participants, to be exported under the name that the binding `PARTICIPANT` has for it.
   */
  readonly Participant: typeof BatonParticipant
  /** Answers the requests of clients and of participants in other processes. */
  readonly fetch: (request: Request, env: BatonEnvironment, ctx: ExecutionContext) => Promise<Response>
  /**
   * There is nothing behind this service: a tunnel (`CONNECT`) is closed at once. Without this, the runtime
   * says 500.
   */
  readonly connect: (socket: { close(): unknown }) => void
  /**
   * The way to the locks for the Worker's own code, which needs no key. The nearest participant serves it:
   * nearest to where the request came from that the Worker is answering.
   *
   * @example
   * const locks = createBaton({ fetch: baton.fetchInside(env, request) })
   */
  readonly fetchInside: (env: BatonEnvironment, near?: Request) => (request: Request) => Promise<Response>
}

export function defineBaton(options: ServiceOptions = {}): Service {
  const basePath = options.basePath === undefined ? '' : `/${options.basePath.replace(/^\/+|\/+$/g, '')}`
  const resourceOf = checkedResourceOf(options)
  const routerFor = (env: BatonEnvironment, access: Pick<RouterOptions, 'keys' | 'open' | 'assets'>) => {
    const defaults = defaultConfiguration(env, 1)
    return createRouter({
      participants: createDirectory(env),
      defaults: lock => ({ ...defaults, resource: resourceOf(lock) }),
      ledgerHealth: () => ledgerHealth(env),
      ...(options.opSchemas && { opSchemas: options.opSchemas }),
      ...access,
    })
  }
  const publicRouter = onceFor<Hono<RouterEnvironment>>(env => {
    const router = routerFor(env, { keys: env.BATON_KEYS, open: isOpen(env), assets: assetsOf(env) })
    return basePath === '' ? router : mounted(router, basePath)
  })
  const insideRouter = onceFor(env => routerFor(env, { open: true }))
  const originsFor = onceFor<AllowedOrigins>(env => allowedOrigins(env, originsOf(options)))
  return {
    Participant: participantWith(options.resources ?? [], resourceOf),
    fetch: (request, env, ctx) => {
      const origins = originsFor(env)
      return acrossOrigins(request, origins, async () => {
        const refusal = refuseMisconfigured(env, request) ?? refuseMalformed(request)
        if (refusal !== null) return refusal
        wakeLedger(env, work => ctx.waitUntil(work))
        return (
          (await answerPeer(request, env, basePath)) ??
          (isOpen(env) ? refuseStrangers(request, origins) : null) ??
          publicRouter(env).fetch(request, env, ctx)
        )
      })
    },
    connect: socket => {
      socket.close()
    },
    fetchInside: (env, near) => async request => {
      const refusal = refuseMisconfigured(env, request)
      if (refusal !== null) return refusal
      const placed =
        near?.cf === undefined ? request : new Request(request, { cf: near.cf as RequestInitCfProperties })
      // Withdrawals in the background go on after the Worker has answered.
      const ctx = { waitUntil, passThroughOnException() {}, props: {} }
      return insideRouter(env).fetch(placed, env, ctx)
    },
  }
}

// ---------------------------------------------------------------- resources

function checkedResourceOf({ resources = [], resourceOf = () => DEFAULT_RESOURCE }: ServiceOptions) {
  const names = new Set([DEFAULT_RESOURCE, ...resources.map(({ name }) => name)])
  if (names.size <= resources.length) throw new Error('two resources have the same name')
  return (lock: string): string => {
    const name = resourceOf(lock)
    if (!names.has(name))
      throw new Error(`resourceOf(${lock}) says ${name}, which is not among the resources`)
    return name
  }
}

function participantWith(
  resources: readonly Resource[],
  resourceOf: (lock: string) => string,
): typeof BatonParticipant {
  return class extends BatonParticipant {
    override resourceNamed(name: string): Resource | undefined {
      return resources.find(resource => resource.name === name) ?? super.resourceNamed(name)
    }

    override resourceNameOf(lock: string): string {
      return resourceOf(lock)
    }
  }
}

// ---------------------------------------------------------------- requests

/** Below a path the root of the service has two addresses: with a slash at the end, and without. */
function mounted(router: Hono<RouterEnvironment>, basePath: string): Hono<RouterEnvironment> {
  const app = new Hono<RouterEnvironment>()
  app.all(`${basePath}/`, c => {
    const url = new URL(c.req.url)
    url.pathname = basePath
    return app.fetch(new Request(url, c.req.raw), c.env, c.executionCtx)
  })
  return app.route(basePath, router)
}

function originsOf({ cors }: ServiceOptions): string[] {
  return cors === undefined ? [] : [cors.origin].flat()
}

/** To make a router takes longer than most requests, and it remembers what it has learnt about locks. */
function onceFor<Made>(make: (env: BatonEnvironment) => Made): (env: BatonEnvironment) => Made {
  const made = new WeakMap<BatonEnvironment, Made>()
  return env => {
    const known = made.get(env) ?? make(env)
    made.set(env, known)
    return known
  }
}
