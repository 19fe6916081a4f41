/**
 * A few participants on a table: the test delivers each message, fires each timer and crashes participants by
 * hand. The scenarios of the papers and the traps of the protocols are told with it; the simulator is for
 * what nobody thought of.
 *
 * What every interpreter may rely on is asserted along the way: the save comes first, records never change
 * after they were saved, no participant writes to itself over the network, and storage alone gives the state
 * back (I20).
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
  type ParticipantConfig,
  type Protocol,
  type UserInput,
  type View,
} from '../../shared/protocols/protocol.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import type { Resource } from '../../shared/resource/resource.ts'
import { assertSaveFirst, frozen } from './interpreter-checks.ts'

export interface Sent<Message> {
  readonly from: number
  readonly to: number
  readonly message: Envelope<Message>
}

export type Matcher<Message> = (sent: Sent<Message>) => boolean

interface Seat<State> {
  readonly context: Context
  readonly storage: Map<string, Json>
  /** What the disk has of records that were saved and may wait; `undefined`: nothing. */
  readonly overwritten: Map<string, Json | undefined>
  /** `null` while it is down. */
  state: State | null
  readonly timers: Map<string, number>
  /** After this many effects of its next step it crashes; `null`: it does not. */
  crashAfter: number | null
}

export interface DueTimer {
  readonly participant: number
  readonly timer: string
  readonly at: number
}

export interface TableSettings {
  readonly participants: number
  /** What differs from the defaults. */
  readonly config?: Partial<Omit<ParticipantConfig, 'self' | 'participants'>>
  readonly resource?: Resource
  /** A participant that comes later knows with how many the lock was born, not how many there are. */
  readonly keepsCount?: boolean
  /** How many steps pass between two comparisons of the state with storage; 0: never compared. */
  readonly recoverEvery?: number
}

export class Table<State extends { durable: unknown }, Message> {
  readonly protocol: Protocol<State, Message>
  /** Messages in flight, in the order in which they were sent. */
  network: Sent<Message>[] = []
  /** Everything that was ever sent. */
  readonly sent: Sent<Message>[] = []
  /** Everything that was emitted, in order. */
  readonly emitted: { participant: number; event: Emitted }[] = []
  now = 0
  private readonly settings: TableSettings
  private readonly seats: Seat<State>[] = []
  private readonly isolated = new Set<number>()
  private loses: Matcher<Message> = () => false
  private incarnation = 0
  private stepsRun = 0

  constructor(protocol: Protocol<State, Message>, settings: TableSettings) {
    this.protocol = protocol
    this.settings = settings
    for (let self = 1; self <= settings.participants; self++) this.seats.push(this.createSeat(self))
  }

  /** The lock is born. A subclass calls this when it is ready to hear of it. */
  protected bear(): void {
    for (const participant of this.everybody) this.start(participant, true)
  }

  private createSeat(self: number): Seat<State> {
    const { participants, config, resource = keyValue } = this.settings
    const context: Context = {
      config: {
        configuration: 1,
        localHandoffs: 1,
        timing: DEFAULT_TIMING,
        limits: DEFAULT_LIMITS,
        ...config,
        self,
        participants: this.settings.keepsCount ? participants : Math.max(participants, self),
      },
      resource,
    }
    const timers = new Map<string, number>()
    return { context, storage: new Map(), overwritten: new Map(), state: null, timers, crashAfter: null }
  }

  // ---- participants

  get participants(): number {
    return this.seats.length
  }

  get everybody(): number[] {
    return this.seats.map((_, index) => index + 1)
  }

  /** A participant that the lock was not born with. */
  add(): number {
    const self = this.seats.length + 1
    this.seats.push(this.createSeat(self))
    this.start(self)
    return self
  }

  state(participant: number): State {
    const { state } = this.seat(participant)
    if (state === null) throw new Error(`participant ${participant} is down`)
    return state
  }

