/** The links between participants: delays, loss, duplication, reordering, and who is cut off from whom. */
import type { ParticipantId } from '../../shared/protocols/protocol.ts'
import type { Counts } from './counts.ts'
import type { Random } from './random.ts'
import type { NetworkScenario } from './scenario.ts'

/** One direction of one link. */
interface Link {
  loss: number
  duplication: number
  delayMinMs: number
  delayMaxMs: number
  /** How many faults cut this link at present. */
  cuts: number
  extraDelayMs: number
  /** When the last message arrives, for links that keep the order. */
  lastArrival: number
  /** The highest order of the messages that have arrived, to count reorderings. */
  highestArrived: number
}

export class Network {
  readonly #links: Link[]
  readonly #participants: number
  readonly #random: Random
  readonly #counts: Counts
  readonly #isFifo: boolean

  constructor(participants: number, scenario: NetworkScenario, random: Random, counts: Counts) {
    this.#participants = participants
    this.#random = random
    this.#counts = counts
    this.#isFifo = scenario.isFifo
    const { loss, duplication, delayMinMs, delayMaxMs } = scenario
    this.#links = Array.from({ length: (participants + 1) ** 2 }, () => ({
      loss,
      duplication,
      delayMinMs,
      delayMaxMs,
      cuts: 0,
      extraDelayMs: 0,
      lastArrival: 0,
      highestArrived: -1,
    }))
  }

  #link(from: ParticipantId, to: ParticipantId): Link {
    return this.#links[from * (this.#participants + 1) + to]!
  }

  /** When a message that leaves now arrives; `null` when it is lost. */
  arrival(from: ParticipantId, to: ParticipantId, now: number): number | null {
    const link = this.#link(from, to)
    if (link.cuts > 0) return null
    if (this.#random.chance(link.loss)) {
      this.#counts.losses++
      return null
    }
    return this.#arrivalOn(link, now)
  }

  /** When a second copy of the message arrives; `null` when there is none. */
  duplicateArrival(from: ParticipantId, to: ParticipantId, now: number): number | null {
    const link = this.#link(from, to)
    if (!this.#random.chance(link.duplication)) return null
    this.#counts.duplicates++
    return this.#arrivalOn(link, now)
  }

  #arrivalOn(link: Link, now: number): number {
    const spread = link.delayMaxMs - link.delayMinMs
    let at = now + link.delayMinMs + spread * this.#random.fraction() + link.extraDelayMs
    if (this.#isFifo && at < link.lastArrival) at = link.lastArrival
    link.lastArrival = at
    return at
  }

  /** `order` is that of the sending. */
  arrived(from: ParticipantId, to: ParticipantId, order: number): void {
    const link = this.#link(from, to)
    if (order < link.highestArrived) this.#counts.reorderings++
    else link.highestArrived = order
  }

  isCut(from: ParticipantId, to: ParticipantId): boolean {
    return this.#link(from, to).cuts > 0
  }

  /** No link is cut or slow. */
  get isWhole(): boolean {
    return this.#links.every(({ cuts, extraDelayMs }) => cuts === 0 && extraDelayMs === 0)
  }

  cut(from: ParticipantId, to: ParticipantId): void {
    this.#link(from, to).cuts++
  }

  mend(from: ParticipantId, to: ParticipantId): void {
    this.#link(from, to).cuts--
  }

  slowDown(participant: ParticipantId, extraMs: number): void {
    for (let peer = 1; peer <= this.#participants; peer++) {
      this.#link(participant, peer).extraDelayMs += extraMs
      this.#link(peer, participant).extraDelayMs += extraMs
    }
  }

  /** No fault is left on this link. */
  heal(from: ParticipantId, to: ParticipantId, delayMaxMs: number): void {
    const link = this.#link(from, to)
    link.loss = 0
    link.duplication = 0
    link.cuts = 0
    link.extraDelayMs = 0
    link.delayMinMs = Math.min(link.delayMinMs, delayMaxMs)
    link.delayMaxMs = delayMaxMs
  }

  makeLossy(from: ParticipantId, to: ParticipantId, loss: number): void {
    this.#link(from, to).loss = loss
  }
}
