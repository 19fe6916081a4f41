/** Ballots of different participants differ, whatever their numbers, and so do those of earlier versions. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  ballotAbove,
  firstBallot,
  LARGEST_NUMBER,
  proposerOf,
  roundOf,
} from '../../../shared/protocols/ballots.ts'
import { ProtocolDefect } from '../../../shared/protocols/step.ts'

/** Many pairs that have the same last digit, in any base that is a power of two. */
const aParticipant = fc.oneof(
  fc.integer({ min: 1, max: 13 }),
  fc.constantFrom(1, 255, 256, 257, 511, 512, 513, 1_024, 1_025, 65_536, 65_537, 2 ** 20, 2 ** 20 + 1),
  fc.integer({ min: 1, max: LARGEST_NUMBER }),
)
const aBallot = fc.oneof(
  fc.integer({ min: -1, max: 2 ** 12 }),
  fc.tuple(fc.integer({ min: -1, max: 2 ** 40 }), aParticipant).map(args => ballotAbove(...args)),
)

it('numbers up to 2^20 have room', () => {
  expect(LARGEST_NUMBER).toBeGreaterThanOrEqual(2 ** 20)
})

it('a ballot is above the one that it outbids, and says whose it is', () => {
  fc.assert(
    fc.property(aBallot, aParticipant, (highest, participant) => {
      const ballot = ballotAbove(highest, participant)
      expect(ballot).toBeGreaterThan(highest)
      expect(proposerOf(ballot)).toBe(participant)
    }),
    { numRuns: 2_000 },
  )
})

it('no two participants have the same ballot, whatever they outbid', () => {
  fc.assert(
    fc.property(aBallot, aBallot, aParticipant, aParticipant, (one, other, a, b) => {
      fc.pre(a !== b)
      expect(ballotAbove(one, a)).not.toBe(ballotAbove(other, b))
    }),
    { numRuns: 2_000 },
  )
})

it('257 does not have the ballots of 1', () => {
  const ofOne = new Set<number>()
  for (let ballot = firstBallot(1); ballot < 2 ** 24; ballot = ballotAbove(ballot, 1)) ofOne.add(ballot)
  let ballot = firstBallot(257)
  for (let bid = 0; bid < 1_000; bid++) {
    expect(ofOne.has(ballot)).toBe(false)
    ballot = ballotAbove(bid % 2 === 0 ? ballotAbove(ballot, 3) : ballot, 257)
  }
})

it('the later round is higher', () => {
  fc.assert(
    fc.property(aBallot, aBallot, (one, other) => {
      fc.pre(roundOf(one) < roundOf(other))
      expect(one).toBeLessThan(other)
    }),
  )
  expect(roundOf(firstBallot(7))).toBe(0)
  expect(roundOf(ballotAbove(firstBallot(7), 3))).toBe(1)
})

it.each([256, 1_024])('a ballot of an earlier version, in rounds of %i, means the same participant', base => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 30 }), fc.integer({ min: 1, max: 13 }), (round, number) => {
      const stored = round * base + number
      expect(proposerOf(stored)).toBe(number)
      expect(ballotAbove(stored, number)).toBeGreaterThan(stored)
    }),
  )
})

it('a small number has the ballots that it always had', () => {
  expect([firstBallot(1), firstBallot(13)]).toEqual([1, 13])
  expect(ballotAbove(13, 2)).toBe(256 + 2)
  expect(ballotAbove(7 * 256 + 13, 5)).toBe(8 * 256 + 5)
})

it('2^24 ballots of two large numbers that outbid each other are there', () => {
  const [a, b] = [LARGEST_NUMBER - 1, LARGEST_NUMBER]
  const afterOne = ballotAbove(ballotAbove(firstBallot(a), b), a)
  expect(afterOne - firstBallot(a)).toBeLessThanOrEqual(2 ** 29)
})

it('a number without room is a defect, and so is a ballot beyond the whole numbers', () => {
  for (const participant of [0, LARGEST_NUMBER + 1])
    expect(() => ballotAbove(0, participant)).toThrow(ProtocolDefect)
  expect(() => ballotAbove(Number.MAX_SAFE_INTEGER, 1)).toThrow(ProtocolDefect)
})
