/** How objects are asked for something, and how they answer: by peers, by routers and through sockets. */
import type { ParticipantPlace } from '../../../shared/api/configuration.ts'
import { LEDGER_NAME } from '../../../worker/participant/ledger/name.ts'
import type { Entries } from './entries.ts'
import { type SimRequest, SimResponse } from './http.ts'
import type { Instance } from './instance.ts'
import type { Respond } from './network.ts'
import type { SimObject } from './sim-object.ts'
import type { Site } from './site.ts'
import { ServerSocket } from './sockets.ts'
import type { World } from './world.ts'

const SHOWN_CHARACTERS = 600

export class Serving {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  askPeer(
    from: SimObject,
    lock: string,
    place: ParticipantPlace,
    body: string,
    onResult: Respond<string>,
  ): void {
    const object = this.#world.objectAt(from.site, lock, place)
    this.#world.detail(from.name, () => `> ${object.name} ${body.slice(0, SHOWN_CHARACTERS)}`)
    this.#world.network.request<string>(
      from.site,
      object.site,
      respond => this.#serve(object, entries => entries.peer(body), respond),
      result => {
        const text = () => (result.ok ? result.value.slice(0, SHOWN_CHARACTERS) : result.error.message)
        this.#world.detail(from.name, () => `< ${object.name} ${text()}`)
        onResult(result)
      },
      true,
    )
  }

  /** What a router asks of a participant. Rejects as a stub's `fetch` does. */
  fetchObject(
    asking: Site,
    lock: string,
    place: ParticipantPlace,
    request: SimRequest,
  ): Promise<SimResponse> {
    const object = this.#world.objectAt(asking, lock, place)
    const openSocket = (tag: string) => new ServerSocket(object, tag, asking)
    const isLocal = this.#world.plan.deployment.kind === 'single'
    return new Promise((resolve, reject) => {
      this.#world.network.request<SimResponse>(
        asking,
        object.site,
        respond => this.#serve(object, entries => entries.fetch(request.clone(), openSocket), respond),
        result => {
          if (result.ok) resolve(result.value)
          // Behind a URL a reset is the failure of a Worker; next door it is an error that says so.
          else if (isLocal || !isReset(result.error)) reject(result.error)
          else resolve(new SimResponse('error code: 1101', { status: 500 }))
        },
      )
    })
  }

  /** As worker/own-ledgers.ts does. */
  #wakeLedger(site: Site): void {
    if (site.hasWokenLedger || this.#world.plan.deployment.kind === 'single') return
    site.hasWokenLedger = true
    const id = site.index
    const ledger = this.#world.objectAt(site, LEDGER_NAME, { id, location: null, url: null })
    const body = JSON.stringify({ type: 'ledger', from: id, messages: [] })
    this.#world.loop.after(0, () => {
      site.receive(() =>
        this.#serve(
          ledger,
          entries => entries.peer(body),
          () => {},
        ),
      )
    })
  }

  /** The object does something for a caller that waits for its answer. */
  #serve<Value>(object: SimObject, run: (entries: Entries) => Promise<Value>, respond: Respond<Value>): void {
    this.#wakeLedger(object.site)
    try {
      const { runtime, entries } = object.wake()
      const fail = (error: Error): void => respond({ ok: false, error })
      runtime.waiting.add(fail)
      const finish = (result: Parameters<Respond<Value>>[0]): void =>
        runtime.output(() => {
          runtime.waiting.delete(fail)
          respond(result)
        })
      run(entries).then(
        value => finish({ ok: true, value }),
        error => {
          runtime.escaped(error)
          finish({ ok: false, error: error instanceof Error ? error : new Error(String(error)) })
        },
      )
    } catch (error) {
      this.#world.wakeFailed(object, error)
      respond({ ok: false, error: error instanceof Error ? error : new Error(String(error)) })
    }
  }

  socketSays(object: SimObject, socket: ServerSocket, text: string): void {
    this.#tellSocket(object, (entries, runtime) => entries.socketSays(socket.seenBy(runtime), text))
  }

  socketCloses(object: SimObject, socket: ServerSocket): void {
    this.#tellSocket(object, (entries, runtime) => entries.socketCloses(socket.seenBy(runtime)))
  }

  #tellSocket(object: SimObject, tell: (entries: Entries, runtime: Instance) => void | Promise<void>): void {
    let runtime: Instance | null = null
    try {
      const awake = object.wake()
      runtime = awake.runtime
      Promise.resolve(tell(awake.entries, runtime)).catch(error => awake.runtime.escaped(error))
    } catch (error) {
      if (runtime === null) this.#world.wakeFailed(object, error)
      else runtime.escaped(error)
    }
  }
}

const isReset = (error: Error): boolean => 'durableObjectReset' in error
