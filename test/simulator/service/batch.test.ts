/** Some seeds of the whole service: none breaks a rule, and together they have seen what there is to see. */
import { describe, expect, it } from 'vitest'
import { addCounts, zeroCounts } from './counts.ts'
import { missing, RUNS_THAT_COUNT } from './expectations.ts'
import { runService } from './run.ts'

const BATCHES = 6
const SEEDS = 50

describe('no seed breaks a rule', () => {
  const counts = zeroCounts()

  for (let batch = 0; batch < BATCHES; batch++) {
    const first = batch * SEEDS + 1
    it(`from ${first} to ${first + SEEDS - 1}`, async () => {
      for (let seed = first; seed < first + SEEDS; seed++) {
        const result = await runService(seed)
        expect(result.violation, `seed ${seed}`).toBeNull()
        expect(result.steps).toBeGreaterThan(0)
        addCounts(counts, result.counts)
      }
    })
  }

  it('and everything has happened', () => {
    expect(missing(counts, RUNS_THAT_COUNT)).toEqual([])
  })
})

it('without faults nothing is lost, nobody is ejected, and every call that can succeed does', async () => {
  const counts = zeroCounts()
  for (let seed = 1; seed <= 30; seed++) {
    const result = await runService(seed, { faults: false })
    expect(result.violation, `seed ${seed}`).toBeNull()
    addCounts(counts, result.counts)
  }
  const { crashes, aborts, resets, writesLost, requestsLost, responsesLost, acknowledged } = counts
  expect({ crashes, aborts, resets, writesLost, requestsLost, responsesLost }).toEqual({
    ...{ crashes: 0, aborts: 0, resets: 0, writesLost: 0, requestsLost: 0, responsesLost: 0 },
  })
  expect(acknowledged).toBeGreaterThan(0)
})

it('what must have happened is asked for only with enough runs', () => {
  const counts = zeroCounts()
  expect(missing(counts, RUNS_THAT_COUNT - 1)).toEqual([])
  expect(missing(counts, RUNS_THAT_COUNT)).toContain('crashes')
  expect(missing({ ...counts, crashes: 1 }, RUNS_THAT_COUNT)).not.toContain('crashes')
})
