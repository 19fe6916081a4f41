import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../shared/json.ts'
import { canonical, digest, hashText, MAX_DEPTH, weight } from '../../shared/resource/canonical.ts'

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>

/** The deliberately naive version: everything as `JSON.stringify` has it, and the keys sorted. */
function dumbCanonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(item => dumbCanonical(item)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${dumbCanonical(member)}`).join(',')}}`
}

/** The same value with the keys of every object written in the opposite order. */
function backwards(value: Json): Json {
  if (Array.isArray(value)) return value.map(item => backwards(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, backwards(member)]),
  )
}

function nested(depth: number): Json {
  let value: Json = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { inner: value }
  return value
}

describe('canonical', () => {
  it.each([
    [null, 'null'],
    [true, 'true'],
    [-0, '0'],
    [1e21, '1e+21'],
    [0.1, '0.1'],
    ['a"b\\c\n\u0001', '"a\\"b\\\\c\\n\\u0001"'],
    ['\ud800 and \u{1f600}', '"\\ud800 and \u{1f600}"'],
    [[], '[]'],
    [{}, '{}'],
    [{ b: [1, { d: null, c: 'x' }], a: '' }, '{"a":"","b":[1,{"c":"x","d":null}]}'],
    [{ 10: 'ten', 9: 'nine', B: 1, a: 2 }, '{"10":"ten","9":"nine","B":1,"a":2}'],
  ] as [Json, string][])('%j', (value, text) => {
    expect(canonical(value)).toBe(text)
  })

  it('is what the dumb version says, for any value', () => {
    fc.assert(fc.property(json, value => canonical(value) === dumbCanonical(value)))
  })

  it('is what the dumb version says, for strings of any characters and length', () => {
    const text = fc.string({ unit: 'binary', maxLength: 100 })
    fc.assert(fc.property(text, value => canonical({ [value]: value }) === dumbCanonical({ [value]: value })))
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff }), unit => {
        const value = `a${String.fromCharCode(unit)}`
        return canonical(value) === JSON.stringify(value)
      }),
    )
  })

  it('is what the dumb version says, for objects with many keys', () => {
    const many = fc.dictionary(fc.string(), fc.integer(), { minKeys: 10, maxKeys: 40 })
    fc.assert(fc.property(many, value => canonical(value) === dumbCanonical(value)))
  })

  it('has the same text before and after JSON, also with properties that are undefined', () => {
    const loose = { a: undefined, b: [undefined, Number.NaN, -0], c: 1 } as unknown as Json
    expect(canonical(loose)).toBe('{"b":[null,null,0],"c":1}')
    fc.assert(fc.property(json, value => canonical(JSON.parse(JSON.stringify(value))) === canonical(value)))
    fc.assert(fc.property(json, value => canonical(JSON.parse(canonical(value))) === canonical(value)))
  })
})

describe('digest', () => {
  it('does not depend on the order of keys', () => {
    fc.assert(fc.property(json, value => digest(backwards(value)) === digest(value)))
  })

  it('differs between values that differ', () => {
    fc.assert(
      fc.property(json, json, (left, right) => {
        return (digest(left) === digest(right)) === (dumbCanonical(left) === dumbCanonical(right))
      }),
    )
  })
})

describe('hashText', () => {
  it('never changes: digests are stored, and compared with those of later versions', () => {
    expect(hashText('')).toMatchInlineSnapshot(`"00000000000000000000000000000000"`)
    expect(hashText('a')).toMatchInlineSnapshot(`"0e8ff0974247a279105cc0d47440e91d"`)
    expect(hashText('The quick brown fox')).toMatchInlineSnapshot(`"881feb224b8dd551124005568427b262"`)
    expect(hashText('\u{1f600}\ud800')).toMatchInlineSnapshot(`"55022a9d2c641b2180c44cce35d2ebf0"`)
  })

  it('is 128 bits in hexadecimal', () => {
    fc.assert(fc.property(fc.string(), text => /^[0-9a-f]{32}$/.test(hashText(text))))
  })

  it('tells texts apart that differ only in zeros at their end', () => {
    const hashes = Array.from({ length: 40 }, (_, length) => hashText('\0'.repeat(length)))
    expect(new Set(hashes).size).toBe(40)
  })

  it('has no collisions among many texts that are nearly the same, in any half of it', () => {
    const texts = new Set<string>()
    for (let index = 0; index < 50_000; index++) texts.add(`{"increment":"key${index}"}`)
    for (let index = 0; index < 50_000; index++) texts.add(`${index % 224}:${'x'.repeat(index / 224)}`)
    const hashes = [...texts].map(hashText)
    expect(new Set(hashes.map(hash => hash.slice(0, 16))).size).toBe(texts.size)
    expect(new Set(hashes.map(hash => hash.slice(16))).size).toBe(texts.size)
  })

  it('changes about half of its bits with any one bit of the text', () => {
    let changes = 0
    let changedBits = 0
    for (let length = 1; length <= 20; length++) {
      const text = 'abcdefghijklmnopqrst'.slice(0, length)
      for (let at = 0; at < length; at++) {
        for (let bit = 0; bit < 16; bit++) {
          const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << bit))
          const distance = bitDistance(
            hashText(text),
            hashText(text.slice(0, at) + flipped + text.slice(at + 1)),
          )
          expect(distance).toBeGreaterThan(30)
          changes++
          changedBits += distance
        }
      }
    }
    expect(changedBits / changes).toBeGreaterThan(63)
    expect(changedBits / changes).toBeLessThan(65)
  })
})

function bitDistance(left: string, right: string): number {
  let difference = BigInt(`0x${left}`) ^ BigInt(`0x${right}`)
  let bits = 0
  for (; difference > 0n; difference >>= 1n) bits += Number(difference & 1n)
  return bits
}

describe('weight', () => {
  it('is at least a sixth of the bytes of the JSON text', () => {
    fc.assert(
      fc.property(json, value => Buffer.byteLength(JSON.stringify(value)) <= 6 * weight(value, 1_000_000)),
    )
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(text, value => Buffer.byteLength(JSON.stringify(value)) <= 6 * weight(value, 1_000)),
    )
    for (const longest of [-1.0150915623007502e-6, -1.2345678901234568e-300]) {
      expect(JSON.stringify(longest).length).toBeLessThanOrEqual(6 * weight(longest, 9))
    }
    fc.assert(
      fc.property(fc.double({ noNaN: true }), value => JSON.stringify(value).length <= 6 * weight(value, 9)),
    )
  })

  it('is above the limit exactly for what is heavier', () => {
    fc.assert(
      fc.property(json, fc.nat(100), (value, limit) => {
        return weight(value, limit) > limit === weight(value, 1_000_000) > limit
      }),
    )
  })

  it('is above every limit for what is nested too deeply, and survives any depth', () => {
    expect(weight(nested(MAX_DEPTH), 1_000)).toBeLessThan(1_000)
    expect(weight(nested(MAX_DEPTH + 1), 1_000_000)).toBe(Number.POSITIVE_INFINITY)
    expect(weight(nested(1_000_000), 1e9)).toBe(Number.POSITIVE_INFINITY)
  })
})
