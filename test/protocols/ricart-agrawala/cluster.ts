/**
 * A few nodes on a table: the test delivers each message, fires each timer and crashes whom it likes, by hand. After every step
 * it is checked that the lock is one (`Grants`), that the save came first, and that storage alone gives the state back.
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
  type Mode,
  type ProtocolOptions,
  type Timing,
  type UserInput,
} from '../../../shared/protocols/protocol.ts'
import type { RicartAgrawalaMessage } from '../../../shared/protocols/ricart-agrawala/messages.ts'
import { checkOptions, ricartAgrawala } from '../../../shared/protocols/ricart-agrawala/ricart-agrawala.ts'
import type { RicartAgrawalaState } from '../../../shared/protocols/ricart-agrawala/state.ts'
import { keyValue } from '../../../shared/resource/key-value.ts'
import { Grants } from './grants.ts'

export interface Sent {
  readonly from: number
  readonly to: number
  readonly message: Envelope<RicartAgrawalaMessage>
}

interface Seat {
  readonly context: Context
  readonly storage: Map<string, Json>
  /** `null` while it is down. */
  state: RicartAgrawalaState | null
  readonly timers: Map<string, number>
  /** After so many effects of its next step it crashes; `null`: it does not. */
  crashAfter: number | null
}

export interface ClusterOptions {
  readonly participants: number
  readonly options?: ProtocolOptions
  readonly localHandoffs?: number
  readonly timing?: Partial<Timing>
}

export class Cluster {
  /** In flight, in the order in which it was sent. */
  network: Sent[] = []
  /** Everything that was ever sent. */
  readonly sent: Sent[] = []
  readonly emitted: { participant: number; event: Emitted }[] = []
  readonly grants = new Grants()
  now = 0
  /** Steps so far, and the one that is to be cut short after so many of its effects. */
  steps = 0
  plannedCrash: { step: number; effects: number } | null = null
  /** How many effects the step had that was cut short. */
  effectsOfCrashedStep: number | null = null
  private readonly settings: ClusterOptions
  private readonly seats: Seat[] = []
  private loses: (sent: Sent) => boolean = () => false
  private incarnation = 0

  constructor(settings: ClusterOptions) {
    this.settings = settings
    const problem = checkOptions(settings.options ?? {}, settings.participants)
    if (problem !== null) throw new Error(problem)
    for (let self = 1; self <= settings.participants; self++) {
      this.seats.push(this.createSeat(self, settings.participants))
      this.start(self, true)
    }
  }

  private createSeat(self: number, participants: number): Seat {
    const { options, localHandoffs, timing } = this.settings
    const context: Context = {
      config: {
        self,
        participants,
        configuration: 1,
        localHandoffs: localHandoffs ?? 1,
        ...(options === undefined ? {} : { options }),
        timing: { ...DEFAULT_TIMING, ...timing },
        limits: DEFAULT_LIMITS,
      },
      resource: keyValue,
    }
    return { context, storage: new Map(), state: null, timers: new Map(), crashAfter: null }
  }

  // ---- nodes

  /** A node that the lock was not born with (7.2). */
  add(): number {
    const self = this.seats.length + 1
    this.seats.push(this.createSeat(self, self))
    this.start(self)
    return self
  }

  state(participant: number): RicartAgrawalaState {
    const { state } = this.seat(participant)
    if (state === null) throw new Error(`node ${participant} is down`)
    return state
  }

  view(participant: number) {
    return ricartAgrawala.view(this.seat(participant).context, this.state(participant))
  }

  storage(participant: number): ReadonlyMap<string, Json> {
    return this.seat(participant).storage
  }

  isUp(participant: number): boolean {
    return this.seat(participant).state !== null
  }

  crash(participant: number): void {
    const seat = this.seat(participant)
    seat.state = null
    seat.timers.clear()
  }

  start(participant: number, genesis = false): void {
    const seat = this.seat(participant)
    seat.state = ricartAgrawala.recover(seat.context, seat.storage)
    this.incarnation = Math.max(this.incarnation, this.now) + 1
    this.step(participant, { type: 'start', now: this.now, genesis, incarnation: this.incarnation })
  }

  wipe(participant: number): void {
    this.crash(participant)
    this.seat(participant).storage.clear()
    this.grants.wiped(participant)
  }

  /** Its next step is cut short: only the first `effects` of it happen. The save, if there is one, is the first. */
  crashDuringNextStep(participant: number, effects: number): void {
    this.seat(participant).crashAfter = effects
  }

  // ---- inputs

  user(participant: number, event: UserInput): Emitted[] {
    return this.step(participant, { type: 'user', now: this.now, event })
  }

  try(participant: number, user = 'u', rest: { ttlMs?: number; waitMs?: number; mode?: Mode } = {}) {
    return this.user(participant, { type: 'try', user, ttlMs: 1_000_000, ...rest })
  }

