/**
 * The simulated world: virtual time, what will happen in it, the participants, the network between them and
 * the clients in front of them. interpreter.ts says what participants do, lifecycle.ts how they come and go.
 */
import type { HistoryEvent } from '../../shared/history/events.ts'
import type { Context, ParticipantId, UserInput, UserOutput } from '../../shared/protocols/protocol.ts'
import { majority } from '../../shared/protocols/quorum.ts'
import type { Resource } from '../../shared/resource/resource.ts'
import { questionOf } from './askers.ts'
import { Calm } from './calm.ts'
import type { Client } from './client.ts'
import type { ClientBase } from './client-base.ts'
import { type Counts, zeroCounts } from './counts.ts'
import { EventQueue } from './event-queue.ts'
import { Interpreter } from './interpreter.ts'
import { Lifecycle } from './lifecycle.ts'
import type { MemberChanges } from './members/member-changes.ts'
import { MemberSets } from './members/member-sets.ts'
import { Network } from './network.ts'
import { Participant } from './participant.ts'
import { Random } from './random.ts'
import { Recorder } from './recorder.ts'
import { type Scenario, STREAM } from './scenario.ts'
import type { SimEvent } from './sim-event.ts'
import type { Checks, Subject } from './subject.ts'
import type { Transcript } from './transcript.ts'

export class World<State, Message> {
  readonly scenario: Scenario
  readonly subject: Subject<State, Message>
  readonly resource: Resource
  readonly counts: Counts = zeroCounts()
  readonly queue = new EventQueue<SimEvent<Message>>()
  readonly network: Network
  readonly recorder: Recorder
  readonly transcript: Transcript
  /** Index by participant; index 0 is unused. */
  readonly participants: Participant<State, Message>[] = []
  readonly clients: Client[] = []
  /** The users that are alive, by name. */
  readonly users = new Map<string, Client>()
  readonly checks: Checks<State, Message>
  readonly interpreter: Interpreter<State, Message>
  readonly life: Lifecycle<State, Message>
  readonly calm: Calm<State, Message>
  /** `null` if the members stay. */
  readonly sets: MemberSets | null
  changes: MemberChanges<State, Message> | null = null
  /** For everything that is drawn at a step. */
  readonly random: Random
  now = 0
  /** The highest number of a machine so far. */
  size: number
  /** After healing, nothing goes wrong any more by itself. */
  hasFaults = true
  /** What operators and readers insist on knowing. */
  readonly unanswered = new Set<string>()
  #order = 0

  constructor(
    scenario: Scenario,
    subject: Subject<State, Message>,
    resource: Resource,
    transcript: Transcript,
  ) {
    this.scenario = scenario
    this.subject = subject
    this.resource = resource
    this.transcript = transcript
    this.random = new Random(scenario.seed, STREAM.steps)
    this.size = scenario.options.participants
    const { machines } = scenario
    const networkRandom = new Random(scenario.seed, STREAM.network)
    this.network = new Network(machines, scenario.network, networkRandom, this.counts)
    for (let id = 0; id <= machines; id++) this.participants.push(this.#createParticipant(id))
    this.recorder = new Recorder(scenario, resource)
    const { members, participants } = scenario.options
    if (members === true && subject.members === undefined)
      throw new Error(`the members of ${subject.protocol.name} stay`)
    this.sets = members === true ? new MemberSets(this.participants, participants, subject.members!) : null
    this.checks = subject.createChecks(this)
    this.interpreter = new Interpreter(this)
    this.life = new Lifecycle(this)
    this.calm = new Calm(this)
  }

  #createParticipant(id: ParticipantId): Participant<State, Message> {
    const { options, variant, localHandoffs, timing, limits, clocks } = this.scenario
    const { participants } = options
    const common = { self: id, participants, configuration: 1, localHandoffs, timing, limits }
    const config = variant.options === null ? common : { ...common, options: variant.options }
    const context: Context = { config, resource: this.resource }
    const { rate, offsetMs } = clocks[id]!
    return new Participant(context, this.subject.protocol.recover(context, []), rate, offsetMs)
  }

  participant(id: ParticipantId): Participant<State, Message> {
    return this.participants[id]!
  }

