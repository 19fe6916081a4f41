/**
 * How participants talk: one request carries everything that one turn sends to one peer, and its response
 * what the peer's turn answers, so an acknowledgement costs no request of its own. Nothing is retried here:
 * the protocol repeats what matters. A request that fails tells the protocol that the peer is unreachable.
 */
import type { ParticipantPlace } from '../../../shared/api/configuration.ts'
import type { Member } from '../core/member.ts'
import type { Turns } from '../core/turns.ts'
import type { Runtime } from '../runtime.ts'
import type { Message, PeerAnswer } from './requests.ts'

export const PEER_TIME_LIMIT_MS = 4_000

export interface ExchangeHost {
  readonly runtime: Runtime
  readonly turns: Turns
  readonly lockName: string
  readonly member: Member
  /** The peer takes no part in the lock and knows nothing of it. */
  onBlank(place: ParticipantPlace): Promise<void>
}

export class Exchange {
  /** Requests to other participants since this instance began; for /metrics and the benchmark. */
  requests = 0
  private readonly host: ExchangeHost
  private outbox = new Map<number, Message[]>()

  constructor(host: ExchangeHost) {
    this.host = host
  }

  post(to: number, message: Message): void {
    const messages = this.outbox.get(to)
    if (messages === undefined) this.outbox.set(to, [message])
    else messages.push(message)
  }

  /** Messages of a peer have come: they are one turn, and what it sends back to this peer is returned. */
  receive(from: number, messages: readonly Message[]): readonly Message[] {
    const { turns, member } = this.host
    let reply: readonly Message[] = []
    turns.run(() => {
      for (const message of messages) member.engine.message(from, message)
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
    const { runtime, turns, member, lockName } = this.host
    this.requests++
    const place = member.configuration.participants.find(({ id }) => id === peer)!
    const request = { type: 'messages', from: member.id, messages } as const
    const answer = await runtime.peers.ask(lockName, place, request, PEER_TIME_LIMIT_MS).catch(() => null)
    turns.run(() => this.onAnswer(peer, answer))
    if (answer?.type === 'status' && answer.status === 'blank') await this.host.onBlank(place)
  }

  private onAnswer(peer: number, answer: PeerAnswer | null): void {
    const { engine } = this.host.member
    if (answer === null) engine.unreachable(peer)
    else if (answer.type === 'messages') for (const message of answer.messages) engine.message(peer, message)
  }
}
