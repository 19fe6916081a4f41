/**
 * The interpreter of the page: it runs the participants of one lock in the browser, as
 * docs/writing-an-interpreter.md asks. Time is virtual, and everything follows from the seed and the actions.
 */
import type { UserStubEvent } from '../../../shared/history/events.ts'
import type { AnyEnvelope, AnyProtocol, OpaqueMessage } from '../../../shared/protocols/all.ts'
import type {
  Effect,
  Input,
  ParticipantId,
  UserInput,
  UserOutput,
} from '../../../shared/protocols/protocol.ts'
import { keyValue } from '../../../shared/resource/key-value.ts'
import { EventQueue } from '../../../test/simulator/event-queue.ts'
import { Random } from '../../../test/simulator/random.ts'
import { Recorder } from '../../../test/simulator/recorder.ts'
import type { Happening } from './happening.ts'
import { Links } from './links.ts'
import { Machine, type Timer } from './machine.ts'
import { sameOrNew } from './seat.ts'
import { guardsState, HORIZON_MS, LIMITS, MAX_MACHINES, type Setup } from './setup.ts'
import type { Glyph, Mark, Message, Moment, Seat } from './tape.ts'
import { type Plan, type Recorded, type Surroundings, User } from './user.ts'
import { changesInWords, inputInWords, outputInWords } from './words.ts'

const NAMES = 'ada bob cyd dan eve fay gus hal ida joe kim leo mia ned oda pia'.split(' ')
const SAY_MIN_MS = 0.4
const SAY_MAX_MS = 1.6

export class Host implements Surroundings {
  readonly setup: Setup
  readonly moments: Moment[] = []
  readonly messages: Message[] = []
  readonly recorder: Recorder
  readonly machines: Machine[] = []
  readonly users: User[] = []
  readonly links: Links
  readonly guardsState: boolean
  readonly ttlMs: number
  now = 0
  readonly #protocol: AnyProtocol
  readonly #queue = new EventQueue<Happening>()
  readonly #chance: Random
  #order = 0
  #marks: Mark[] = []
  #seats = new Map<number, Seat>()
  /** Participants that this moment is about. */
  #touched = new Set<Machine>()

  constructor(setup: Setup, protocol: AnyProtocol) {
    this.setup = setup
    this.#protocol = protocol
    this.guardsState = guardsState(setup.protocol)
    this.ttlMs = setup.ttlMs
    this.links = new Links(setup.seed)
    this.#chance = new Random(setup.seed, 2)
    const { protocol: name, participants } = setup
    const run = { options: { protocol: name }, machines: MAX_MACHINES, localHandoffs: 1, limits: LIMITS }
    this.recorder = new Recorder(run, keyValue)
    this.moment(0, 'The lock is born', null, () => {
      for (let id = 1; id <= participants; id++) this.start(this.addMachine(id), true)
    })
  }

  // ---------------------------------------------------------------- moments

