/**
 * A few participants on a table: the test delivers each message, fires each timer and crashes whom it likes, by hand. Every
 * interpreter's duties are asserted along the way: the save first, records that never change, a state that storage alone
 * gives back, no timer for a lock that is idle.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../../../shared/json.ts'
import {
  type Context,
  DEFAULT_LIMITS,
  DEFAULT_TIMING,
  type Effect,
  type Emitted,
  type Envelope,
  type Input,
  type Limits,
  type ProtocolOptions,
  type UserInput,
} from '../../../shared/protocols/protocol.ts'
import type { ConsensusMessage } from '../../../shared/protocols/wme-consensus/messages.ts'
import type { ConsensusState } from '../../../shared/protocols/wme-consensus/state.ts'
import { wmeConsensus } from '../../../shared/protocols/wme-consensus/wme-consensus.ts'
import { keyValue } from '../../../shared/resource/key-value.ts'

export interface Sent {
  readonly from: number
  readonly to: number
  readonly message: Envelope<ConsensusMessage>
}

interface Seat {
  readonly context: Context
  readonly storage: Map<string, Json>
  /** `null` while it is down. */
  state: ConsensusState | null
  readonly timers: Map<string, number>
  /** After so many effects of its next step it crashes; `null`: it does not. */
  crashAfter: number | null
}

export interface TableOptions {
  readonly participants: number
  readonly consensus?: NonNullable<ProtocolOptions['consensus']>
  readonly limits?: Partial<Limits>
  readonly firstOwner?: number
  /** After every so many steps the durable state is compared with what storage alone gives back (invariant I20). */
  readonly recoverEvery?: number
  /** Hears everything that is emitted, when it is emitted. */
  readonly listener?: (participant: number, event: Emitted) => void
}

export class Table {
  readonly participants: number
  /** In flight, in the order in which it was sent. */
  network: Sent[] = []
  readonly emitted: { participant: number; event: Emitted }[] = []
  now = 0
  private readonly seats: Seat[] = []
  private readonly isolated = new Set<number>()
  private readonly listener: (participant: number, event: Emitted) => void
  private readonly recoverEvery: number
  private incarnation = 0
  private steps = 0

  constructor(options: TableOptions) {
    this.participants = options.participants
    this.listener = options.listener ?? (() => {})
    this.recoverEvery = options.recoverEvery ?? 1
    for (let self = 1; self <= options.participants; self++) {
      const context: Context = {
        config: {
          self,
          participants: options.participants,
          configuration: 1,
          localHandoffs: 1,
          ...(options.firstOwner === undefined ? {} : { firstOwner: options.firstOwner }),
          ...(options.consensus === undefined ? {} : { options: { consensus: options.consensus } }),
          timing: DEFAULT_TIMING,
          limits: { ...DEFAULT_LIMITS, ...options.limits },
        },
        resource: keyValue,
      }
      this.seats.push({ context, storage: new Map(), state: null, timers: new Map(), crashAfter: null })
      this.start(self, true)
    }
  }

  // ---- participants

  state(participant: number): ConsensusState {
    const { state } = this.seat(participant)
    if (state === null) throw new Error(`participant ${participant} is down`)
    return state
  }

  view(participant: number) {
    return wmeConsensus.view(this.seat(participant).context, this.state(participant))
  }

  isUp(participant: number): boolean {
    return this.seat(participant).state !== null
  }

  crash(participant: number): void {
    const seat = this.seat(participant)
    seat.state = null
    seat.crashAfter = null
    seat.timers.clear()
  }

