/**
 * A router in a process of its own. What it remembers is gone when it begins anew; what was under way then
 * gets no answer.
 */
import { createRouter } from '../../../worker/router/router.ts'
import type { SimRequest, SimResponse } from './http.ts'
import type { Respond } from './network.ts'
import type { Site } from './site.ts'
import type { World } from './world.ts'

type App = ReturnType<typeof createRouter>

export class SimRouter {
  readonly site: Site
  readonly #world: World
  #app: App | null = null
  #generation = 0

  constructor(world: World, site: Site) {
    this.#world = world
    this.site = site
  }

  restart(): void {
    this.#app = null
    this.#generation++
  }

  /** `from`: where the platform says that the client is. */
  serve(request: SimRequest, respond: Respond<SimResponse>, from: string | null = null): void {
    if (from !== null) Object.assign(request, { cf: { batonLocation: from } })
    const generation = this.#generation
    this.#app ??= this.#create()
    const isCurrent = (): boolean => generation === this.#generation
    Promise.resolve(this.#app.fetch(request as unknown as Request)).then(
      response => isCurrent() && respond({ ok: true, value: response as unknown as SimResponse }),
      error => isCurrent() && this.#world.escaped(this.site.name, error),
    )
  }

  #create(): App {
    const world = this.#world
    const generation = this.#generation
    const defaults = world.defaultsOf(this.site, 1)
    return createRouter({
      open: true,
      defaults,
      now: () => this.site.now,
      log: ({ level, message }) => world.note(this.site.name, `${level}: ${message}`),
      participants: {
        fetch: (lock, place, request) => {
          if (generation !== this.#generation) return new Promise(() => {})
          const asked = request as unknown as SimRequest
          const answer = world.serving.fetchObject(this.site, lock, place, asked)
          return answer as unknown as Promise<Response>
        },
      },
      upgrade: answer => answer,
    })
  }
}