  exit(participant: number, user = 'u'): Emitted[] {
    const holder = this.state(participant).durable.desk.holders.find(inside => inside.user === user)
    if (holder === undefined) throw new Error(`${user} is not inside at node ${participant}`)
    return this.user(participant, { type: 'exit', user, fence: holder.fence })
  }

  /** The users inside, as `node:user`. */
  inside(): string[] {
    return this.seats.flatMap(({ state }, index) =>
      (state?.durable.desk.holders ?? []).map(({ user }) => `${index + 1}:${user}`),
    )
  }

  unreachable(participant: number, peer: number): Emitted[] {
    return this.step(participant, { type: 'unreachable', now: this.now, peer })
  }

  timers(participant: number): string[] {
    return [...this.seat(participant).timers.keys()].sort()
  }

  fire(participant: number, timer: string): Emitted[] {
    const { timers } = this.seat(participant)
    const at = timers.get(timer)
    if (at === undefined) throw new Error(`node ${participant} has no timer ${timer}`)
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
      delivered.push(this.network[index]!)
      this.deliverAt(index)
      if (delivered.length > 10_000) throw new Error('the nodes talk without end')
    }
  }

  /** Delivers the message at this place of the network. */
  deliverAt(index: number): void {
    const [sent] = this.network.splice(index, 1)
    this.hand(sent!)
  }

  /** Gives a message to its receiver, also one that was taken from the network before (a duplicate). */
  hand(sent: Sent): Emitted[] {
    const { from, to, message } = sent
    return this.step(to, { type: 'message', now: this.now, from, message })
  }

  /** Takes matching messages out of the network: they are lost, unless the test hands them over later. */
  take(matches: (sent: Sent) => boolean): Sent[] {
    const taken = this.network.filter(matches)
    this.network = this.network.filter(sent => !matches(sent))
    return taken
  }

  /** From now on the network loses what matches, and nothing else if called again. */
  lose(matches: (sent: Sent) => boolean): void {
    this.loses = matches
    this.network = this.network.filter(sent => !matches(sent))
  }

  /** Delivers and fires whatever is due, for so many virtual milliseconds. What is sent to a node that is down is lost. */
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

  private nextTimer(): { participant: number; timer: string; at: number } | null {
    let next: { participant: number; timer: string; at: number } | null = null
    this.seats.forEach((seat, index) => {
      for (const [timer, at] of seat.timers)
        if (next === null || at < next.at) next = { participant: index + 1, timer, at }
    })
    return next
  }

  // ---- the interpreter of effects

  private step(participant: number, input: Input<RicartAgrawalaMessage>): Emitted[] {
    const seat = this.seat(participant)
    if (seat.state === null) throw new Error(`node ${participant} is down`)
    const effects = ricartAgrawala.step(seat.context, seat.state, input)
    if (effects.some((effect, place) => effect.type === 'save' && place > 0))
      throw new Error('a step saves after its first effect')
    const emitted: Emitted[] = []
    const isPlanned = this.plannedCrash?.step === ++this.steps
    const crashAfter = isPlanned ? this.plannedCrash!.effects : seat.crashAfter
    seat.crashAfter = null
    if (isPlanned) this.effectsOfCrashedStep = effects.length
    for (const effect of effects.slice(0, crashAfter ?? effects.length)) {
      this.interpret(participant, seat, effect)
      if (effect.type === 'emit') emitted.push(effect.event)
    }
    if (crashAfter !== null) this.crash(participant)
    else this.assertRecoverable(participant, input)
    return emitted
  }

  private assertRecoverable(participant: number, input: Input<RicartAgrawalaMessage>): void {
    const { context, storage, state } = this.seat(participant)
    const { durable } = ricartAgrawala.recover(context, storage)
    if (isDeepStrictEqual(durable, state!.durable)) return
    const [recovered, lived] = [JSON.stringify(durable), JSON.stringify(state!.durable)]
    const what = `after ${JSON.stringify(input)} node ${participant}`
    throw new Error(`${what} would come back with ${recovered} instead of ${lived}`)
  }

  private interpret(participant: number, seat: Seat, effect: Effect<RicartAgrawalaMessage>): void {
    switch (effect.type) {
      case 'save':
        for (const { key, value } of effect.records) {
          if (value === null) seat.storage.delete(key)
          else seat.storage.set(key, frozen(value))
        }
        return this.grants.saved(participant, seat.storage)
      case 'send': {
        const sent = { from: participant, to: effect.to, message: effect.message }
        if (sent.from === sent.to) throw new Error('a message to oneself')
        this.sent.push(sent)
        if (!this.loses(sent)) this.network.push(sent)
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
    }
  }

  private seat(participant: number): Seat {
    return this.seats[participant - 1]!
  }
}

/** A record must never change after it was saved: whoever changes it in place is caught in the act. */
function frozen(value: Json): Json {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}