  start(participant: number, genesis = false): void {
    const seat = this.seat(participant)
    seat.state = wmeConsensus.recover(seat.context, seat.storage)
    this.incarnation++
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

  // ---- inputs

  user(participant: number, event: UserInput): Emitted[] {
    return this.step(participant, { type: 'user', now: this.now, event })
  }

  unreachable(participant: number, peer: number): Emitted[] {
    return this.step(participant, { type: 'unreachable', now: this.now, peer })
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

  /** Delivers what is in flight and matches, and what follows from it, until nothing matches. */
  deliver(matches: (sent: Sent) => boolean = () => true): Sent[] {
    const delivered: Sent[] = []
    for (;;) {
      const index = this.network.findIndex(sent => this.isUp(sent.to) && matches(sent))
      if (index === -1) return delivered
      const [sent] = this.network.splice(index, 1)
      delivered.push(sent!)
      this.hand(sent!)
      if (delivered.length > 20_000) throw new Error('the participants talk without end')
    }
  }

  /** One communication step: all that is in flight arrives, and nothing of what it causes. Returns what arrived. */
  deliverStep(): Sent[] {
    const inFlight = this.take(() => true)
    for (const sent of inFlight) this.hand(sent)
    return inFlight
  }

  hand(sent: Sent): Emitted[] {
    return this.step(sent.to, { type: 'message', now: this.now, from: sent.from, message: sent.message })
  }

  take(matches: (sent: Sent) => boolean): Sent[] {
    const taken = this.network.filter(matches)
    this.network = this.network.filter(sent => !matches(sent))
    return taken
  }

  /** All that is in flight from or to these is lost, and all that follows, until they are reconnected. */
  isolate(...participants: number[]): void {
    for (const participant of participants) this.isolated.add(participant)
    this.network = this.network.filter(sent => !this.isLost(sent))
  }

  reconnect(...participants: number[]): void {
    for (const participant of participants) this.isolated.delete(participant)
  }

  private isLost(sent: Sent): boolean {
    return this.isolated.has(sent.from) || this.isolated.has(sent.to)
  }

  /** Delivers and fires whatever is due, as in a run without faults, for so many virtual milliseconds. */
  run(durationMs: number): void {
    const end = this.now + durationMs
    for (;;) {
      this.network = this.network.filter(sent => this.isUp(sent.to))
      this.deliver()
      const due = this.nextTimer()
      if (due === null || due.at > end) break
      this.fire(due.participant, due.timer)
    }
    this.now = end
  }

  nextTimer(): { participant: number; timer: string; at: number } | null {
    let next: { participant: number; timer: string; at: number } | null = null
    this.seats.forEach((seat, index) => {
      for (const [timer, at] of seat.timers) {
        if (next === null || at < next.at) next = { participant: index + 1, timer, at }
      }
    })
    return next
  }

  // ---- the interpreter of effects

  private step(participant: number, input: Input<ConsensusMessage>): Emitted[] {
    const seat = this.seat(participant)
    if (seat.state === null) throw new Error(`participant ${participant} is down`)
    const effects = wmeConsensus.step(seat.context, seat.state, input)
    if (effects.some((effect, place) => effect.type === 'save' && place > 0))
      throw new Error('a step saves after its first effect')
    const emitted: Emitted[] = []
    const { crashAfter } = seat
    seat.crashAfter = null
    for (const effect of effects.slice(0, crashAfter ?? effects.length)) {
      this.perform(participant, seat, effect)
      if (effect.type === 'emit') emitted.push(effect.event)
    }
    if (crashAfter === null) {
      if (++this.steps % this.recoverEvery === 0) this.assertRecoverable(participant, input)
    } else {
      // The replica changed with the save, whatever the process could still say of it.
      for (const effect of effects.slice(crashAfter)) {
        if (crashAfter > 0 && effect.type === 'emit' && isOfReplica(effect.event))
          this.perform(participant, seat, effect)
      }
      this.crash(participant)
    }
    return emitted
  }

  private assertRecoverable(participant: number, input: Input<ConsensusMessage>): void {
    const { context, storage, state } = this.seat(participant)
    const { durable } = wmeConsensus.recover(context, storage)
    if (isDeepStrictEqual(durable, state!.durable)) return
    const [recovered, lived] = [JSON.stringify(durable), JSON.stringify(state!.durable)]
    const what = `after ${JSON.stringify(input)} participant ${participant}`
    throw new Error(`${what} would come back with ${recovered} instead of ${lived}`)
  }

  private perform(participant: number, seat: Seat, effect: Effect<ConsensusMessage>): void {
    switch (effect.type) {
      case 'save':
        for (const { key, value } of effect.records) {
          if (value === null) seat.storage.delete(key)
          else seat.storage.set(key, frozen(value))
        }
        return
      case 'send': {
        const sent = { from: participant, to: effect.to, message: effect.message }
        if (sent.from === sent.to) throw new Error('a message to oneself is handled in the same step (A11)')
        if (!this.isLost(sent)) this.network.push(sent)
        return
      }
      case 'set-timer':
        seat.timers.set(effect.timer, this.now + effect.afterMs)
        return
      case 'cancel-timer':
        seat.timers.delete(effect.timer)
        return
      case 'emit':
        this.emitted.push({ participant, event: effect.event })
        this.listener(participant, effect.event)
    }
  }

  private seat(participant: number): Seat {
    return this.seats[participant - 1]!
  }
}

const isOfReplica = (event: Emitted): boolean =>
  event.type === 'applied' || event.type === 'granted' || event.type === 'restored'

/** A record is kept by reference and must never change afterwards: whoever changes it in place is caught in the act. */
function frozen(value: Json): Json {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}
