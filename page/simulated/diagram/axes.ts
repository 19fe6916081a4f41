/**
 * Where moments and participants are in the diagram. Time goes to the right. A pause in which nothing happens
 * is drawn shorter than it was, and moments that follow each other at once are drawn apart.
 */
import { participantsOf, type Tape } from '../engine/tape.ts'

export const ROW_HEIGHT = 62
export const TOP = 34
export const LABELS_WIDTH = 36

const PIXELS_PER_MS = 3
const GAP_MIN = 8
const GAP_MAX = 60
/** So much more than is drawn must have passed for a sign of it. */
const MUCH_MORE = 3

export class Axes {
  /** By moment. */
  readonly #places: number[] = []
  readonly #rows: readonly number[]

  constructor(tape: Tape) {
    this.#rows = participantsOf(tape)
    let place = 18
    let before = 0
    for (const { at } of tape.moments) {
      if (this.#places.length > 0)
        place += Math.min(GAP_MAX, Math.max(GAP_MIN, (at - before) * PIXELS_PER_MS))
      this.#places.push(place)
      before = at
    }
  }

  get participants(): readonly number[] {
    return this.#rows
  }

  get height(): number {
    return TOP + this.#rows.length * ROW_HEIGHT
  }

  x(moment: number): number {
    return this.#places[Math.max(0, Math.min(moment, this.#places.length - 1))] ?? 0
  }

  y(participant: number): number {
    return TOP + (this.#rows.indexOf(participant) + 0.5) * ROW_HEIGHT
  }

  /** Whether time was cut short before this moment. */
  isShortened(tape: Tape, moment: number): boolean {
    const gap = moment === 0 ? 0 : tape.moments[moment]!.at - tape.moments[moment - 1]!.at
    return gap * PIXELS_PER_MS > GAP_MAX * MUCH_MORE
  }
}
