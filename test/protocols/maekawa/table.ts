/**
 * Nodes on a table: the test delivers each message, fires each timer and crashes whom it likes. After every step it is asserted
 * that one save comes first, that nobody writes to itself over the network, that storage alone gives the durable state back,
 * that at most one user is inside, and that fences grow.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../../../shared/json.ts'
import { maekawa } from '../../../shared/protocols/maekawa/maekawa.ts'
import type { MaekawaMessage } from '../../../shared/protocols/maekawa/messages.ts'
import type { MaekawaState } from '../../../shared/protocols/maekawa/state.ts'
import {
  type Context,
  DEFAULT_LIMITS,
  DEFAULT_TIMING,
  type Effect,
  type Emitted,
  type Envelope,
  type Input,
  type UserInput,
} from '../../../shared/protocols/protocol.ts'
import { keyValue } from '../../../shared/resource/key-value.ts'

export interface Sent {
  readonly from: number
  readonly to: number
  readonly message: Envelope<MaekawaMessage>
}

interface Seat {
  readonly context: Context
  readonly storage: Map<string, Json>
  /** `null` while it is down. */
  state: MaekawaState | null
  readonly timers: Map<string, number>
}

export interface TableOptions {
  readonly participants: number
  readonly localHandoffs?: number
}

export class Table {
  /** In flight, in the order in which it was sent. */
  network: Sent[] = []
  /** Everything that was ever sent. */
  readonly sent: Sent[] = []
  readonly emitted: { readonly node: number; readonly event: Emitted }[] = []
  /** Who is inside, with its fence: `crit` was said and the grant has not ended. */
  readonly inside = new Map<string, number>()
  highestFence = 0
  now = 0
  private readonly seats: Seat[] = []
  private incarnation = 0

  constructor(options: TableOptions) {
    const { participants, localHandoffs = 1 } = options
    for (let self = 1; self <= participants; self++) {
      const context: Context = {
        config: {
          self,
          participants,
          configuration: 1,
          localHandoffs,
          timing: DEFAULT_TIMING,
          // All of them: the table looks there for grants whose users did not hear of their end.
          limits: { ...DEFAULT_LIMITS, endingsKept: 10_000 },
        },
        resource: keyValue,
      }
      this.seats.push({ context, storage: new Map(), state: null, timers: new Map() })
      this.start(self, true)
    }
  }

  get nodes(): number[] {
    return this.seats.map((_, index) => index + 1)
  }

  context(node: number): Context {
    return this.seat(node).context
  }

  state(node: number): MaekawaState {
    const { state } = this.seat(node)
    if (state === null) throw new Error(`node ${node} is down`)
    return state
  }

  storage(node: number): Map<string, Json> {
    return this.seat(node).storage
  }

  isUp(node: number): boolean {
    return this.seat(node).state !== null
  }

  timers(node: number): string[] {
    return [...this.seat(node).timers.keys()]
  }

  timerAt(node: number, timer: string): number | undefined {
    return this.seat(node).timers.get(timer)
  }

  // ---- inputs

  start(node: number, genesis = false): Emitted[] {
    const seat = this.seat(node)
    seat.state = maekawa.recover(seat.context, seat.storage)
    this.incarnation++
    return this.step(node, { type: 'start', now: this.now, genesis, incarnation: this.incarnation })
  }

  crash(node: number): void {
    const seat = this.seat(node)
    seat.state = null
    seat.timers.clear()
  }

  wipe(node: number): void {
    this.crash(node)
    this.seat(node).storage.clear()
  }

  /** `effects`: after so many of them the node crashes. */
  user(node: number, event: UserInput, effects?: number): Emitted[] {
    return this.step(node, { type: 'user', now: this.now, event }, effects)
  }

  try(node: number, user = `user-${node}`, options: { waitMs?: number; ttlMs?: number } = {}): Emitted[] {
    return this.user(node, { type: 'try', user, ttlMs: 1_000_000, ...options })
  }

  exit(node: number, user = `user-${node}`): Emitted[] {
    const fence = this.inside.get(`${node}/${user}`)
    if (fence === undefined) throw new Error(`${user} is not inside at node ${node}`)
    return this.user(node, { type: 'exit', user, fence })
  }

  withdraw(node: number, user = `user-${node}`): Emitted[] {
    return this.user(node, { type: 'withdraw', user })
  }

  fire(node: number, timer: string, effects?: number): Emitted[] {
    const { timers } = this.seat(node)
    const at = timers.get(timer)
    if (at === undefined) throw new Error(`node ${node} has no timer ${timer}`)
    timers.delete(timer)
    this.now = Math.max(this.now, at)
    return this.step(node, { type: 'timer', now: this.now, timer }, effects)
  }

  // ---- the network

