/**
 * How participants talk: one request carries everything that one turn sends to one peer, and its response
 * what the peer's turn answers, so an acknowledgement costs no request of its own. What is too heavy for one
 * request goes in several. Nothing is retried here: the sender repeats what matters. A request that fails
 * tells its sender that the peer is unreachable. If a peer leaves too much unanswered, nothing more is sent
 * to it for now, as if the network had lost it. Ledgers talk in the same way.
 */
import type { ParticipantPlace } from '../../../shared/api/configuration.ts'
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { Json } from '../../../shared/json.ts'
import type { Turns } from '../core/turns.ts'
import { weigh } from '../core/weigh.ts'
import type { Runtime } from '../runtime.ts'
import type { PeerAnswer, PeerRequest } from './requests.ts'

export const PEER_TIME_LIMIT_MS = 4_000

/**
 * The limit for the messages in one request or answer: the heaviest message and some more. A unit is at most
 * six bytes.
 */
export const PEER_MESSAGES_WEIGHT = 320 * 1024
/** As many as a participant has at once; those that its lock had before are forgotten. */
const MOST_PEERS = API_LIMITS.participants.most - 1
/**
 * The limit for the messages that wait for peers to answer. Each peer has its share, which is at least one
 * request.
 */
export const PEER_UNANSWERED_WEIGHT = MOST_PEERS * PEER_MESSAGES_WEIGHT

export interface ExchangeHost<Message> {
  readonly runtime: Runtime
  readonly turns: Turns
  /** The name under which the receiver is found. */
  readonly lockName: string
  /** `null` if it is not known where it is: then it cannot be reached. */
  placeOf(peer: number, at?: string): ParticipantPlace | null
  request(messages: readonly Message[]): PeerRequest
  /** The messages of an answer, or `null` if it is none. */
  messagesOf(answer: PeerAnswer): readonly Message[] | null
  /** Called in a turn. `at`: where the sender is, if it came after the birth of its lock. */
  receive(from: number, message: Message, at?: string): void
  /** Called in a turn. */
  unreachable(peer: number): void
}

/** Whoever has this number, or the one that has it there. */
interface Receiver {
  readonly peer: number
  readonly at: string | undefined
}

const nameOf = (peer: number, at?: string): string => (at === undefined ? `${peer}` : `${peer} ${at}`)

/** The messages of one request. */
interface Parcel<Message> {
  readonly messages: Message[]
  weight: number
}

export class Exchange<Message> {
  /** Requests to others since this instance began; for /metrics and the benchmark. */
  requests = 0
  private readonly host: ExchangeHost<Message>
  private outbox = new Map<string, { readonly to: Receiver; messages: Message[] }>()
  /** The weight of everything that each peer has not answered yet. */
  private readonly unanswered = new Map<string, number>()

  constructor(host: ExchangeHost<Message>) {
    this.host = host
  }

  post(peer: number, message: Message, at?: string): void {
    const name = nameOf(peer, at)
    const waiting = this.outbox.get(name)
    if (waiting === undefined) this.outbox.set(name, { to: { peer, at }, messages: [message] })
    else waiting.messages.push(message)
    if (!this.unanswered.has(name)) this.unanswered.set(name, 0)
  }

  /** Messages of a peer have come: they are one turn, and what it sends back to this peer is returned. */
  receive(from: number, messages: readonly Message[], at?: string): readonly Message[] {
    const { turns } = this.host
    let reply: readonly Message[] = []
    turns.run(() => {
      for (const message of messages) this.host.receive(from, message, at)
      turns.afterwards(() => {
        reply = this.take(from)
      })
    })
    return reply
  }

  /** What fits one answer; the rest gets a request of its own. */
  private take(peer: number): readonly Message[] {
    const waiting = this.outbox.get(nameOf(peer))
    const [first, ...rest] = inRequests(waiting?.messages ?? [])
    if (rest.length === 0) this.outbox.delete(nameOf(peer))
    else waiting!.messages = rest.flatMap(({ messages }) => messages)
    return first?.messages ?? []
  }

  /** Called at the end of each turn. */
  send(): void {
    const { outbox } = this
    this.outbox = new Map()
    if (outbox.size === 0) return
    this.forgetOthers(outbox)
    const share = PEER_UNANSWERED_WEIGHT / this.unanswered.size
    for (const [name, { to, messages }] of outbox) {
      for (const parcel of inRequests(messages)) {
        const own = this.unanswered.get(name) ?? 0
        if (own > 0 && own + parcel.weight > share) continue
        this.unanswered.set(name, own + parcel.weight)
        this.host.runtime.background(this.exchange(to, parcel))
      }
    }
  }

  /** Peers that nothing is said to, and that have answered everything, have no share while there are many. */
  private forgetOthers(outbox: ReadonlyMap<string, unknown>): void {
    for (const [name, weight] of this.unanswered) {
      if (this.unanswered.size <= MOST_PEERS) return
      if (weight === 0 && !outbox.has(name)) this.unanswered.delete(name)
    }
  }

  private async exchange({ peer, at }: Receiver, { messages, weight }: Parcel<Message>): Promise<void> {
    const { runtime, turns, lockName } = this.host
    const name = nameOf(peer, at)
    const place = this.host.placeOf(peer, at)
    if (place !== null) this.requests++
    const asked =
      place === null
        ? Promise.resolve(null)
        : runtime.peers.ask(lockName, place, this.host.request(messages), PEER_TIME_LIMIT_MS)
    const answer = await asked.catch(() => null)
    this.unanswered.set(name, this.unanswered.get(name)! - weight)
    turns.run(() => {
      const answers = answer === null ? null : this.host.messagesOf(answer)
      // Whoever has its number now may well be there.
      if (answers === null) return at === undefined ? this.host.unreachable(peer) : undefined
      for (const message of answers) this.host.receive(peer, message, place?.address)
    })
  }
}

/** The messages in order, as many in one request as it may hold. */
export function inRequests<Message>(messages: readonly Message[]): Parcel<Message>[] {
  const parcels: Parcel<Message>[] = []
  for (const message of messages) {
    const heavy = weigh(message as unknown as Json)
    const last = parcels.at(-1)
    if (last === undefined || last.weight + heavy > PEER_MESSAGES_WEIGHT)
      parcels.push({ messages: [message], weight: heavy })
    else {
      last.messages.push(message)
      last.weight += heavy
    }
  }
  return parcels
}
