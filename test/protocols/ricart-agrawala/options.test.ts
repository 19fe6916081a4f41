import { describe, expect, it } from 'vitest'
import type { ProtocolOptions } from '../../../shared/protocols/protocol.ts'
import { checkOptions } from '../../../shared/protocols/ricart-agrawala/ricart-agrawala.ts'

const implicitReply = { roundTripMs: 100, assumeNothingIsLostOrLate: true } as const

const GOOD: ProtocolOptions[] = [
  {},
  { implicitReply },
  { implicitReply, modulus: 5 },
  { ring: 'waiting', modulus: 7, names: [3, 1, 2] },
  { ring: 'marking', increment: { type: 'random', most: 10 }, declareDeadAfterMs: 1_000 },
  { increment: { type: 'priority', by: [1, 5, 1_024] }, names: [1_023, 1, 500] },
]

const BAD: [ProtocolOptions, RegExp][] = [
  [{ consensus: 'latency-optimal' }, /no consensus/],
  [{ implicitReply: { ...implicitReply, roundTripMs: 0 } }, /roundTripMs/],
  [{ implicitReply: { roundTripMs: 100 } as typeof implicitReply }, /assumeNothingIsLostOrLate/],
  [{ implicitReply, ring: 'waiting' }, /exclude each other/],
  [{ implicitReply, declareDeadAfterMs: 1_000 }, /silence cannot mean both/],
  [{ ring: 'round' as 'waiting' }, /waiting or marking/],
  [{ modulus: 4 }, /at least 2N-1 = 5/],
  [{ modulus: 5.5 }, /whole number/],
  [{ modulus: 5, increment: { type: 'random', most: 2 } }, /grow by one/],
  [{ modulus: 5, declareDeadAfterMs: 1_000 }, /stands still/],
  [{ increment: { type: 'random', most: 0 } }, /increment.most/],
  [{ increment: { type: 'priority', by: [1, 2] } }, /one number for each/],
  [{ increment: { type: 'priority', by: [1, 2, 0] } }, /each number of increment.by/],
  [{ increment: { type: 'other' } as unknown as { type: 'random'; most: 1 } }, /random or priority/],
  [{ names: [1, 2] }, /one number for each/],
  [{ names: [1, 2, 2] }, /differ/],
  [{ names: [1, 2, 1_024] }, /from 1 to 1023/],
  [{ declareDeadAfterMs: -1 }, /declareDeadAfterMs/],
]

describe('checkOptions', () => {
  it.each(GOOD)('allows %j', options => expect(checkOptions(options, 3)).toBeNull())
  it.each(BAD)('refuses %j', (options, problem) => expect(checkOptions(options, 3)).toMatch(problem))
  it('refuses more participants than a fence has room for', () => {
    expect(checkOptions({}, 1_023)).toBeNull()
    expect(checkOptions({}, 1_024)).toMatch(/fewer than 1024/)
  })
})
