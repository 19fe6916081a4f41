/**
 * A few participants on a table: the test delivers each message, fires each timer and crashes whom it likes, by hand. The
 * scenarios of the paper and the traps of the protocol are told with it; the simulator is for what nobody thought of.
 */
import type { Json } from '../../shared/json.ts'
import {
  type Context,
  DEFAULT_LIMITS,
  DEFAULT_TIMING,
  type Effect,
  type Emitted,
  type Envelope,
  type Input,
  type Limits,
  type Protocol,
  type UserInput,
} from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { WmeState } from '../../shared/protocols/wme/state.ts'
import { keyValue } from '../../shared/resource/key-value.ts'

export interface Sent {
  readonly from: number
  readonly to: number
  readonly message: Envelope<WmeMessage>
}

interface Seat {
  readonly context: Context
  readonly storage: Map<string, Json>
  /** `null` while it is down. */
  state: WmeState | null
  readonly timers: Map<string, number>
}

export interface ClusterOptions {
  readonly participants: number
  readonly localHandoffs?: number
  readonly limits?: Partial<Limits>
}

export class Cluster {
  readonly protocol: Protocol<WmeState, WmeMessage>
  readonly participants: number
  /** In flight, in the order in which it was sent. */
  network: Sent[] = []
  /** Everything that was emitted, in order. */
  readonly emitted: { participant: number; event: Emitted }[] = []
  now = 0
  private readonly seats: Seat[] = []

  constructor(protocol: Protocol<WmeState, WmeMessage>, options: ClusterOptions) {
    this.protocol = protocol
    this.participants = options.participants
    for (let self = 1; self <= options.participants; self++) {
      const context: Context = {
        config: {
          self,
          participants: options.participants,
          configuration: 1,
          localHandoffs: options.localHandoffs ?? 1,
          timing: DEFAULT_TIMING,
          limits: { ...DEFAULT_LIMITS, ...options.limits },
        },
        resource: keyValue,
      }
      this.seats.push({ context, storage: new Map(), state: null, timers: new Map() })
      this.start(self, true)
    }
  }

  // ---- participants

  state(participant: number): WmeState {
    const { state } = this.seat(participant)
    if (state === null) throw new Error(`participant ${participant} is down`)
    return state
  }

  storage(participant: number): Map<string, Json> {
    return this.seat(participant).storage
  }

  crash(participant: number): void {
    const seat = this.seat(participant)
    seat.state = null
    seat.timers.clear()
  }

  start(participant: number, genesis = false): void {
    const seat = this.seat(participant)
    seat.state = this.protocol.recover(seat.context, seat.storage)
    this.step(participant, { type: 'start', now: this.now, genesis, incarnation: this.now + 1 })
  }

  wipe(participant: number): void {
    this.crash(participant)
    this.seat(participant).storage.clear()
  }

  // ---- inputs

  user(participant: number, event: UserInput): Emitted[] {
    return this.step(participant, { type: 'user', now: this.now, event })
  }

  try(
    participant: number,
    user: string,
    options: { ttlMs?: number; waitMs?: number; confirm?: boolean } = {},
  ) {
    return this.user(participant, { type: 'try', user, ttlMs: 30_000, ...options })
  }

  unreachable(participant: number, peer: number): Emitted[] {
    return this.step(participant, { type: 'unreachable', now: this.now, peer })
  }

  hasTimer(participant: number, timer: string): boolean {
    return this.seat(participant).timers.has(timer)
  }

  timers(participant: number): string[] {
    return [...this.seat(participant).timers.keys()]
  }

  fire(participant: number, timer: string): Emitted[] {
    const { timers } = this.seat(participant)
    const at = timers.get(timer)
    if (at === undefined) throw new Error(`participant ${participant} has no timer ${timer}`)
    timers.delete(timer)
    this.now = Math.max(this.now, at)
    return this.step(participant, { type: 'timer', now: this.now, timer })
  }

  // ---- the network

  /** Delivers what is in flight and matches, and what follows from it, until nothing matches. Returns what was delivered. */
  deliver(matches: (sent: Sent) => boolean = () => true): Sent[] {
    const delivered: Sent[] = []
    for (;;) {
      const index = this.network.findIndex(sent => this.seat(sent.to).state !== null && matches(sent))
      if (index === -1) return delivered
      const [sent] = this.network.splice(index, 1)
      delivered.push(sent!)
      this.hand(sent!)
      if (delivered.length > 10_000) throw new Error('the participants talk without end')
    }
  }

  /** Gives a message to its receiver, also one that was taken from the network before (a duplicate). */
  hand(sent: Sent): Emitted[] {
    return this.step(sent.to, { type: 'message', now: this.now, from: sent.from, message: sent.message })
  }

  /** Takes matching messages out of the network: they are lost, unless the test hands them over later. */
  take(matches: (sent: Sent) => boolean): Sent[] {
    const taken = this.network.filter(matches)
    this.network = this.network.filter(sent => !matches(sent))
    return taken
  }

  /** Delivers and fires whatever is due, as in a run without faults, for so many virtual milliseconds. */
  run(durationMs: number): void {
    const end = this.now + durationMs
    for (;;) {
      this.network = this.network.filter(sent => this.seat(sent.to).state !== null)
      this.deliver()
      const due = this.nextTimer()
      if (due === null || due.at > end) break
      this.fire(due.participant, due.timer)
    }
    this.now = end
  }

  private nextTimer(): { participant: number; timer: string; at: number } | null {
    let next: { participant: number; timer: string; at: number } | null = null
    this.seats.forEach((seat, index) => {
      for (const [timer, at] of seat.timers) {
        if (next === null || at < next.at) next = { participant: index + 1, timer, at }
      }
    })
    return next
  }

  // ---- the interpreter of effects

  private step(participant: number, input: Input<WmeMessage>): Emitted[] {
    const seat = this.seat(participant)
    if (seat.state === null) throw new Error(`participant ${participant} is down`)
    const emitted: Emitted[] = []
    for (const effect of this.protocol.step(seat.context, seat.state, input)) {
      this.run1(participant, seat, effect)
      if (effect.type === 'emit') emitted.push(effect.event)
    }
    return emitted
  }

  private run1(participant: number, seat: Seat, effect: Effect<WmeMessage>): void {
    switch (effect.type) {
      case 'save':
        for (const { key, value } of effect.records) {
          if (value === null) seat.storage.delete(key)
          else seat.storage.set(key, value)
        }
        return
      case 'send':
        this.network.push({ from: participant, to: effect.to, message: effect.message })
        return
      case 'set-timer':
        seat.timers.set(effect.timer, this.now + effect.afterMs)
        return
      case 'cancel-timer':
        seat.timers.delete(effect.timer)
        return
      case 'emit':
        this.emitted.push({ participant, event: effect.event })
    }
  }

  private seat(participant: number): Seat {
    return this.seats[participant - 1]!
  }
}
