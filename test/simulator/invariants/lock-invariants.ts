/** What holds for every protocol that guards no state, told from what it says, sends, stores, and from its view. */
import {
  type DurableRecord,
  type Emitted,
  type Envelope,
  type Input,
  MESSAGE_FORMAT,
  type ParticipantId,
  type UserInput,
  type View,
} from '../../../shared/protocols/protocol.ts'
import type { Participant } from '../participant.ts'
import type { Checks } from '../subject.ts'
import { violate } from '../violation.ts'
import type { World } from '../world.ts'
import { Conversations, type Grant } from './conversations.ts'
import { Exclusion } from './exclusion.ts'
import { LockCounts } from './lock-counts.ts'
import { checkRecovered, longestPart, type StateInParts } from './state-parts.ts'

/** Looking through a whole state takes as long as many steps, so it is done after every so many. */
const LOOK_THROUGH_EVERY = 64
/** A table may have so many fields of different kinds; everything that grows is bounded by a limit or by the members. */
const FIELDS = 24

/** Timers of the users alone, which keep nothing moving. */
const USER_TIMERS: readonly string[] = ['ttl', 'wait']

export class LockInvariants<State extends StateInParts, Message> implements Checks<State, Message> {
  readonly #world: World<State, Message>
  readonly #exclusion: Exclusion
  readonly #conversations: Conversations
  readonly #counts: LockCounts
  #steps = 0

  constructor(world: World<State, Message>) {
    this.#world = world
    const { options, variant } = world.scenario
    const areDeadForgotten = variant.options?.declareDeadAfterMs !== undefined
    this.#exclusion = new Exclusion(id => !areDeadForgotten || world.participant(id).isUp)
    this.#counts = new LockCounts(world.counts)
    this.#conversations = new Conversations(options.participants, {
      entered: grant => {
        this.#exclusion.entered(grant)
        this.#counts.entered(grant, this.#exclusion.inside)
      },
      left: grant => {
        this.#exclusion.left(grant)
        this.#counts.left(grant)
      },
    })
  }

  said(participant: Participant<State, Message>, event: UserInput): void {
    this.#conversations.said(participant.id, event)
  }

  saved(_participant: Participant<State, Message>, _records: readonly DurableRecord[]): void {}

  sent(participant: Participant<State, Message>, to: ParticipantId, message: Envelope<Message>): void {
    const { id, context } = participant
    const { participants, configuration } = context.config
    if (to === id || !(to >= 1 && to <= participants)) violate('A11', `p${id} sends something to p${to}`)
    if (message.format !== MESSAGE_FORMAT || message.configuration !== configuration)
      violate(
        'A11',
        `p${id} sends a message of format ${message.format} and configuration ${message.configuration}`,
      )
  }

  emitted(participant: Participant<State, Message>, event: Emitted, _isLost: boolean): void {
    if (event.type === 'applied' || event.type === 'granted' || event.type === 'restored')
      violate('replica', `p${participant.id} says ${event.type}, but the lock guards no state`)
    this.#counts.told(event)
    this.#conversations.told(participant.id, event)
  }

  stepped(participant: Participant<State, Message>, _input: Input<Message>): void {
    this.#counts.stepped()
    const view = this.#followed(participant)
    this.#checkMoving(participant, view)
    if (++this.#steps % LOOK_THROUGH_EVERY === 0) this.#checkCaps(participant, view)
  }

  /** What a crashed step wanted to say counts as said; what is stored must agree. */
  crashed(participant: Participant<State, Message>): void {
    this.#counts.stepped()
    this.#followed(participant)
  }

  #followed(participant: Participant<State, Message>): View {
    const { protocol } = this.#world.subject
    checkRecovered(protocol, participant)
    const view = protocol.view(participant.context, participant.state)
    this.#checkHolders(participant.id, view)
    this.#checkWaiters(participant.id, view)
    this.#exclusion.check()
    return view
  }

  /** Who is inside here is who was told so. */
  #checkHolders(id: ParticipantId, { holders }: View): void {
    const told = this.#conversations.insideAt(id)
    const isSame =
      holders.length === told.size && holders.every(({ user, fence }) => told.get(user)?.fence === fence)
    if (isSame) return
    const names = (grants: Iterable<Pick<Grant, 'user' | 'fence'>>) =>
      [...grants].map(({ user, fence }) => `${user} (fence ${fence})`).join(', ')
    violate('I10', `p${id} has inside: ${names(holders)}; it was said to: ${names(told.values())}`)
  }

  /** Who waits here has tried, and was neither let in nor sent away. */
  #checkWaiters(id: ParticipantId, { waiters }: View): void {
    const waiting = this.#conversations.waitingAt(id)
    if (waiters.length === waiting.size && waiters.every(({ user }) => waiting.has(user))) return
    const names = waiters.map(({ user }) => user).join(', ')
    violate('I10', `p${id} has waiting: ${names}; no answer have: ${[...waiting].join(', ')}`)
  }

  /** I14: who waits and is not let in has something that goes on: a message that is lost is said again. */
  #checkMoving(participant: Participant<State, Message>, { waiters, holders, membership }: View): void {
    if (waiters.length === 0 || holders.length > 0 || membership !== 'member') return
    for (const slot of participant.timers.values()) if (slot.isSet && !USER_TIMERS.includes(slot.name)) return
    violate(
      'I14',
      `${waiters[0]!.user} waits at p${participant.id}, where nobody is inside, and no timer is set`,
    )
  }

  /** I19: every queue is under its cap. */
  #checkCaps({ id, state, storage, context }: Participant<State, Message>, view: View): void {
    const { limits, participants } = context.config
    const { waiters, holders, endings } = view
    if (waiters.length > limits.waiters) exceeded(id, 'waiters', waiters.length, limits.waiters)
    if (endings.length > limits.endingsKept) exceeded(id, 'endings', endings.length, limits.endingsKept)
    const most = Math.max(FIELDS, participants + 1, limits.waiters, holders.length)
    const { path, size } = longestPart(state)
    if (size > most) exceeded(id, path, size, most)
    const records = FIELDS + participants + waiters.length + holders.length
    if (storage.size > records) exceeded(id, 'storage', storage.size, records)
  }

  wiped({ id }: Participant<State, Message>): void {
    violate('claims', `p${id} has lost its storage, which no protocol without a replicated state survives`)
  }

  finished(): void {
    this.#exclusion.check()
  }
}

function exceeded(id: ParticipantId, what: string, size: number, most: number): never {
  violate('I19', `p${id}: ${what} ${size}, at most ${most}`)
}
