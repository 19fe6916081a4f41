/**
 * Hash tables over typed arrays. A search holds a hundred million numbers, which as JavaScript objects would
 * neither fit the memory nor be found in time.
 */

const GROW_AT = 0.6

function mix(a: number, b: number): number {
  let h = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca77)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d)
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39)
  return h ^ (h >>> 15)
}

/**
 * A map from two numbers (not negative, below 2³¹) to one of the same kind. Open addressing, linear probing.
 */
export class PairTable {
  size = 0
  private mask: number
  /** Four words a slot, so that a slot lies in one cache line: a + 1 (0: empty), b, value, unused. */
  private slots: Int32Array

  constructor(bits = 10) {
    this.mask = 2 ** bits - 1
    this.slots = new Int32Array(4 * 2 ** bits)
  }

  get bytes(): number {
    return this.slots.byteLength
  }

  /** -1 when there is none. */
  get(a: number, b: number): number {
    const { slots, mask } = this
    for (let slot = mix(a, b) & mask; ; slot = (slot + 1) & mask) {
      const at = slot << 2
      const held = slots[at]!
      if (held === 0) return -1
      if (held === a + 1 && slots[at + 1] === b) return slots[at + 2]!
    }
  }

  /** The pair must not be in the table yet. */
  add(a: number, b: number, value: number): void {
    if (this.size > GROW_AT * this.mask) this.grow()
    this.place(a, b, value)
    this.size++
  }

  private place(a: number, b: number, value: number): void {
    const { slots, mask } = this
    let slot = mix(a, b) & mask
    while (slots[slot << 2] !== 0) slot = (slot + 1) & mask
    slots[slot << 2] = a + 1
    slots[(slot << 2) + 1] = b
    slots[(slot << 2) + 2] = value
  }

  private grow(): void {
    const before = this.slots
    this.mask = 2 * this.mask + 1
    this.slots = new Int32Array(2 * before.length)
    for (let at = 0; at < before.length; at += 4) {
      if (before[at] !== 0) this.place(before[at]! - 1, before[at + 1]!, before[at + 2]!)
    }
  }
}

/** A fingerprint that is new, known but not yet marked, or marked. */
export type Known = 0 | 1 | 2

/**
 * A set of fingerprints of 63 bits, each with a mark: the lowest bit of `low`, which must be 0 in the
 * arguments.
 */
export class FingerprintSet {
  size = 0
  private mask: number
  /** Two words a slot; both 0: empty. */
  private slots: Int32Array

  constructor(bits = 16) {
    this.mask = 2 ** bits - 1
    this.slots = new Int32Array(2 * 2 ** bits)
  }

  get bytes(): number {
    return this.slots.byteLength
  }

  /** 0: it was new, and is in the set now. 1: it is in the set. 2: it is, and is marked. */
  add(high: number, low: number): Known {
    if (this.size > GROW_AT * this.mask) this.grow()
    const at = this.find(high, low)
    if (this.slots[at] !== 0 || this.slots[at + 1] !== 0) return ((this.slots[at + 1]! & 1) + 1) as Known
    this.slots[at] = high
    this.slots[at + 1] = low
    this.size++
    return 0
  }

  has(high: number, low: number): boolean {
    const at = this.find(high, low)
    return this.slots[at] !== 0 || this.slots[at + 1] !== 0
  }

  /** Marks one that is in the set. */
  mark(high: number, low: number): void {
    const at = this.find(high, low) + 1
    this.slots[at] = this.slots[at]! | 1
  }

  /** Where it is, or where it would be. */
  private find(high: number, low: number): number {
    const { slots, mask } = this
    for (let slot = (high ^ (low >>> 7)) & mask; ; slot = (slot + 1) & mask) {
      const first = slots[2 * slot]!
      const second = slots[2 * slot + 1]!
      if ((first === high && (second & ~1) === low) || (first === 0 && second === 0)) return 2 * slot
    }
  }

  private grow(): void {
    const before = this.slots
    this.mask = 2 * this.mask + 1
    this.slots = new Int32Array(2 * before.length)
    for (let at = 0; at < before.length; at += 2) {
      if (before[at] === 0 && before[at + 1] === 0) continue
      const place = this.find(before[at]!, before[at + 1]! & ~1)
      this.slots[place] = before[at]!
      this.slots[place + 1] = before[at + 1]!
    }
  }
}

/**
 * Numbers by index, added one by one, in chunks, so that growing copies nothing and what was read can be
 * freed.
 */
export class ChunkedInts {
  length = 0
  private readonly chunks: (Int32Array | null)[] = []
  private readonly chunkSize: number
  private held = 0

  /** `chunkSize` is a multiple of how many numbers are read at once. */
  constructor(chunkSize: number) {
    this.chunkSize = chunkSize
  }

  get bytes(): number {
    return this.held * this.chunkSize * 4
  }

  push(value: number): void {
    const chunk = Math.floor(this.length / this.chunkSize)
    if (chunk === this.chunks.length) {
      this.chunks.push(new Int32Array(this.chunkSize))
      this.held++
    }
    this.chunks[chunk]![this.length % this.chunkSize] = value
    this.length++
  }

  get(index: number): number {
    return this.chunks[Math.floor(index / this.chunkSize)]![index % this.chunkSize]!
  }

  /** Copies `into.length` numbers that lie in one chunk. */
  read(index: number, into: Int32Array): void {
    const chunk = this.chunks[Math.floor(index / this.chunkSize)]!
    const at = index % this.chunkSize
    for (let i = 0; i < into.length; i++) into[i] = chunk[at + i]!
  }

  /** Frees the whole chunks below `index`. */
  forgetBelow(index: number): void {
    const chunk = Math.floor(index / this.chunkSize) - 1
    if (chunk < 0 || this.chunks[chunk] === null) return
    this.chunks[chunk] = null
    this.held--
  }
}
