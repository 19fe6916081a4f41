/** The links between the participants: how long a message takes, and which of them are cut. */
import { Random } from '../../../test/simulator/random.ts'
import { DELAY_MAX_MS, DELAY_MIN_MS } from './setup.ts'
import type { Link } from './tape.ts'

/** A link keeps the order of its messages: one that would overtake comes this much later. */
const ORDER_MS = 0.5

export class Links {
  readonly #random: Random
  /** When the last message of a link arrives. */
  readonly #arrivals = new Map<string, number>()
  #cuts: readonly Link[] = []

  constructor(seed: number) {
    this.#random = new Random(seed, 1)
  }

  get cuts(): readonly Link[] {
    return this.#cuts
  }

  /** When a message that leaves now arrives; `null`: never. */
  arrival(from: number, to: number, now: number): number | null {
    // Drawn in any case, so that a cut changes as little as possible of the rest.
    const delay = DELAY_MIN_MS + (DELAY_MAX_MS - DELAY_MIN_MS) * this.#random.fraction()
    if (this.#cuts.some(([one, other]) => one === from && other === to)) return null
    const link = `${from}-${to}`
    const at = Math.max(now + delay, (this.#arrivals.get(link) ?? 0) + ORDER_MS)
    this.#arrivals.set(link, at)
    return at
  }

  /** In both directions. */
  cut(from: number, to: number): void {
    this.heal(from, to)
    this.#cuts = [...this.#cuts, [from, to], [to, from]]
  }

  heal(from: number, to: number): void {
    const isBetween = ([one, other]: Link) => (one === from && other === to) || (one === to && other === from)
    this.#cuts = this.#cuts.filter(link => !isBetween(link))
  }
}