  view(participant: number): View {
    return this.protocol.view(this.context(participant), this.state(participant))
  }

  storage(participant: number): Map<string, Json> {
    return this.seat(participant).storage
  }

  context(participant: number): Context {
    return this.seat(participant).context
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

  /** The same, before what may wait was written. */
  crashUnwritten(participant: number): void {
    const { storage, overwritten } = this.seat(participant)
    for (const [key, value] of overwritten) {
      if (value === undefined) storage.delete(key)
      else storage.set(key, value)
    }
    overwritten.clear()
    this.crash(participant)
  }

  /** An incarnation is a number that no other start has had; a test may choose it. */
  start(participant: number, genesis = false, incarnation = this.nextIncarnation()): Emitted[] {
    const seat = this.seat(participant)
    seat.state = this.protocol.recover(seat.context, seat.storage)
    return this.step(participant, { type: 'start', now: this.now, genesis, incarnation })
  }

  private nextIncarnation(): number {
    this.incarnation = Math.max(this.incarnation, this.now) + 1
    return this.incarnation
  }

  wipe(participant: number): void {
    this.crash(participant)
    this.seat(participant).storage.clear()
  }

  /**
   * Its next step is cut short: only the first `effects` of it happen. The save, if there is one, is the
   * first.
   */
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

  hasTimer(participant: number, timer: string): boolean {
    return this.seat(participant).timers.has(timer)
  }

  timers(participant: number): string[] {
    return [...this.seat(participant).timers.keys()].sort()
  }

  timerAt(participant: number, timer: string): number | undefined {
    return this.seat(participant).timers.get(timer)
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

  /**
   * Delivers what is in flight and matches, and what follows from it, until nothing matches. Returns what was
   * delivered.
   */
  deliver(matches: Matcher<Message> = () => true): Sent<Message>[] {
    const delivered: Sent<Message>[] = []
    for (;;) {
      const index = this.network.findIndex(sent => this.isUp(sent.to) && matches(sent))
      if (index === -1) return delivered
      delivered.push(this.network[index]!)
      this.deliverAt(index)
      if (delivered.length > 100_000) throw new Error('the participants talk without end')
    }
  }

  /** Delivers the message at this place of the network. */
  deliverAt(index: number): void {
    const [sent] = this.network.splice(index, 1)
    this.hand(sent!)
  }

  /**
   * One communication step: everything in flight arrives, but nothing that it causes. Returns what arrived.
   */
  deliverStep(): Sent<Message>[] {
    const inFlight = this.take(() => true)
    for (const sent of inFlight) this.hand(sent)
    return inFlight
  }

  /** Gives a message to its receiver; it may have been taken from the network before (a duplicate). */
  hand({ from, to, message }: Sent<Message>): Emitted[] {
    return this.step(to, { type: 'message', now: this.now, from, message })
  }

  /** Takes matching messages out of the network: they are lost, unless the test hands them over later. */
  take(matches: Matcher<Message>): Sent<Message>[] {
    const taken = this.network.filter(matches)
    this.network = this.network.filter(sent => !matches(sent))
    return taken
  }

  /**
   * Everything in flight from or to these participants is lost, and everything that follows, until they are
   * reconnected.
   */
  isolate(...participants: number[]): void {
    for (const participant of participants) this.isolated.add(participant)
    this.take(sent => this.isLost(sent))
  }

  reconnect(...participants: number[]): void {
    for (const participant of participants) this.isolated.delete(participant)
  }

  /** From now on the network loses what matches. A second call replaces the first. */
  lose(matches: Matcher<Message>): void {
    this.loses = matches
    this.take(sent => this.isLost(sent))
  }

  private isLost(sent: Sent<Message>): boolean {
    return this.isolated.has(sent.from) || this.isolated.has(sent.to) || this.loses(sent)
  }

  /**
   * Delivers and fires whatever is due, for this many virtual milliseconds. Messages to a participant that is
   * down are lost.
   */
  run(durationMs: number): void {
    const end = this.now + durationMs
    for (;;) {
      this.take(sent => !this.isUp(sent.to))
      this.deliver()
      const due = this.nextTimer()
      if (due === null || due.at > end) break
      this.fire(due.participant, due.timer)
    }
    this.now = end
  }

  /** The timer that is due first, of all participants. */
  nextTimer(): DueTimer | null {
    let next: DueTimer | null = null
    for (const participant of this.everybody) {
      for (const [timer, at] of this.seat(participant).timers) {
        if (next === null || at < next.at) next = { participant, timer, at }
      }
    }
    return next
  }

  // ---- what a protocol's own table adds

  /** Storage has changed. */
  protected saved(_participant: number): void {}

  protected told(_participant: number, _event: Emitted): void {}

  /** After how many of these effects the participant crashes; `null`: it does not. */
  protected crashPoint(participant: number, _effects: readonly Effect<Message>[]): number | null {
    const seat = this.seat(participant)
    const { crashAfter } = seat
    seat.crashAfter = null
    return crashAfter
  }

  /** The crash has kept these effects from happening. */
  protected cutShort(_participant: number, _unperformed: readonly Effect<Message>[]): void {}

  /** What storage must give back. */
  protected recoverable(state: State): unknown {
    return state.durable
  }

  // ---- the interpreter of effects

  private step(participant: number, input: Input<Message>): Emitted[] {
    const effects = this.protocol.step(this.context(participant), this.state(participant), input)
    assertSaveFirst(effects)
    const crashAfter = this.crashPoint(participant, effects)
    const performed = effects.slice(0, crashAfter ?? effects.length)
    for (const effect of performed) this.perform(participant, effect)
    if (crashAfter === null) this.checkRecovery(participant, input)
    else {
      this.cutShort(participant, effects.slice(crashAfter))
      this.crash(participant)
    }
    return performed.flatMap(effect => (effect.type === 'emit' ? [effect.event] : []))
  }

  private checkRecovery(participant: number, input: Input<Message>): void {
    const { recoverEvery = 1 } = this.settings
    if (recoverEvery === 0 || ++this.stepsRun % recoverEvery !== 0) return
    const { context, storage, state } = this.seat(participant)
    const recovered = this.recoverable(this.protocol.recover(context, storage))
    const lived = this.recoverable(state!)
    if (isDeepStrictEqual(recovered, lived)) return
    const what = `after ${JSON.stringify(input)} participant ${participant}`
    throw new Error(
      `${what} would come back with ${JSON.stringify(recovered)} instead of ${JSON.stringify(lived)}`,
    )
  }

  protected perform(participant: number, effect: Effect<Message>): void {
    const { storage, overwritten, timers } = this.seat(participant)
    switch (effect.type) {
      case 'save':
        if (!effect.mayWait) overwritten.clear()
        for (const { key, value } of effect.records) {
          if (effect.mayWait && !overwritten.has(key)) overwritten.set(key, storage.get(key))
          if (value === null) storage.delete(key)
          else storage.set(key, frozen(value))
        }
        return this.saved(participant)
      case 'send':
        return this.post({ from: participant, to: effect.to, message: effect.message })
      case 'set-timer':
        timers.set(effect.timer, this.now + effect.afterMs)
        return
      case 'cancel-timer':
        timers.delete(effect.timer)
        return
      case 'emit':
        this.emitted.push({ participant, event: effect.event })
        return this.told(participant, effect.event)
    }
  }

  private post(sent: Sent<Message>): void {
    if (sent.from === sent.to) throw new Error('a message to oneself is handled in the same step (A11)')
    this.sent.push(sent)
    if (!this.isLost(sent)) this.network.push(sent)
  }

  private seat(participant: number): Seat<State> {
    return this.seats[participant - 1]!
  }
}
