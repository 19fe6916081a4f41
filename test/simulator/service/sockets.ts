/**
 * A WebSocket between a client and an object. What is said arrives in order, or the connection is over: a
 * link that is cut breaks it, and each end learns of that later, if at all. The object's end outlives
 * instances that are evicted.
 */
import { PING, PONG } from '../../../shared/api/session.ts'
import type { Socket, SocketAttachment } from '../../../worker/participant/runtime.ts'
import type { Instance } from './instance.ts'
import type { SimObject } from './sim-object.ts'
import type { Site } from './site.ts'

type Listener = (event: { readonly data?: unknown }) => void
type EventName = 'open' | 'message' | 'close' | 'error'

/** A connection that broke without a word is noticed within this, by the client and by the object. */
const NOTICED_BY_CLIENT_MS = 10_000
const NOTICED_BY_OBJECT_MS = 20_000

export class ClientSocket {
  readonly #listeners = new Map<EventName, Listener[]>()
  /** The client stands still: it neither hears nor says anything, and its socket stays open. */
  isDeaf = false
  server!: ServerSocket

  accept(): void {}

  addEventListener(name: EventName, listener: Listener): void {
    const listeners = this.#listeners.get(name) ?? []
    listeners.push(listener)
    this.#listeners.set(name, listeners)
  }

  send(data: string): void {
    this.server.fromClient(data)
  }

  close(): void {
    this.server.closedByClient()
  }

  tell(name: EventName, data?: string): void {
    if (this.isDeaf) return
    for (const listener of this.#listeners.get(name) ?? []) listener({ data })
  }
}

export class ServerSocket {
  readonly tag: string
  readonly #object: SimObject
  readonly #client: ClientSocket
  /** Where the connection ends on the client's side: at its router. */
  readonly #router: Site
  #attachment: SocketAttachment | null = null
  #lastPing: number | null = null
  #toClientAt = 0
  #toObjectAt = 0
  /** Nothing arrives at either end any more. */
  #isBroken = false

  constructor(object: SimObject, tag: string, router: Site) {
    this.#object = object
    this.tag = tag
    this.#router = router
    this.#client = new ClientSocket()
    this.#client.server = this
    object.sockets.add(this)
  }

  get client(): ClientSocket {
    return this.#client
  }

  // ---------------------------------------------------------------- from the client

  fromClient(text: string): void {
    if (this.#isBroken || this.#client.isDeaf) return
    const arrive = (): void => {
      if (!this.#isOpen) return
      // The platform answers a ping itself, and wakes nobody.
      if (text === PING) {
        this.#lastPing = this.#object.site.now
        return this.#toClient(() => this.#client.tell('message', PONG))
      }
      this.#object.world.serving.socketSays(this.#object, this, text)
    }
    this.#toObject(arrive)
  }

  closedByClient(): void {
    if (!this.#isOpen || this.#client.isDeaf) return
    this.#toObject(() => this.#closeAtObject())
  }

  #closeAtObject(): void {
    if (!this.#isOpen) return
    this.#object.sockets.delete(this)
    this.#object.world.serving.socketCloses(this.#object, this)
  }

  // ---------------------------------------------------------------- from the object

  seenBy(instance: Instance): Socket {
    const { tag } = this
    return {
      tag,
      send: text => {
        instance.point()
        instance.output(() => this.#toClient(() => this.#client.tell('message', text)))
      },
      close: () => {
        instance.point()
        instance.output(() => this.#closeForGood())
      },
      bufferedBytes: () => null,
      lastPing: () => this.#lastPing,
      attachment: () => this.#attachment,
      attach: attachment => {
        instance.point()
        this.#attachment = { ...attachment }
      },
    }
  }

  #closeForGood(): void {
    if (!this.#isOpen) return
    this.#toClient(() => this.#client.tell('close'))
    this.#object.sockets.delete(this)
    this.#object.world.loop.after(1, () => {
      this.#object.site.receive(() => this.#object.world.serving.socketCloses(this.#object, this))
    })
  }

  get #isOpen(): boolean {
    return this.#object.sockets.has(this)
  }

  // ---------------------------------------------------------------- the way between

  #toClient(arrive: () => void): void {
    if (this.#isBroken) return
    const { network } = this.#object.world
    this.#toClientAt = network.carryInOrder(
      this.#object.site,
      this.#router,
      this.#toClientAt,
      () => !this.#isBroken && arrive(),
      () => this.#break(),
    )
  }

  #toObject(arrive: () => void): void {
    if (this.#isBroken) return
    const { network } = this.#object.world
    this.#toObjectAt = network.carryInOrder(
      this.#router,
      this.#object.site,
      this.#toObjectAt,
      () => !this.#isBroken && arrive(),
      () => this.#break(),
    )
  }

  /** The link is cut: both ends find out by themselves. */
  #break(): void {
    if (this.#isBroken) return
    this.#isBroken = true
    const { loop, random } = this.#object.world
    loop.after(random.fraction() * NOTICED_BY_CLIENT_MS, () => this.#client.tell('close'))
    loop.after(random.fraction() * NOTICED_BY_OBJECT_MS, () => {
      this.#object.site.receive(() => this.#closeAtObject())
    })
  }

  /** The object's instance died, or the platform dropped the connection: nobody at the object hears of it. */
  breakOff(): void {
    this.#object.sockets.delete(this)
    if (this.#isBroken) return
    this.#isBroken = true
    this.#object.world.counts.socketsDropped++
    this.#object.world.loop.after(1, () => this.#client.tell('close'))
  }
}
