/** Quorum arithmetic against a version that tries every set of participants. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { majority, reachedByMajority } from '../../../shared/protocols/quorum.ts'

/** All sets of participants 1..N, as lists. */
function subsets(participants: number): number[][] {
  let all: number[][] = [[]]
  for (let id = 1; id <= participants; id++) all = [...all, ...all.map(set => [...set, id])]
  return all
}

/** The most that any set of more than half of the participants has reached together. */
function reachedByDumbMajority(reached: readonly number[]): number {
  const participants = reached.length - 1
  let best = 0
  for (const set of subsets(participants)) {
    if (set.length * 2 > participants) best = Math.max(best, Math.min(...set.map(id => reached[id]!)))
  }
  return best
}

describe('majority', () => {
  it.each([
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 3],
    [5, 3],
    [6, 4],
    [7, 4],
  ])('of %i is %i', (participants, expected) => {
    expect(majority(participants)).toBe(expected)
  })

  it('any two have a participant in common, and one less would not do', () => {
    for (let participants = 1; participants <= 7; participants++) {
      const size = majority(participants)
      const majorities = subsets(participants).filter(set => set.length === size)
      for (const one of majorities) {
        for (const other of majorities) expect(one.some(id => other.includes(id))).toBe(true)
      }
      expect(2 * (size - 1)).toBeLessThanOrEqual(participants)
    }
  })
})

describe('reachedByMajority', () => {
  it('is what the best majority has reached together', () => {
    const numbers = fc.array(fc.nat(12), { minLength: 1, maxLength: 7 })
    fc.assert(
      fc.property(numbers, reached => {
        const byParticipant = [99, ...reached]
        expect(reachedByMajority(byParticipant)).toBe(reachedByDumbMajority(byParticipant))
      }),
      { numRuns: 500 },
    )
  })

  it('never falls when a participant reaches more', () => {
    const numbers = fc.array(fc.nat(12), { minLength: 1, maxLength: 7 })
    fc.assert(
      fc.property(numbers, fc.nat(), fc.nat(5), (reached, who, more) => {
        const after = reached.with(who % reached.length, reached[who % reached.length]! + more)
        expect(reachedByMajority([0, ...after])).toBeGreaterThanOrEqual(reachedByMajority([0, ...reached]))
      }),
    )
  })
})
