/**
 * How participants talk: one request carries everything that one turn sends to one peer, and its response
 * what the peer's turn answers, so an acknowledgement costs no request of its own. Nothing is retried here:
 * whoever sends repeats what matters. A request that fails tells its sender that the peer is unreachable.
 * Ledgers talk in the same way.
 */
import type { ParticipantPlace } from '../../../shared/api/configuration.ts'
import type { Turns } from '../core/turns.ts'
import type { Runtime } from '../runtime.ts'
import type { PeerAnswer, PeerRequest } from './requests.ts'

export const PEER_TIME_LIMIT_MS = 4_000

export interface ExchangeHost<Message> {
  readonly runtime: Runtime
  readonly turns: Turns
  /** The name under which the receiver is found. */
  readonly lockName: string
  placeOf(peer: number): ParticipantPlace
  request(messages: readonly Message[]): PeerRequest
  /** The messages of an answer, or `null` if it is none. */
  messagesOf(answer: PeerAnswer): readonly Message[] | null
  /** In a turn. */
  receive(from: number, message: Message): void
  /** In a turn. */
  unreachable(peer: number): void
}

export class Exchange<Message> {
  /** Requests to others since this instance began; for /metrics and the benchmark. */
  requests = 0
  private readonly host: ExchangeHost<Message>
  private outbox = new Map<number, Message[]>()

  constructor(host: ExchangeHost<Message>) {
    this.host = host
  }

  post(to: number, message: Message): void {
    const messages = this.outbox.get(to)
    if (messages === undefined) this.outbox.set(to, [message])
    else messages.push(message)
  }

  /** Messages of a peer have come: they are one turn, and what it sends back to this peer is returned. */
  receive(from: number, messages: readonly Message[]): readonly Message[] {
    const { turns } = this.host
    let reply: readonly Message[] = []
    turns.run(() => {
      for (const message of messages) this.host.receive(from, message)
      turns.afterwards(() => {
        reply = this.take(from)
      })
    })
    return reply
  }

  private take(peer: number): readonly Message[] {
    const messages = this.outbox.get(peer) ?? []
    this.outbox.delete(peer)
    return messages
  }

  /** At the end of each turn. */
  send(): void {
    const { outbox } = this
    this.outbox = new Map()
    for (const [peer, messages] of outbox) this.host.runtime.background(this.exchange(peer, messages))
  }

  private async exchange(peer: number, messages: readonly Message[]): Promise<void> {
    const { runtime, turns, lockName } = this.host
    this.requests++
    const asked = runtime.peers.ask(
      lockName,
      this.host.placeOf(peer),
      this.host.request(messages),
      PEER_TIME_LIMIT_MS,
    )
    const answer = await asked.catch(() => null)
    turns.run(() => {
      const answers = answer === null ? null : this.host.messagesOf(answer)
      if (answers === null) return this.host.unreachable(peer)
      for (const message of answers) this.host.receive(peer, message)
    })
  }
}
