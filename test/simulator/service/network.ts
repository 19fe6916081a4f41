/**
 * The network between sites. Requests and responses are lost, late, repeated and overtake each other; a link
 * can be cut in one direction or in both. A caller gets an answer, an error, or nothing at all.
 */
import type { Random } from '../random.ts'
import type { Counts } from './counts.ts'
import type { Loop } from './loop.ts'
import { calmed, type NetworkPlan } from './plan.ts'
import type { Site } from './site.ts'

/** What a request brings back. */
export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: Error }

export type Respond<Value> = (result: Result<Value>) => void

/** As the platform's own `fetch` says it. */
export class ConnectionLost extends Error {
  readonly retryable = true

  constructor() {
    super('Network connection lost.')
  }
}

const MAX_STRAGGLER_MS = 6_000
/** A process that is not there refuses at once. */
const REFUSAL_MS = 2

export class Network {
  readonly #loop: Loop
  readonly #random: Random
  readonly #counts: Counts
  #plan: NetworkPlan
  /** How often each directed link is cut at present. */
  readonly #cuts = new Map<string, number>()

  constructor(loop: Loop, random: Random, plan: NetworkPlan, counts: Counts) {
    this.#loop = loop
    this.#random = random
    this.#plan = plan
    this.#counts = counts
  }

  /** From now on nothing is lost, repeated or late, and no link is cut. */
  heal(): void {
    this.#plan = calmed(this.#plan)
    this.#cuts.clear()
  }

  /** From now on it is like this. */
  change(plan: NetworkPlan): void {
    this.#plan = plan
  }

  cut(from: Site, to: Site): void {
    const link = linkOf(from, to)
    this.#cuts.set(link, (this.#cuts.get(link) ?? 0) + 1)
  }

  mend(from: Site, to: Site): void {
    const link = linkOf(from, to)
    const left = (this.#cuts.get(link) ?? 0) - 1
    if (left > 0) this.#cuts.set(link, left)
    else this.#cuts.delete(link)
  }

  /**
   * One request. `serve` is called when it arrives (twice if it is repeated) with what carries the answer
   * back; `onResult` is called at most once, as an event of the site that asked. Only what may be done
   * twice is repeated on its way.
   */
  request<Value>(
    from: Site,
    to: Site,
    serve: (respond: Respond<Value>) => void,
    onResult: Respond<Value>,
    mayRepeat = false,
  ): void {
    if (!to.isUp) {
      this.#loop.after(REFUSAL_MS, () => from.receive(() => onResult(failed())))
      return
    }
    const answer = this.#answerOnce(from, to, onResult)
    this.#carry(from, to, this.#plan.requestLoss, 'requestsLost', () => serve(answer))
    if (!mayRepeat || !this.#random.chance(this.#plan.duplication)) return
    this.#counts.requestsRepeated++
    this.#carry(from, to, this.#plan.requestLoss, 'requestsLost', () => serve(() => {}))
  }

  #answerOnce<Value>(from: Site, to: Site, onResult: Respond<Value>): Respond<Value> {
    let isAnswered = false
    return result => {
      if (isAnswered) return
      isAnswered = true
      this.#carry(to, from, this.#plan.responseLoss, 'responsesLost', () => onResult(result))
    }
  }

  /** Something that goes one way, in no order. */
  #carry(
    from: Site,
    to: Site,
    loss: number,
    counted: 'requestsLost' | 'responsesLost',
    arrive: () => void,
  ): void {
    const isLost = from !== to && (this.#isCut(from, to) || this.#random.chance(loss))
    const delayMs = this.#delay(from, to)
    if (isLost) {
      this.#counts[counted]++
      return
    }
    this.#loop.after(delayMs, () => {
      if (this.#isCut(from, to)) this.#counts[counted]++
      else to.receive(arrive)
    })
  }

  /**
   * What goes over an open connection arrives in order, `notBefore` the one before it; or the connection
   * breaks.
   */
  carryInOrder(from: Site, to: Site, notBefore: number, arrive: () => void, onBreak: () => void): number {
    const at = Math.max(notBefore, this.#loop.now + this.#delay(from, to))
    this.#loop.at(at, () => {
      if (this.#isCut(from, to)) onBreak()
      else to.receive(arrive)
    })
    return at
  }

  #delay(from: Site, to: Site): number {
    const { delayMinMs, delayMaxMs, straggling } = this.#plan
    const usual = delayMinMs + this.#random.fraction() * (delayMaxMs - delayMinMs)
    const isStraggler = this.#random.chance(straggling)
    if (isStraggler) this.#counts.stragglers++
    const late = isStraggler ? this.#random.fraction() * MAX_STRAGGLER_MS : 0
    return usual + late + from.slowMs + to.slowMs
  }

  #isCut(from: Site, to: Site): boolean {
    return this.#cuts.has(linkOf(from, to))
  }
}

const linkOf = (from: Site, to: Site): string => `${from.index}>${to.index}`

const failed = (): { readonly ok: false; readonly error: Error } => ({
  ok: false,
  error: new ConnectionLost(),
})
