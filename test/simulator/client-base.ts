/**
 * What every kind of user can do: speak to its stub, be woken, be recorded. A user belongs to one participant
 * and has a name of its own. What it does is in client.ts.
 */
import type { UserStubEvent } from '../../shared/history/events.ts'
import type { ParticipantId, UserInput } from '../../shared/protocols/protocol.ts'
import type { Client } from './client.ts'
import type { Counts } from './counts.ts'
import type { Random } from './random.ts'
import type { ClientScenario } from './scenario.ts'

/** What a user needs from the world. */
export interface ClientWorld {
  readonly now: number
  readonly hasFaults: boolean
  readonly counts: Counts
  readonly users: Map<string, Client>
  record(event: UserStubEvent): void
  /** How often this participant has lost something that it had saved and not written yet. */
  fallBacksOf(participant: ParticipantId): number
  toStub(seat: ClientBase, event: UserInput): void
  wake(client: number, delayMs: number, generation: number): void
}

export type ClientState =
  | 'away'
  | 'trying'
  | 'withdrawing'
  | 'inside'
  | 'issuing'
  | 'leaving'
  | 'gone'
  | 'stopped'

/** What the history says about an event; `at`, user and participant are added. */
type Recorded<Event = UserStubEvent> = Event extends unknown
  ? Omit<Event, 'at' | 'user' | 'participant'>
  : never

const RETRY_MIN_MS = 150
const RETRY_MAX_MS = 500

export class ClientBase {
  readonly index: number
  readonly participant: ParticipantId
  protected readonly world: ClientWorld
  protected readonly random: Random
  protected readonly plan: ClientScenario
  readonly #seat: string
  name = ''
  state: ClientState = 'away'
  /** When it entered its state: a user that never leaves one is starving. */
  since = 0
  /** When the last thing that it said, and that it was told, arrives: both keep their order. */
  lastSaid = 0
  lastHeard = 0
  /** What was said to it before this time is lost, because its sender is. */
  deafBefore = 0
  #names = 0
  #generation = 0

  constructor(
    index: number,
    participant: ParticipantId,
    seat: number,
    world: ClientWorld,
    random: Random,
    plan: ClientScenario,
  ) {
    this.index = index
    this.participant = participant
    this.#seat = `u${participant}.${seat}`
    this.world = world
    this.random = random
    this.plan = plan
  }

  /** A new user takes the seat. */
  protected takeNewName(): void {
    this.name = `${this.#seat}.${++this.#names}`
  }

  /** Enters a state and wakes up after a while, unless something happens before. */
  protected become(state: ClientState, wakeAfterMs: number): void {
    this.state = state
    this.since = this.world.now
    this.wakeAfter(wakeAfterMs)
  }

  protected wakeAfter(delayMs: number): void {
    this.#generation++
    if (delayMs !== Number.POSITIVE_INFINITY) this.world.wake(this.index, delayMs, this.#generation)
  }

  protected wakeToRetry(): void {
    this.wakeAfter(this.random.between(RETRY_MIN_MS, RETRY_MAX_MS))
  }

  /** Something else happened since this waking was planned. */
  protected isOutdated(generation: number): boolean {
    return generation !== this.#generation
  }

  protected say(event: UserInput): void {
    this.world.toStub(this, event)
  }

  protected recordEvent(event: Recorded): void {
    const { name: user, participant } = this
    this.world.record({ at: this.world.now, user, participant, ...event } as UserStubEvent)
  }
}
