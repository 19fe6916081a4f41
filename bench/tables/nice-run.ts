/**
 * A nice run: the shipped protocols on a network that loses nothing and takes the same time for every
 * message. Steps take no time.
 *
 * Messages travel as they do between Durable Objects (worker/participant/peers/exchange.ts): everything that
 * one event sends to one peer is one request, and what the peer answers at once rides in the response. So a
 * request and its response may carry two messages, and count as one `fetch`. A `transact` issues its
 * operation in the event in which it is let in, so both may travel together; everything else that a user does
 * when it is told something is an event of its own.
 */
import type { Json } from '../../shared/json.ts'
import type { AnyEnvelope, AnyProtocol, OpaqueMessage, OpaqueState } from '../../shared/protocols/all.ts'
import {
  type Context,
  DEFAULT_LIMITS,
  DEFAULT_TIMING,
  type Effect,
  type Emitted,
  type Input,
  type ParticipantId,
  type ProtocolOptions,
  type UserInput,
} from '../../shared/protocols/protocol.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import { isRecorded } from './recorded.ts'

/**
 * One communication step. It is much shorter than any timer of the protocols, so that only what must wait for
 * a timer does.
 */
export const DELAY_MS = 1

/**
 * When all are in a queue, the last one waits long. Nothing is lost here, so nobody needs to ask again, or
 * soon whether the owner is still there.
 */
const TIMING = { ...DEFAULT_TIMING, repeatMs: 5_000, timeoutMinMs: DEFAULT_TIMING.timeoutMs }

/**
 * A lock is quiet when nothing is on its way and nothing waits for a message to ride on. Timers that watch
 * over a user that waits or is inside are longer, and remain.
 */
const QUIET_MS = TIMING.flushMs + DELAY_MS

export interface Setting {
  readonly protocol: AnyProtocol
  readonly participants: number
  readonly options?: ProtocolOptions
}

export interface Sent {
  readonly at: number
  readonly from: ParticipantId
  readonly to: ParticipantId
  readonly message: AnyEnvelope
}

export interface Told {
  readonly at: number
  /** How much of the time since the first cause was spent waiting for a message to ride on. */
  readonly waitedMs: number
  readonly participant: ParticipantId
  readonly event: Emitted
  /** Everything counted until then. */
  readonly counted: Counted
}

export interface Counted {
  readonly messages: number
  /** `fetch` calls between objects. */
  readonly requests: number
  /** Rows of the journal: one for each event that changes something. */
  readonly rows: number
}

/** What a user does when it is told something. */
export type Reaction = (participant: ParticipantId, event: Emitted) => UserInput | null

interface Seat {
  readonly context: Context
  readonly state: OpaqueState
  readonly timers: Map<string, { readonly at: number; readonly waitedMs: number }>
}

interface Transmission {
  readonly isRequest: boolean
  readonly arrivesAt: number
  readonly waitedMs: number
  readonly from: ParticipantId
  readonly to: ParticipantId
  readonly messages: readonly AnyEnvelope[]
}

/** One event of one participant: what its steps send is kept until it is over. */
interface Event {
  readonly participant: ParticipantId
  readonly waitedMs: number
  readonly outbox: Map<ParticipantId, AnyEnvelope[]>
  readonly later: UserInput[]
  writes: boolean
}

export class NiceRun {
  now = 0
  readonly sent: Sent[] = []
  readonly told: Told[] = []
  private requests = 0
  private rows = 0
  reaction: Reaction = () => null
  private readonly protocol: AnyProtocol
  private readonly seats: Seat[]
  private inFlight: Transmission[] = []

  constructor({ protocol, participants, options }: Setting) {
    this.protocol = protocol
    this.seats = Array.from({ length: participants }, (_, index) => {
      const context: Context = {
        config: {
          self: index + 1,
          participants,
          configuration: 1,
          localHandoffs: 0,
          ...(options && { options }),
          timing: TIMING,
          limits: DEFAULT_LIMITS,
        },
        resource: keyValue,
      }
      return { context, state: protocol.recover(context, []), timers: new Map() }
    })
    for (let id = 1; id <= participants; id++) {
      this.event(id, 0, [{ type: 'start', now: 0, genesis: true, incarnation: id }], null)
    }
    this.settle()
  }

  get counted(): Counted {
    return { messages: this.sent.length, requests: this.requests, rows: this.rows }
  }

  user(participant: ParticipantId, event: UserInput, waitedMs = 0): void {
    this.event(participant, waitedMs, [{ type: 'user', now: this.now, event }], null)
  }

