/** Some seeds of every size, with all faults: none breaks a rule, and together they have seen what there is to see. */
import { describe, expect, it } from 'vitest'
import { addCounts, zeroCounts } from './counts.ts'
import { EXPECTATIONS, missing, RUNS_THAT_COUNT } from './expectations.ts'
import { FAULTS } from './faults.ts'
import { OPTIONS } from './fixtures.ts'
import { runSeed } from './run.ts'

const SEEDS_BY_PARTICIPANTS: readonly (readonly [participants: number, seeds: number])[] = [
  [1, 5],
  [2, 10],
  [3, 30],
  [4, 10],
  [5, 10],
  [7, 3],
  [13, 1],
]

describe('no seed breaks a rule', () => {
  for (const protocol of ['wme-1', 'wme-2'] as const) {
    const counts = zeroCounts()
    for (const [participants, seeds] of SEEDS_BY_PARTICIPANTS) {
      it(`${protocol} with ${participants} participants`, () => {
        for (let seed = 1; seed <= seeds; seed++) {
          const result = runSeed({ ...OPTIONS, protocol, participants }, seed)
          expect(result.violation, `seed ${seed}`).toBeNull()
          expect(result.steps).toBeGreaterThan(0)
          addCounts(counts, result.counts)
        }
      })
    }

    it(`${protocol}: everything happened`, () => {
      expect(missing(counts, RUNS_THAT_COUNT, 13, FAULTS)).toEqual([])
    })
  }

  it('without faults nobody is ejected and nothing is lost', () => {
    for (const protocol of ['wme-1', 'wme-2'] as const) {
      for (let seed = 1; seed <= 5; seed++) {
        const { violation, counts } = runSeed({ ...OPTIONS, protocol, faults: [] }, seed)
        expect(violation).toBeNull()
        expect(counts.ejections + counts.losses + counts.crashes + counts.epochs).toBe(0)
        expect(counts.grants).toBeGreaterThan(0)
      }
    }
  })
})

describe('what must have happened', () => {
  it('is asked for only with enough runs, enough participants and the fault on', () => {
    const counts = zeroCounts()
    expect(missing(counts, RUNS_THAT_COUNT - 1, 5, FAULTS)).toEqual([])
    expect(missing(counts, RUNS_THAT_COUNT, 5, FAULTS)).toEqual(EXPECTATIONS.map(({ count }) => count))
    expect(missing(counts, RUNS_THAT_COUNT, 2, FAULTS)).not.toContain('epochs')
    expect(missing(counts, RUNS_THAT_COUNT, 5, ['loss'])).not.toContain('duplicates')
    expect(missing(counts, RUNS_THAT_COUNT, 5, ['loss'])).toContain('losses')
    expect(missing({ ...counts, losses: 1 }, RUNS_THAT_COUNT, 5, ['loss'])).not.toContain('losses')
  })
})
