/**
 * A lock of Baton between regions: the shipped protocols, with the timing that they are shipped with, on
 * virtual time. As in production (worker/participant/), everything that one event sends to one peer travels
 * together, nothing leaves before what the event saved is durable, and a `transact` issues its operation in
 * the event that lets it in.
 */
import type { AnyEnvelope, AnyProtocol, OpaqueMessage, OpaqueState } from '../../shared/protocols/all.ts'
import {
  type Context,
  DEFAULT_LIMITS,
  DEFAULT_TIMING,
  type Effect,
  type Emitted,
  type Input,
  type ParticipantId,
  type UserInput,
} from '../../shared/protocols/protocol.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import { OPERATION } from '../tables/nice-run.ts'
import { isRecorded } from '../tables/recorded.ts'
import { nearest, type Place } from './places.ts'
import type { Grant, Service } from './service.ts'
import { Disk, type World } from './world.ts'

/** A grant lasts longer than any run keeps somebody waiting. */
const TTL_MS = 600_000

interface Seat {
  readonly place: Place
  readonly context: Context
  readonly state: OpaqueState
  readonly disk: Disk
  /** The timers that are set; a timer that was moved or cancelled is another object, or none. */
  readonly timers: Map<string, object>
}

/** A client's call that is not answered yet. */
interface Call {
  readonly isTransact: boolean
  answer(event: Extract<Emitted, { type: 'crit' | 'outcome' | 'rem' }>): void
}

/** What one event of a participant sends, until its writes count. */
interface Happening {
  readonly participant: ParticipantId
  readonly outbox: Map<ParticipantId, AnyEnvelope[]>
  readonly answers: (() => void)[]
  writes: boolean
}

export class BatonLock implements Service {
  messages = 0
  private readonly world: World
  private readonly protocol: AnyProtocol
  private readonly seats: readonly Seat[]
  private readonly calls = new Map<string, Call>()
  private names = 0

  constructor(world: World, protocol: AnyProtocol, places: readonly Place[]) {
    this.world = world
    this.protocol = protocol
    this.seats = places.map((place, index) => {
      const context = contextOf(index + 1, places.length)
      const state = protocol.recover(context, [])
      return { place, context, state, disk: new Disk(world), timers: new Map() }
    })
    for (let id = 1; id <= places.length; id++)
      this.happen(id, [{ type: 'start', now: 0, genesis: true, incarnation: id }])
  }

  acquire(from: Place, answered: (grant: Grant) => void): void {
    this.call(from, false, (user, event, participant) => {
      if (event.type !== 'crit') return false
      const { fence } = event
      answered({ release: left => this.release(from, participant, { type: 'exit', user, fence }, left) })
      return true
    })
  }

  transact(from: Place, answered: () => void): void {
    this.call(from, true, (_, event) => {
      if (event.type === 'outcome') answered()
      return event.type === 'outcome'
    })
  }

  // ---------------------------------------------------------------- clients

  /** A Worker in this place asks the participant that is nearest to it. */
  private call(
    from: Place,
    isTransact: boolean,
    hear: (user: string, event: Emitted, participant: ParticipantId) => boolean,
  ): void {
    const places = this.seats.map(({ place }) => place)
    const to = nearest(from, places)
    const participant = places.indexOf(to) + 1
    const user = `u-${++this.names}`
    const answer: Call['answer'] = event =>
      this.world.travel(to, from, this.world.now, () => hear(user, event, participant))
    this.world.travel(from, to, this.world.now, () => {
      this.calls.set(user, { isTransact, answer })
      this.user(participant, { type: 'try', user, ttlMs: TTL_MS })
    })
  }

  private release(
    from: Place,
    participant: ParticipantId,
    exit: Extract<UserInput, { type: 'exit' }>,
    answered: () => void,
  ): void {
    const { place } = this.seat(participant)
    const answer = () => this.world.travel(place, from, this.world.now, answered)
    this.world.travel(from, place, this.world.now, () => {
      this.calls.set(exit.user, { isTransact: false, answer })
      this.user(participant, exit)
    })
  }