  /** Until the lock is quiet. */
  settle(): void {
    for (let lastAt = this.now; ; lastAt = this.now) {
      const [next] = this.inFlight
      const timer = this.nextTimer()
      // A message that arrives just when a timer fires has arrived in time.
      if (next !== undefined && (timer === null || next.arrivesAt <= timer.at)) this.deliver()
      else if (timer !== null && timer.at <= lastAt + QUIET_MS) this.fire(timer)
      else return
    }
  }

  private deliver(): void {
    const { isRequest, arrivesAt, waitedMs, from, to, messages } = this.inFlight.shift()!
    this.now = arrivesAt
    const inputs = messages.map(message => ({ type: 'message', now: this.now, from, message }) as const)
    this.event(to, waitedMs, inputs, isRequest ? from : null)
  }

  private nextTimer(): { participant: ParticipantId; timer: string; at: number } | null {
    let next: { participant: ParticipantId; timer: string; at: number } | null = null
    this.seats.forEach(({ timers }, index) => {
      for (const [timer, { at }] of timers)
        if (next === null || at < next.at) next = { participant: index + 1, timer, at }
    })
    return next
  }

  private fire({ participant, timer, at }: { participant: ParticipantId; timer: string; at: number }): void {
    const { timers } = this.seat(participant)
    const { waitedMs } = timers.get(timer)!
    timers.delete(timer)
    this.now = at
    this.event(participant, waitedMs, [{ type: 'timer', now: at, timer }], null)
  }

  // ---- one event, as in a Durable Object

  private event(
    participant: ParticipantId,
    waitedMs: number,
    inputs: readonly Input<OpaqueMessage>[],
    answersTo: ParticipantId | null,
  ): void {
    const event: Event = { participant, waitedMs, outbox: new Map(), later: [], writes: false }
    for (const input of inputs) this.step(event, input)
    if (event.writes) this.rows++
    for (const [to, messages] of event.outbox) this.transmit(event, to, messages, to !== answersTo)
    for (const input of event.later) this.user(participant, input, waitedMs)
  }

  private transmit(event: Event, to: ParticipantId, messages: readonly AnyEnvelope[], isRequest: boolean) {
    const { participant: from, waitedMs } = event
    if (isRequest) this.requests++
    for (const message of messages) this.sent.push({ at: this.now, from, to, message })
    this.inFlight.push({ isRequest, arrivesAt: this.now + DELAY_MS, waitedMs, from, to, messages })
  }

  private step(event: Event, input: Input<OpaqueMessage>): void {
    const { participant } = event
    const { context, state } = this.seat(participant)
    const cause = input.type === 'user' ? input.event : null
    const effects = this.protocol.step(context, state, input)
    const emitted = effects.flatMap(effect => (effect.type === 'emit' ? [effect.event] : []))
    if (isRecorded(cause, emitted)) event.writes = true
    for (const effect of effects) this.perform(event, effect)
    for (const said of emitted) {
      const answer = this.reaction(participant, said)
      if (answer === null) continue
      const isIssue = answer.type === 'issue' && said.type === 'crit'
      const isExit = answer.type === 'exit' && said.type === 'outcome'
      // A `transact` does both within the event that it hears of.
      if (isIssue || isExit) this.step(event, { type: 'user', now: this.now, event: answer })
      else event.later.push(answer)
    }
  }

  private perform(event: Event, effect: Effect<OpaqueMessage>): void {
    const { participant, outbox, waitedMs } = event
    const { timers } = this.seat(participant)
    switch (effect.type) {
      case 'save':
        event.writes = true
        return
      case 'send':
        outbox.set(effect.to, [...(outbox.get(effect.to) ?? []), effect.message])
        return
      case 'set-timer': {
        const { timer, afterMs } = effect
        // Silence for the time of a round trip is an answer, and takes as long as one (Ricart and Agrawala,
        // 6.1).
        const idleMs = timer === 'silence' ? 0 : afterMs
        timers.set(timer, { at: this.now + afterMs, waitedMs: waitedMs + idleMs })
        return
      }
      case 'cancel-timer':
        timers.delete(effect.timer)
        return
      case 'emit':
        this.told.push({ at: this.now, waitedMs, participant, event: effect.event, counted: this.counted })
    }
  }

  private seat(participant: ParticipantId): Seat {
    return this.seats[participant - 1]!
  }
}

/** An operation that changes one cell. */
export const OPERATION: Json = [{ increment: 'visits' }]
