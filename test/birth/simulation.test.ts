/**
 * Some seeds of the simulator in every run of the suite, with a check that the interesting things happen in
 * them.
 */
import { describe, expect, it } from 'vitest'
import { runSeed } from './run.ts'

const SEEDS = 300

describe('the birth of locks, simulated', () => {
  it(`${SEEDS} seeds without a violation`, () => {
    const counts: { [name: string]: number } = {}
    for (let seed = 1; seed <= SEEDS; seed++) {
      const result = runSeed(seed)
      expect(result.violation, `seed ${seed}`).toBeNull()
      for (const [name, count] of Object.entries(result.counts)) counts[name] = (counts[name] ?? 0) + count
    }
    for (const [name, count] of Object.entries(counts)) expect(count, name).toBeGreaterThan(0)
  })

  it('is the same from the same seed', () => {
    const lines = () => {
      const all: string[] = []
      runSeed(7, line => all.push(line))
      return all
    }
    expect(lines()).toEqual(lines())
  })
})