  private user(participant: ParticipantId, event: UserInput): void {
    this.happen(participant, [{ type: 'user', now: this.world.now, event }])
  }

  // ---------------------------------------------------------------- one event of a participant

  private happen(participant: ParticipantId, inputs: readonly Input<OpaqueMessage>[]): void {
    const happening: Happening = { participant, outbox: new Map(), answers: [], writes: false }
    for (const input of inputs) this.step(happening, input)
    const { place, disk } = this.seat(participant)
    const leavesAt = disk.leavesAt(happening.writes)
    for (const [to, messages] of happening.outbox) {
      this.messages += messages.length
      this.world.travel(place, this.seat(to).place, leavesAt, () => this.deliver(participant, to, messages))
    }
    if (happening.answers.length > 0)
      this.world.at(leavesAt, () => {
        for (const answer of happening.answers) answer()
      })
  }

  private deliver(from: ParticipantId, to: ParticipantId, messages: readonly AnyEnvelope[]): void {
    const { now } = this.world
    this.happen(
      to,
      messages.map(message => ({ type: 'message', now, from, message })),
    )
  }

  private step(happening: Happening, input: Input<OpaqueMessage>): void {
    const { context, state } = this.seat(happening.participant)
    const effects = this.protocol.step(context, state, input)
    const emitted = effects.flatMap(effect => (effect.type === 'emit' ? [effect.event] : []))
    if (isRecorded(input.type === 'user' ? input.event : null, emitted)) happening.writes = true
    for (const effect of effects) this.perform(happening, effect)
    for (const event of emitted) this.hear(happening, event)
  }

  private perform(happening: Happening, effect: Effect<OpaqueMessage>): void {
    const { timers } = this.seat(happening.participant)
    switch (effect.type) {
      case 'save':
        happening.writes = true
        return
      case 'send': {
        const { to, message } = effect
        happening.outbox.set(to, [...(happening.outbox.get(to) ?? []), message])
        return
      }
      case 'set-timer':
        return this.setTimer(happening.participant, effect.timer, effect.afterMs)
      case 'cancel-timer':
        timers.delete(effect.timer)
    }
  }

  private setTimer(participant: ParticipantId, timer: string, afterMs: number): void {
    const { timers } = this.seat(participant)
    const set = {}
    timers.set(timer, set)
    this.world.at(this.world.now + afterMs, () => {
      if (timers.get(timer) !== set) return
      timers.delete(timer)
      this.happen(participant, [{ type: 'timer', now: this.world.now, timer }])
    })
  }

  /** What a participant says to its users, and what a `transact` does about it within the same event. */
  private hear(happening: Happening, event: Emitted): void {
    if (event.type === 'ejected' || event.type === 'refused' || event.type === 'withdrawn')
      throw new Error(`${event.user} was ${event.type}, though nothing was lost`)
    if (event.type !== 'crit' && event.type !== 'outcome' && event.type !== 'rem') return
    const { user, fence } = event
    const call = this.calls.get(user)
    if (call === undefined) return
    const { now } = this.world
    if (event.type === 'crit' && call.isTransact) {
      const issue = { type: 'issue', user, fence, opId: `op-${user}`, operation: OPERATION } as const
      return this.step(happening, { type: 'user', now, event: issue })
    }
    this.calls.delete(user)
    happening.answers.push(() => call.answer(event))
    if (event.type === 'outcome')
      this.step(happening, { type: 'user', now, event: { type: 'exit', user, fence } })
  }

  private seat(participant: ParticipantId): Seat {
    return this.seats[participant - 1]!
  }
}

/** As a lock is configured that nobody configured (worker/environment.ts). */
function contextOf(self: ParticipantId, participants: number): Context {
  return {
    config: {
      self,
      participants,
      configuration: 1,
      localHandoffs: 1,
      timing: DEFAULT_TIMING,
      limits: DEFAULT_LIMITS,
    },
    resource: keyValue,
  }
}