  mayCrash(id: ParticipantId): boolean {
    return this.scenario.variant.claims.mostNeverCrash !== true || id <= this.#minority
  }

  /**
   * If only a minority may crash, but more than one, they are never left alone with each other: the last one
   * stays.
   */
  mayLeave(id: ParticipantId): boolean {
    const { options, variant } = this.scenario
    return variant.claims.mostNeverCrash !== true || this.#minority < 2 || id < options.participants
  }

  get #minority(): number {
    const { participants } = this.scenario.options
    return participants - majority(participants)
  }

  // ---------------------------------------------------------------- time

  /** Lets everything happen that is due until then. */
  runUntil(end: number): void {
    for (let next = this.queue.peek(); next !== undefined && next.at <= end; next = this.queue.peek()) {
      this.queue.pop()
      this.now = next.at
      this.#happen(next)
    }
    this.now = end
  }

  /** Everything of one time happens in the order in which it was scheduled. */
  schedule<Kind extends SimEvent<Message>['kind']>(
    at: number,
    kind: Kind,
    target: number,
    source: number,
    payload: Extract<SimEvent<Message>, { readonly kind: Kind }>['payload'],
  ): void {
    this.queue.push({ at, order: this.#order++, kind, target, source, payload } as SimEvent<Message>)
  }

  /** Runs `action` after this many milliseconds. */
  after(delayMs: number, action: () => void): void {
    this.schedule(this.now + delayMs, 'action', 0, 0, action)
  }

  wake(client: number, delayMs: number, generation: number): void {
    this.schedule(this.now + delayMs, 'wake', client, 0, generation)
  }

  #happen(event: SimEvent<Message>): void {
    switch (event.kind) {
      case 'wake':
        return this.clients[event.target]!.onWake(event.payload)
      case 'to-user': {
        const client = this.clients[event.target]!
        if (event.order >= client.deafBefore) client.onOutput(event.payload)
        return
      }
      case 'action':
        return event.payload()
      default: {
        const participant = this.participants[event.target]!
        if (participant.isPaused) participant.inbox.push(event)
        else this.interpreter.arrive(participant, event)
      }
    }
  }

  // ---------------------------------------------------------------- clients

  record(event: HistoryEvent): void {
    this.transcript.history(event)
    this.recorder.record(event)
    if (event.type === 'crit') this.counts.grants++
    else if (event.type === 'outcome') this.counts.operations++
    else if (event.type === 'crash') this.calm.disturb()
  }

  fallBacksOf(participant: ParticipantId): number {
    return this.participant(participant).fallBacks
  }

  /** A client and its stub talk in order, but what they say can get lost. */
  toStub(seat: ClientBase, event: UserInput): void {
    const at = Math.max(this.now + 0.1 + this.random.fraction(), seat.lastSaid)
    seat.lastSaid = at
    if (this.hasFaults && this.random.chance(this.scenario.clients.loss)) return
    this.schedule(at, 'to-stub', seat.participant, seat.index, event)
  }

  /** Says something for an asker that is not a user. */
  tell(participant: ParticipantId, event: UserInput): void {
    this.schedule(this.now, 'to-stub', participant, 0, event)
  }

  toUser(participant: Participant<State, Message>, event: UserOutput): void {
    this.changes?.answered(event)
    // Whoever asks to come back, and is no member any more, has its answer.
    const isElsewhere = event.type === 'refused' && event.refusal.code === 'elsewhere'
    if (isElsewhere && event.event === 'membership') this.unanswered.delete(questionOf(event.user))
    if (!('user' in event)) {
      if (event.type === 'readable') this.counts.reads++
      this.unanswered.delete(questionOf(event.request))
      return
    }
    const client = this.users.get(event.user)
    if (client === undefined) return
    const at = Math.max(this.now + 0.1 + this.random.fraction(), client.lastHeard)
    client.lastHeard = at
    if (this.hasFaults && this.random.chance(this.scenario.clients.loss)) return
    this.schedule(at, 'to-user', client.index, participant.id, event)
  }

  /** What this participant has said and nobody has heard yet is never heard. */
  silence(participant: Participant<State, Message>): void {
    for (const client of this.clients) {
      if (client.participant === participant.id) client.deafBefore = this.#order
    }
  }
}
