/**
 * The only source of randomness in a simulation. A seed gives independent streams, one for each concern
 * (network, faults, clients, ...), so that taking one fault away changes as little as possible of the rest.
 */

/** sfc32: small, fast, and good enough that none of its patterns shows in a schedule. */
export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number, stream: number) {
    const mix = splitMix(seed, stream)
    this.#a = mix()
    this.#b = mix()
    this.#c = mix()
    for (let round = 0; round < 12; round++) this.next()
  }

  /** 32 random bits. */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    this.#c |= 0
    return sum >>> 0
  }

  /** In [0, 1). */
  fraction(): number {
    return this.next() / 4_294_967_296
  }

  /** An integer in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit)
  }

  /** An integer in [least, most]. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  chance(probability: number): boolean {
    return probability > 0 && this.fraction() < probability
  }

  /** Waiting times of events that happen once in `mean` on average. */
  exponential(mean: number): number {
    return -Math.log(1 - this.fraction()) * mean
  }

  /** Between `least` and `most`, each order of magnitude as likely as any other. */
  logUniform(least: number, most: number): number {
    return least * (most / least) ** this.fraction()
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    const shuffled = [...items]
    for (let last = shuffled.length - 1; last > 0; last--) {
      const other = this.below(last + 1)
      const item = shuffled[last]!
      shuffled[last] = shuffled[other]!
      shuffled[other] = item
    }
    return shuffled
  }
}

/** Neighbouring seeds and streams must not give neighbouring states. */
function splitMix(seed: number, stream: number): () => number {
  let state =
    (Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca77) ^ Math.floor(seed / 4_294_967_296)) | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) | 0
  }
}
