/**
 * Paxos alone: a few acceptors and proposers of one sealed epoch, whose messages a test delivers, loses,
 * doubles and reorders, and which crash and come back with only their `paxos` record. Every proposal has a
 * value of its own, so that two chosen values would be seen.
 */
import type { Json } from '../../../shared/json.ts'
import {
  type Context,
  DEFAULT_LIMITS,
  DEFAULT_TIMING,
  type Effect,
} from '../../../shared/protocols/protocol.ts'
import { distributedAcknowledgement } from '../../../shared/protocols/wme/figure-1-acknowledgement.ts'
import type { AcceptedValue, Decision, WmeMessage } from '../../../shared/protocols/wme/messages.ts'
import * as paxos from '../../../shared/protocols/wme/paxos.ts'
import { recover } from '../../../shared/protocols/wme/records.ts'
import type { PaxosRecord, WmeState } from '../../../shared/protocols/wme/state.ts'
import { beginStep, type Step, takeEffects } from '../../../shared/protocols/wme/step.ts'
import { keyValue } from '../../../shared/resource/key-value.ts'

interface Packet {
  readonly from: number
  readonly to: number
  readonly body: WmeMessage
}

interface Seat {
  readonly context: Context
  readonly storage: Map<string, Json>
  state: WmeState | null
}

export class PaxosTable {
  readonly participants: number
  network: Packet[] = []
  /** Values that a participant has concluded to be chosen, even if it crashed in that very step. */
  readonly decided: Decision[] = []
  /** By ballot: its value, and everybody that has ever accepted it. */
  private readonly accepted = new Map<number, { value: Decision; by: Set<number> }>()
  private readonly seats: Seat[] = []
  private proposals = 0

  constructor(participants: number) {
    this.participants = participants
    for (let self = 1; self <= participants; self++) {
      const config = {
        self,
        participants,
        configuration: 1,
        localHandoffs: 1,
        timing: DEFAULT_TIMING,
        limits: DEFAULT_LIMITS,
      }
      const context: Context = { config, resource: keyValue }
      this.seats.push({ context, storage: new Map(), state: recover(context, []) })
    }
  }

  /** What a majority has accepted in one ballot, ever: there must be at most one such value. */
  chosen(): Decision[] {
    const values = new Set<Decision>()
    for (const { value, by } of this.accepted.values()) {
      if (2 * by.size > this.participants) values.add(value)
    }
    return [...new Map([...values].map(value => [value.base, value])).values()]
  }

  propose(participant: number): void {
    this.step(participant, step => paxos.startBallot(step, () => this.compose(participant)))
  }

  /** Delivers the message at this place. With `again` it stays in flight: the network doubles it. */
  deliver(place: number, again: boolean): void {
    const packet = this.network[place % this.network.length]
    if (packet === undefined) return
    if (!again) this.network = this.network.filter(other => other !== packet)
    const { from, to, body } = packet
    this.step(to, step => {
      switch (body.type) {
        case 'prepare':
          return paxos.onPrepare(step, from, body)
        case 'promise':
          return paxos.onPromise(step, from, body, () => this.compose(to))
        case 'accept':
          return paxos.onAccept(step, from, body)
        case 'accepted':
          return paxos.onAccepted(step, from, body)
        case 'reject':
          return paxos.onReject(step, body)
        default:
          throw new Error(`${body.type} is no message of Paxos`)
      }
    })
  }

  lose(place: number): void {
    if (this.network.length > 0) this.network.splice(place % this.network.length, 1)
  }

  /** It comes back with what it wrote, and nothing else. */
  restart(participant: number): void {
    const seat = this.seats[participant - 1]!
    seat.state = recover(seat.context, seat.storage)
  }

  /** No two values are alike: `base` numbers the proposals. */
  private compose(owner: number): Decision {
    this.proposals++
    return { owner, base: this.proposals, digest: '', entries: [], incarnations: {} }
  }

  // biome-ignore lint/suspicious/noConfusingVoidType: an acceptor returns nothing.
  private step(participant: number, handle: (step: Step) => Decision | null | void): void {
    const seat = this.seats[participant - 1]!
    const step = beginStep(seat.context, distributedAcknowledgement, seat.state!, 0)
    const decision = handle(step)
    if (decision) this.decided.push(decision)
    for (const effect of takeEffects(step)) this.interpret(participant, seat, effect)
  }

  private interpret(participant: number, seat: Seat, effect: Effect<WmeMessage>): void {
    if (effect.type === 'send')
      this.network.push({ from: participant, to: effect.to, body: effect.message.body })
    if (effect.type !== 'save') return
    for (const { key, value } of effect.records) {
      if (value === null) seat.storage.delete(key)
      else seat.storage.set(key, value)
    }
    this.noteAccepted(participant, (seat.storage.get('paxos') as unknown as PaxosRecord).accepted)
  }

  private noteAccepted(participant: number, accepted: AcceptedValue | null): void {
    if (accepted === null) return
    const { ballot, value } = accepted
    const known = this.accepted.get(ballot)
    if (known === undefined) this.accepted.set(ballot, { value, by: new Set([participant]) })
    else if (known.value.base !== value.base) throw new Error(`ballot ${ballot} has two values`)
    else known.by.add(participant)
  }
}
