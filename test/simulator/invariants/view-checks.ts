/**
 * What holds for every protocol, told from what it sends and stores and from its view, without looking into
 * its state.
 */
import { type AnyMessage, formatOf } from '../../../shared/protocols/message-format.ts'
import type { Envelope, ParticipantId, Protocol, View } from '../../../shared/protocols/protocol.ts'
import type { Participant } from '../participant.ts'
import { violate } from '../violation.ts'
import type { Conversations, Grant } from './conversations.ts'
import { checkRecovered, longestPart, type StateInParts } from './state-parts.ts'

/**
 * A table may have this many fields of different kinds; everything that grows is bounded by a limit or by the
 * members.
 */
const FIELDS = 24

/** Timers that serve only the users and keep nothing moving. */
const USER_TIMERS: readonly string[] = ['ttl', 'wait']

export class ViewChecks<State extends StateInParts, Message> {
  readonly #protocol: Protocol<State, Message>
  readonly #conversations: Conversations
  readonly #recoverEvery: number
  readonly #machines: number
  #steps = 0

  /**
   * Recovering a state from storage takes longer the more there is, so it is done only every `recoverEvery`
   * steps. `machines` is the highest number of a participant.
   */
  constructor(
    protocol: Protocol<State, Message>,
    conversations: Conversations,
    recoverEvery: number,
    machines: number,
  ) {
    this.#machines = machines
    this.#protocol = protocol
    this.#conversations = conversations
    this.#recoverEvery = recoverEvery
  }

  sent({ id, context }: Participant<State, Message>, to: ParticipantId, message: Envelope<Message>): void {
    const { configuration } = context.config
    if (to === id || !(to >= 1 && to <= this.#machines)) violate('A11', `p${id} sends something to p${to}`)
    const format = formatOf(message.body as AnyMessage)
    if (message.format === format && message.configuration === configuration) return
    violate('A11', `p${id} sends format ${message.format}, configuration ${message.configuration}`)
  }

  stepped(participant: Participant<State, Message>): View {
    const isLookedThrough = ++this.#steps % this.#recoverEvery === 0
    const view = this.#followed(participant, isLookedThrough)
    this.#checkMoving(participant, view)
    if (isLookedThrough) this.#checkCaps(participant, view)
    return view
  }

  /** What a crashed step wanted to say counts as said; what is stored must agree. */
  crashed(participant: Participant<State, Message>): View {
    return this.#followed(participant, true)
  }

  #followed(participant: Participant<State, Message>, isRecovered: boolean): View {
    if (isRecovered) checkRecovered(this.#protocol, participant)
    const view = this.#protocol.view(participant.context, participant.state)
    this.#checkHolders(participant.id, view)
    this.#checkWaiters(participant.id, view)
    return view
  }

  /** I10: the users inside are those that were told so. */
  #checkHolders(id: ParticipantId, { holders }: View): void {
    const told = this.#conversations.insideAt(id)
    const isSame =
      holders.length === told.size && holders.every(({ user, fence }) => told.get(user)?.fence === fence)
    if (isSame) return
    const names = (grants: Iterable<Pick<Grant, 'user' | 'fence'>>) =>
      [...grants].map(({ user, fence }) => `${user} (fence ${fence})`).join(', ')
    violate('I10', `p${id} has inside: ${names(holders)}; it was said to: ${names(told.values())}`)
  }

  /** I10: the users that wait here have tried, and were neither let in nor sent away. */
  #checkWaiters(id: ParticipantId, { waiters }: View): void {
    const waiting = this.#conversations.waitingAt(id)
    if (waiters.length === waiting.size && waiters.every(({ user }) => waiting.has(user))) return
    const names = waiters.map(({ user }) => user).join(', ')
    violate('I10', `p${id} has waiting: ${names}; no answer have: ${[...waiting].join(', ')}`)
  }

  /**
   * I14: while a user waits and is not let in, something must go on, so that a message that is lost is said
   * again.
   */
  #checkMoving(participant: Participant<State, Message>, { waiters, holders, membership }: View): void {
    if (waiters.length === 0 || holders.length > 0 || membership !== 'member') return
    for (const slot of participant.timers.values()) if (slot.isSet && !USER_TIMERS.includes(slot.name)) return
    violate(
      'I14',
      `${waiters[0]!.user} waits at p${participant.id}, where nobody is inside and no timer is set`,
    )
  }

  /**
   * I19: every queue is under its cap. What is not named below is bounded by the limits for logs and results.
   */
  #checkCaps({ id, state, storage, context }: Participant<State, Message>, view: View): void {
    const { limits } = context.config
    const { waiters, holders, endings } = view
    if (waiters.length > limits.waiters) exceeded(id, 'waiters', waiters.length, limits.waiters)
    if (endings.length > limits.endingsKept) exceeded(id, 'endings', endings.length, limits.endingsKept)
    const isLog = view.cells !== null
    const log = isLog ? 2 * limits.logKept + limits.uncommitted : 0
    const most = Math.max(
      FIELDS,
      this.#machines + 1,
      limits.waiters,
      holders.length,
      log,
      isLog ? limits.resultsKept : 0,
    )
    const { path, size } = longestPart(state, view.cells)
    if (size > most) exceeded(id, path, size, most)
    const guarded = isLog ? log + limits.resultsKept + Object.keys(view.cells!).length : 0
    const records = FIELDS + this.#machines + waiters.length + holders.length + guarded
    if (storage.size > records) exceeded(id, 'storage', storage.size, records)
  }
}

function exceeded(id: ParticipantId, what: string, size: number, most: number): never {
  violate('I19', `p${id}: ${what} ${size}, at most ${most}`)
}
