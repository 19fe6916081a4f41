/**
 * A few participants on a table: the test delivers each message, fires each timer and crashes whom it likes, by hand. The
 * scenarios of the paper and the traps of the protocol are told with it; the simulator is for what nobody thought of.
 */
import { isDeepStrictEqual } from 'node:util'
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
  type Timing,
  type UserInput,
} from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { WmeState } from '../../shared/protocols/wme/state.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import type { Resource } from '../../shared/resource/resource.ts'
import { assertSaveFirst, frozen } from './interpreter-checks.ts'

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
  /** After so many effects of its next step it crashes; `null`: it does not. */
  crashAfter: number | null
}

export interface ClusterOptions {
  readonly participants: number
  readonly localHandoffs?: number
  readonly limits?: Partial<Limits>
  readonly timing?: Partial<Timing>
  readonly resource?: Resource
  /** After every step, the durable state is compared with what storage alone gives back (invariant I20). */
  readonly checkRecovery?: boolean
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
  private readonly isolated = new Set<number>()
  private loses: (sent: Sent) => boolean = () => false
  private readonly checkRecovery: boolean
  private incarnation = 0

  constructor(protocol: Protocol<WmeState, WmeMessage>, options: ClusterOptions) {
    this.protocol = protocol
    this.participants = options.participants
    this.checkRecovery = options.checkRecovery ?? false
    for (let self = 1; self <= options.participants; self++) {
      const context: Context = {
        config: {
          self,
          participants: options.participants,
          configuration: 1,
          localHandoffs: options.localHandoffs ?? 1,
          timing: { ...DEFAULT_TIMING, confirmMs: 0, ...options.timing },
          limits: { ...DEFAULT_LIMITS, ...options.limits },
        },
        resource: options.resource ?? keyValue,
      }
      this.seats.push({ context, storage: new Map(), state: null, timers: new Map(), crashAfter: null })
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
    this.incarnation = Math.max(this.incarnation, this.now) + 1
    this.step(participant, { type: 'start', now: this.now, genesis, incarnation: this.incarnation })
  }

  wipe(participant: number): void {
    this.crash(participant)
    this.seat(participant).storage.clear()
  }

  /** Its next step is cut short: only the first `effects` of it happen. The save, if there is one, is the first. */
  crashDuringNextStep(participant: number, effects: number): void {
    this.seat(participant).crashAfter = effects
  }

  isUp(participant: number): boolean {
    return this.seat(participant).state !== null
  }

  context(participant: number): Context {
    return this.seat(participant).context
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

  /** All that is in flight from or to this participant is lost, and all that follows, until it is reconnected. */
  isolate(...participants: number[]): void {
    for (const participant of participants) this.isolated.add(participant)
    this.network = this.network.filter(sent => !this.isLost(sent))
  }

  reconnect(...participants: number[]): void {
    for (const participant of participants) this.isolated.delete(participant)
  }

  /** From now on the network loses what matches, and nothing else if called again. */
  lose(matches: (sent: Sent) => boolean): void {
    this.loses = matches
    this.network = this.network.filter(sent => !this.isLost(sent))
  }

  private isLost(sent: Sent): boolean {
    return this.isolated.has(sent.from) || this.isolated.has(sent.to) || this.loses(sent)
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
    const effects = this.protocol.step(seat.context, seat.state, input)
    assertSaveFirst(effects)
    const emitted: Emitted[] = []
    const { crashAfter } = seat
    seat.crashAfter = null
    for (const effect of effects.slice(0, crashAfter ?? effects.length)) {
      this.run1(participant, seat, effect)
      if (effect.type === 'emit') emitted.push(effect.event)
    }
    if (crashAfter !== null) this.crash(participant)
    else if (this.checkRecovery) this.assertRecoverable(participant, input)
    return emitted
  }

  private assertRecoverable(participant: number, input: Input<WmeMessage>): void {
    const { context, storage, state } = this.seat(participant)
    const { durable } = this.protocol.recover(context, storage)
    if (isDeepStrictEqual(durable, state!.durable)) return
    const [recovered, lived] = [JSON.stringify(durable), JSON.stringify(state!.durable)]
    const what = `after ${JSON.stringify(input)} participant ${participant}`
    throw new Error(`${what} would come back with ${recovered} instead of ${lived}`)
  }

  private run1(participant: number, seat: Seat, effect: Effect<WmeMessage>): void {
    switch (effect.type) {
      case 'save':
        for (const { key, value } of effect.records) {
          if (value === null) seat.storage.delete(key)
          else seat.storage.set(key, frozen(value))
        }
        return
      case 'send':
        this.post({ from: participant, to: effect.to, message: effect.message })
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

  private post(sent: Sent): void {
    if (sent.from === sent.to) throw new Error('a message to oneself is handled in the same step (A11)')
    if (!this.isLost(sent)) this.network.push(sent)
  }

  private seat(participant: number): Seat {
    return this.seats[participant - 1]!
  }
}
