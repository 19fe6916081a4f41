import { describe, expect, it } from 'vitest'
import { ChunkedInts, FingerprintSet, PairTable } from './tables.ts'

/** A small generator, so that the tables are filled alike in every run. */
function* numbers(count: number, below: number): Generator<number> {
  let state = 12345
  for (let index = 0; index < count; index++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    yield (state >>> 8) % below
  }
}

describe('PairTable', () => {
  it('holds what a map holds, also after it has grown', () => {
    const table = new PairTable(2)
    const map = new Map<string, number>()
    const random = [...numbers(20_000, 300)]
    for (let at = 0; at + 1 < random.length; at += 2) {
      const [a, b] = [random[at]!, random[at + 1]!]
      expect(table.get(a, b)).toBe(map.get(`${a},${b}`) ?? -1)
      if (map.has(`${a},${b}`)) continue
      table.add(a, b, at)
      map.set(`${a},${b}`, at)
    }
    expect(table.size).toBe(map.size)
    for (const [key, value] of map) {
      const [a, b] = key.split(',').map(Number)
      expect(table.get(a!, b!)).toBe(value)
    }
  })
})

describe('FingerprintSet', () => {
  it('says what is new, known and marked, also after it has grown', () => {
    const set = new FingerprintSet(2)
    const known = new Map<string, boolean>()
    const random = [...numbers(20_000, 200)]
    for (let at = 0; at + 1 < random.length; at += 2) {
      const [high, low] = [random[at]! - 100, 2 * random[at + 1]! + 2]
      const key = `${high},${low}`
      const isMarked = known.get(key)
      expect(set.add(high, low)).toBe(isMarked === undefined ? 0 : isMarked ? 2 : 1)
      known.set(key, isMarked ?? false)
      if (at % 3 !== 0) continue
      set.mark(high, low)
      known.set(key, true)
    }
    expect(set.size).toBe(known.size)
  })
})

describe('ChunkedInts', () => {
  it('gives back what was pushed, and lets go of what was read', () => {
    const list = new ChunkedInts(6)
    for (let value = 0; value < 60; value++) list.push(value)
    expect(list.length).toBe(60)
    const held = list.bytes
    const row = new Int32Array(3)
    for (let at = 0; at < 60; at += 3) {
      list.read(at, row)
      list.forgetBelow(at)
      expect([...row]).toEqual([at, at + 1, at + 2])
    }
    expect(list.bytes).toBeLessThan(held)
    expect(list.get(59)).toBe(59)
  })
})