  /** Lets the next thing happen. Returns false if nothing will, until somebody does something. */
  next(): boolean {
    while (this.nextAt !== null) {
      const event = this.#queue.pop()!
      this.now = Math.max(this.now, event.at)
      if (this.#happen(event)) return true
    }
    return false
  }

  /** When the next thing happens at the earliest; `null`: nothing will. */
  get nextAt(): number | null {
    for (let event = this.#queue.peek(); event !== undefined; event = this.#queue.peek()) {
      if (event.at > this.now + HORIZON_MS) return null
      if (event.kind !== 'timer' || this.#isSet(event.target, event.payload)) return event.at
      this.#queue.pop()
    }
    return null
  }

  #isSet(target: number, timer: Timer): boolean {
    return this.machine(target).timers.get(timer.name) === timer
  }

  moment(participant: number, text: string, received: number | null, action: () => void): void {
    action()
    const seats = [...this.#touched].map(machine => this.#look(machine)).filter(seat => seat !== null)
    const { length: recorded } = this.recorder.events
    const { length: sent } = this.messages
    const moment = { at: this.now, participant, text, received, marks: this.#marks, seats, recorded, sent }
    this.moments.push({ ...moment, cuts: this.links.cuts })
    this.#marks = []
    this.#touched.clear()
  }

  touch(machine: Machine): void {
    this.#touched.add(machine)
  }

  /** The participant's seat if it has changed, with what the change means in words. */
  #look(machine: Machine): Seat | null {
    const before = this.#seats.get(machine.id) ?? null
    const after = sameOrNew(before, machine.seat)
    if (before === after) return null
    this.#seats.set(machine.id, after)
    this.#marks.push(...changesInWords(before, after))
    return after
  }

  note(participant: number, glyph: Glyph, text: string): void {
    this.#marks.push({ participant, glyph, text })
  }

  /** Returns whether it was anything: a timer that is not set any more is not. */
  #happen(event: Happening): boolean {
    const machine = this.machine(event.target)
    if (machine.condition === 'paused') {
      machine.inbox.push(event)
      return false
    }
    switch (event.kind) {
      case 'message': {
        if (!machine.isUp) return false
        const { number, envelope: message } = event.payload
        const input = { type: 'message', now: this.#clock, from: event.source, message } as const
        this.messages[number]!.receivedIn = this.moments.length
        this.#stepMoment(machine, input, number)
        return true
      }
      case 'timer':
        if (!this.#isSet(machine.id, event.payload)) return false
        machine.timers.delete(event.payload.name)
        this.#stepMoment(machine, { type: 'timer', now: this.#clock, timer: event.payload.name }, null)
        return true
      case 'said':
        if (!machine.isUp) return false
        this.#stepMoment(machine, { type: 'user', now: this.#clock, event: event.payload }, null)
        return true
      case 'wake': {
        const { length } = this.recorder.events
        event.payload()
        const isNews = this.recorder.events.length > length
        if (isNews) this.moment(machine.id, this.#marks[0]?.text ?? 'A user goes', null, () => {})
        return isNews
      }
    }
  }

  #stepMoment(machine: Machine, input: Input<OpaqueMessage>, received: number | null): void {
    this.moment(machine.id, inputInWords(machine.id, input), received, () => this.step(machine, input))
  }

  get #clock(): number {
    return Math.floor(this.now)
  }

  #schedule<Kind extends Happening['kind']>(
    afterMs: number,
    kind: Kind,
    target: number,
    source: number,
    payload: Extract<Happening, { readonly kind: Kind }>['payload'],
  ): void {
    const event = { at: this.now + afterMs, order: this.#order++, kind, target, source, payload }
    this.#queue.push(event as Happening)
  }

  // ---------------------------------------------------------------- participants

  machine(id: ParticipantId): Machine {
    return this.machines[id - 1]!
  }

  addMachine(id: ParticipantId): Machine {
    for (let next = this.machines.length + 1; next <= id; next++)
      this.machines.push(new Machine(next, this.setup, this.#protocol))
    return this.machine(id)
  }

  start(machine: Machine, genesis: boolean): void {
    machine.recover()
    const incarnation = 1 + (Math.imul(machine.lives * 64 + machine.id, 0x9e3779b1) >>> 0)
    this.step(machine, { type: 'start', now: this.#clock, genesis, incarnation })
    for (const user of this.users) if (user.participant === machine.id) user.repeat()
  }

  /** What came meanwhile comes now, in order, before anything else. */
  resume(machine: Machine): void {
    machine.condition = 'up'
    this.touch(machine)
    for (const event of machine.inbox.splice(0))
      this.#queue.push({ ...event, at: this.now, order: this.#order++ } as Happening)
  }

  step(machine: Machine, input: Input<OpaqueMessage>): void {
    this.touch(machine)
    let effects: Effect<OpaqueMessage>[]
    try {
      effects = this.#protocol.step(machine.context, machine.state, input)
    } catch (error) {
      machine.crash()
      this.note(machine.id, 'crash', `Participant ${machine.id} stops: ${String(error)}`)
      return
    }
    for (const effect of effects) this.#perform(machine, effect)
    if (this.recorder.hasPending) this.recorder.flush(machine.id, machine.cells)
  }

  #perform(machine: Machine, effect: Effect<OpaqueMessage>): void {
    switch (effect.type) {
      case 'save':
        return machine.save(effect.records)
      case 'send':
        return this.#send(machine.id, effect.to, effect.message)
      case 'set-timer': {
        const timer: Timer = { name: effect.timer }
        machine.timers.set(timer.name, timer)
        return this.#schedule(effect.afterMs, 'timer', machine.id, 0, timer)
      }
      case 'cancel-timer':
        machine.timers.delete(effect.timer)
        return
      case 'emit': {
        const { event } = effect
        if (event.type === 'applied' || event.type === 'granted' || event.type === 'restored') {
          this.recorder.replica(this.now, machine.id, event)
          if (event.type === 'applied')
            this.note(machine.id, 'applied', `${machine.id} applies ${event.opId}`)
          if (event.type === 'restored') this.note(machine.id, 'restored', `${machine.id} takes a snapshot`)
        } else if (event.type !== 'members') this.#tell(machine, event)
      }
    }
  }

  // ---------------------------------------------------------------- the network

  #send(from: ParticipantId, to: ParticipantId, envelope: AnyEnvelope): void {
    const { type } = envelope.body
    const isThere = this.machine(to) !== undefined
    const arrivesAt = isThere ? this.links.arrival(from, to, this.now) : null
    const sentIn = this.moments.length
    const number =
      this.messages.push({ from, to, type, sentIn, receivedIn: null, sentAt: this.now, arrivesAt }) - 1
    if (arrivesAt !== null) this.#schedule(arrivesAt - this.now, 'message', to, from, { number, envelope })
  }

  // ---------------------------------------------------------------- users and operators

  #tell(machine: Machine, event: UserOutput): void {
    const name = 'user' in event ? event.user : ''
    const user = this.users.find(one => one.name === name && one.participant === machine.id)
    if (user !== undefined) return user.hear(event)
    const text = outputInWords(event)
    if (text !== null) this.note(machine.id, event.type === 'members-changed' ? 'members' : 'operator', text)
  }

  welcome(participant: ParticipantId, plan: Plan): void {
    const count = this.users.length
    const name = `${NAMES[count % NAMES.length]}${count < NAMES.length ? '' : Math.floor(count / NAMES.length)}`
    const user = new User(name, participant, plan, this)
    this.users.push(user)
    user.come()
  }

  ask(participant: ParticipantId, event: UserInput): void {
    this.#schedule(SAY_MIN_MS, 'said', participant, 0, event)
  }

  say(user: User, event: UserInput): void {
    const delay = SAY_MIN_MS + (SAY_MAX_MS - SAY_MIN_MS) * this.#chance.fraction()
    this.#schedule(delay, 'said', user.participant, 0, event)
  }

  after(user: User, leastMs: number, mostMs: number, action: () => void): void {
    const delay = leastMs + (mostMs - leastMs) * this.#chance.fraction()
    this.#schedule(delay, 'wake', user.participant, 0, action)
  }

  record(event: Recorded, user: User): void {
    const { name, participant } = user
    this.recorder.record({ at: this.now, user: name, participant, ...event } as UserStubEvent)
  }

  mark(user: User, glyph: Glyph, text: string): void {
    this.note(user.participant, glyph, `${text} (at ${user.participant})`)
  }
}
