import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judge } from '../../shared/history/judge.ts'
import { historyLines, parseHistory } from '../../shared/history/parse.ts'
import { violated } from './builder.ts'
import { GENERATOR_DEFAULTS, randomHistory } from './generator.ts'
import { MUTATIONS, mutated } from './mutations.ts'
import { Random } from './random.ts'
import { tally } from './tally.ts'

const options = fc.record({
  seed: fc.integer({ min: 1, max: 0x7fffffff }),
  events: fc.integer({ min: 0, max: 400 }),
  participants: fc.integer({ min: 1, max: 7 }),
  users: fc.integer({ min: 1, max: 12 }),
  resultsKept: fc.integer({ min: 0, max: 20 }),
  hashProbability: fc.constantFrom(0, 0.2, 1),
})

test('valid histories are found valid, also after a way through a file', () => {
  fc.assert(
    fc.property(options, chosen => {
      const history = randomHistory(chosen)
      const parsed = parseHistory(historyLines(history))
      expect(parsed).toEqual({ ok: true, history })
      const judgement = judge(history, tally)
      expect(violated(judgement)).toEqual([])
      expect(judgement.verdict).toBe('valid')
    }),
    { numRuns: 300 },
  )
})

test('every prefix of a valid history is safe', () => {
  const history = randomHistory({ seed: 3, events: 150 })
  for (let length = 0; length <= history.events.length; length++) {
    const judgement = judge({ header: history.header, events: history.events.slice(0, length) }, tally)
    // A second token's operation may be told `not-applied`; nothing of that depends on what follows.
    expect(judgement.safety).toBe('valid')
  }
})

test('the generated histories hold what makes the judge work', () => {
  const { counts } = judge(randomHistory({ seed: 5, events: 20_000 }), tally)
  for (const [name, count] of Object.entries(counts)) expect(count, name).toBeGreaterThan(10)
})

describe('a broken history is caught', () => {
  const SEEDS = 60
  for (const mutation of MUTATIONS) {
    test(`${mutation.name}: ${mutation.breaks}`, () => {
      let applicable = 0
      for (let seed = 1; seed <= SEEDS; seed++) {
        const history = randomHistory({ ...GENERATOR_DEFAULTS, seed, resultsKept: 1_000 })
        const broken = mutated(history, mutation, new Random(seed))
        if (broken === null) continue
        applicable++
        expect(violated(judge(broken, tally)), `seed ${seed}`).toContain(mutation.breaks)
      }
      expect(applicable).toBeGreaterThan(SEEDS / 4)
    })
  }
})