  /** Gives a message to its receiver, also one that was taken from the network before (a duplicate). */
  hand(sent: Sent, effects?: number): Emitted[] {
    if (!this.isUp(sent.to)) return []
    const { from, message } = sent
    return this.step(sent.to, { type: 'message', now: this.now, from, message }, effects)
  }

  /** Delivers what is in flight and matches, and what follows from it, the oldest first, until nothing matches. */
  deliver(matches: (sent: Sent) => boolean = () => true): number {
    for (let delivered = 0; ; delivered++) {
      const index = this.network.findIndex(matches)
      if (index === -1) return delivered
      this.hand(this.network.splice(index, 1)[0]!)
      if (delivered > 100_000) throw new Error('the nodes talk without end')
    }
  }

  /** Takes matching messages out of the network: they are lost, unless the test hands them over later. */
  take(matches: (sent: Sent) => boolean): Sent[] {
    const taken = this.network.filter(matches)
    this.network = this.network.filter(sent => !matches(sent))
    return taken
  }

  /** The timer that is due first, of all nodes. */
  nextTimer(): { readonly node: number; readonly timer: string; readonly at: number } | null {
    let next: { node: number; timer: string; at: number } | null = null
    for (const node of this.nodes) {
      for (const [timer, at] of this.seat(node).timers) {
        if (next === null || at < next.at) next = { node, timer, at }
      }
    }
    return next
  }

  // ---- the interpreter of effects

  private step(node: number, input: Input<MaekawaMessage>, most?: number): Emitted[] {
    const seat = this.seat(node)
    if (seat.state === null) throw new Error(`node ${node} is down`)
    const effects = maekawa.step(seat.context, seat.state, input)
    const late = effects.findIndex((effect, place) => effect.type === 'save' && place > 0)
    if (late !== -1) throw new Error('a step saves after its first effect')
    const emitted: Emitted[] = []
    for (const effect of effects.slice(0, most)) {
      this.interpret(node, seat, effect)
      if (effect.type === 'emit') emitted.push(effect.event)
    }
    if (most !== undefined) this.crash(node)
    else this.assertRecoverable(seat)
    return emitted
  }

  private interpret(node: number, seat: Seat, effect: Effect<MaekawaMessage>): void {
    switch (effect.type) {
      case 'save':
        for (const { key, value } of effect.records) {
          if (value === null) seat.storage.delete(key)
          else seat.storage.set(key, frozen(value))
        }
        return
      case 'send': {
        if (effect.to === node) throw new Error('a message to oneself is handled in the same step')
        const sent = { from: node, to: effect.to, message: effect.message }
        this.network.push(sent)
        this.sent.push(sent)
        return
      }
      case 'set-timer':
        seat.timers.set(effect.timer, this.now + effect.afterMs)
        return
      case 'cancel-timer':
        seat.timers.delete(effect.timer)
        return
      case 'emit':
        this.emitted.push({ node, event: effect.event })
        this.judge(node, effect.event)
    }
  }

  /** Mutual exclusion and the order of the fences, as the users see them. */
  private judge(node: number, event: Emitted): void {
    if (event.type === 'rem' || event.type === 'ejected') this.inside.delete(`${node}/${event.user}`)
    if (event.type !== 'crit') return
    const name = `${node}/${event.user}`
    this.forgetEnded()
    // Said again to a user that asked again.
    if (this.inside.get(name) === event.fence) return
    if (this.inside.size > 0) throw new Error(`${name} enters while ${[...this.inside.keys()]} is inside`)
    if (event.fence <= this.highestFence)
      throw new Error(`${name} has the fence ${event.fence} after ${this.highestFence}`)
    this.highestFence = event.fence
    this.inside.set(name, event.fence)
  }

  /** A grant is over when its end is written, though a crash may have kept its user from hearing of it. */
  forgetEnded(): void {
    for (const [name, fence] of this.inside) {
      const endings = this.storage(Number.parseInt(name, 10)).get('endings') as
        | { fence: number }[]
        | undefined
      if (endings?.some(ending => ending.fence === fence)) this.inside.delete(name)
    }
  }

  private assertRecoverable({ context, storage, state }: Seat): void {
    const { durable, derived } = maekawa.recover(context, storage)
    if (isDeepStrictEqual({ durable, derived }, { durable: state!.durable, derived: state!.derived })) return
    const [recovered, lived] = [JSON.stringify(durable), JSON.stringify(state!.durable)]
    throw new Error(`node ${context.config.self} would come back with ${recovered} instead of ${lived}`)
  }

  private seat(node: number): Seat {
    return this.seats[node - 1]!
  }
}

/** A record is kept by reference and must never change afterwards: whoever changes it in place is caught in the act. */
function frozen(value: Json): Json {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}
