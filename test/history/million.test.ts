import { expect, test } from 'vitest'
import { judge } from '../../shared/history/judge.ts'
import { historyLines, parseHistory } from '../../shared/history/parse.ts'
import { randomHistory } from './generator.ts'
import { tally } from './tally.ts'

const MILLION = 1_000_000
/** Much more than it takes, for busy machines. */
const TIMEOUT_MS = 600_000

/**
 * Prints how long it takes, in wall-clock and processor time. A machine may be busy, so neither is asserted.
 */
function timed<Result>(what: string, run: () => Result): Result {
  const start = performance.now()
  const processorBefore = process.cpuUsage()
  const result = run()
  const processor = process.cpuUsage(processorBefore)
  const seconds = ((performance.now() - start) / 1e3).toFixed(2)
  const processorSeconds = ((processor.user + processor.system) / 1e6).toFixed(2)
  console.log(`${what}: ${seconds} s (${processorSeconds} s of the processor)`)
  return result
}

test('a history of a million events is generated, read and judged', { timeout: TIMEOUT_MS }, () => {
  const options = {
    seed: 11,
    events: MILLION,
    participants: 5,
    users: 4,
    resultsKept: 100,
    hashProbability: 0.01,
    replicaFaults: 0.01,
  }
  const history = timed('generate a million events', () => randomHistory(options))
  const lines = timed('write them as lines', () => [...historyLines(history)])
  const parsed = timed('read them', () => parseHistory(lines))
  if (!parsed.ok) throw new Error(parsed.problem.message)
  const judgement = timed('judge them', () => judge(parsed.history, tally))
  console.log(judgement.counts)
  expect(judgement.counts.events).toBeGreaterThanOrEqual(MILLION)
  expect(judgement.verdict).toBe('valid')
})

test('a million violations are counted, and only the first are kept', { timeout: TIMEOUT_MS }, () => {
  const events = Array.from({ length: MILLION }, (_, index) => {
    return {
      at: index,
      type: 'invoke',
      participant: 1,
      sequence: 7,
      fence: index,
      opId: `${index}`,
      operation: index,
    } as const
  })
  const { header } = randomHistory({ events: 0 })
  const judgement = timed('judge a million violations', () => judge({ header, events }, tally))
  const oneCopy = judgement.properties.find(property => property.name === '1CS')!
  expect(oneCopy.violations).toBeGreaterThanOrEqual(MILLION - 1)
  expect(oneCopy.evidence).toHaveLength(10)
})
