/**
 * Worlds as fingerprints of 63 bits: the sum of random numbers, one for each number of the world. Two
 * different worlds have the same one with a probability of about 2⁻⁶³. So among n worlds some world is taken
 * for another, and not looked at, with a probability of at most n²/2⁶⁴: for a hundred million worlds 0.0005.
 */
import type { Worlds } from './worlds.ts'

export class Fingerprinter {
  high = 0
  /** Its lowest bit is 0: the set of visited worlds keeps a mark there. */
  low = 0
  private readonly participants: number
  private readonly seats = new Randoms(1)
  private readonly inboxes = new Randoms(2)
  private readonly budgets = new Randoms(3)

  constructor(worlds: Worlds) {
    this.participants = worlds.participants
  }

  /** Computes the fingerprint of the world that begins at this place; the result is in `high` and `low`. */
  compute(numbers: Int32Array, at: number): void {
    const { participants, seats, inboxes, budgets } = this
    let high = 0
    let low = 0
    for (let index = 0; index < participants; index++) {
      const seat = seats.place(numbers[at + index]!)
      const inbox = inboxes.place(numbers[at + participants + index]!)
      high += seats.words[seat]! + inboxes.words[inbox]!
      low += seats.words[seat + 1]! + inboxes.words[inbox + 1]!
    }
    const budget = budgets.place(numbers[at + 2 * participants]!)
    this.high = (high + budgets.words[budget]!) | 0
    this.low = (low + budgets.words[budget + 1]!) & ~1
    // Both 0 marks an empty place in the set.
    if (this.high === 0 && this.low === 0) this.high = 1
  }
}

/** Two random words for each number, the same in every run. */
class Randoms {
  words = new Int32Array(2048)
  private filled = 0
  private a = 0x9e3779b9
  private b = 0x243f6a88
  private c: number
  private counter = 1

  constructor(seed: number) {
    this.c = seed
    for (let round = 0; round < 16; round++) this.next()
  }

  place(number: number): number {
    if (number >= this.filled) this.fill(number)
    return 2 * number
  }

  private fill(number: number): void {
    if (2 * number + 2 > this.words.length) {
      const larger = new Int32Array(Math.max(2 * this.words.length, 2 * number + 2))
      larger.set(this.words)
      this.words = larger
    }
    for (; this.filled <= number; this.filled++) {
      this.words[2 * this.filled] = this.next()
      this.words[2 * this.filled + 1] = this.next()
    }
  }

  /** sfc32, a generator with 128 bits of state. */
  private next(): number {
    const word = (((this.a + this.b) | 0) + this.counter) | 0
    this.counter = (this.counter + 1) | 0
    this.a = this.b ^ (this.b >>> 9)
    this.b = (this.c + (this.c << 3)) | 0
    this.c = (((this.c << 21) | (this.c >>> 11)) + word) | 0
    return word
  }
}
