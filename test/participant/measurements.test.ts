/** What a participant counts and measures, from the history of its steps. */
import { describe, expect, it } from 'vitest'
import type { EjectionReason, HistoryEvent } from '../../shared/history/events.ts'
import { DEFAULT_LIMITS } from '../../shared/protocols/protocol.ts'
import { Histogram } from '../../worker/participant/observe/histogram.ts'
import { Measurements } from '../../worker/participant/observe/measurements.ts'

const by = (user: string, at: number) => ({ participant: 1, user, at, fence: 1 })
const tried = (user: string, at: number): HistoryEvent => ({ ...by(user, at), type: 'try' })
const entered = (user: string, at: number): HistoryEvent => ({ ...by(user, at), type: 'crit', epoch: 0 })
const left = (user: string, at: number): HistoryEvent => ({ ...by(user, at), type: 'rem' })
const ejected = (user: string, at: number, reason: EjectionReason): HistoryEvent => ({
  ...by(user, at),
  type: 'ejected',
  reason,
})

function measured(...history: HistoryEvent[]) {
  const measurements = new Measurements()
  measurements.onStep(history, [])
  return measurements.report()
}

const total = ({ counts }: { readonly counts: readonly number[] }) =>
  counts.reduce((sum, one) => sum + one, 0)

describe('times', () => {
  it('are those between try and crit, crit and the end, issue and outcome', () => {
    const issue = { ...by('a', 130), opId: 'o', operation: null } as const
    const { wait, hold, operation } = measured(
      tried('a', 100),
      entered('a', 120),
      { ...issue, type: 'issue' },
      { ...by('a', 190), type: 'outcome', opId: 'o', sequence: 1, result: null },
      left('a', 1_120),
      tried('b', 0),
      entered('b', 7_000),
      ejected('b', 8_000, 'expired'),
    )
    expect([total(wait), wait.sumMs]).toEqual([2, 20 + 7_000])
    expect([total(hold), hold.sumMs]).toEqual([2, 1_000 + 1_000])
    expect([total(operation), operation.sumMs]).toEqual([1, 60])
  })

  it('of somebody who gave up, or began before this instance, are not measured', () => {
    const { wait, hold } = measured(
      tried('a', 0),
      { participant: 1, user: 'a', at: 50, type: 'withdrawn' },
      left('b', 10),
      entered('a', 20),
    )
    expect([total(wait), total(hold)]).toEqual([0, 0])
  })

  it('are remembered for a bounded number of users, the latest', () => {
    const most = 2 * DEFAULT_LIMITS.waiters
    const users = Array.from({ length: most + 10 }, (_, index) => `u${index}`)
    const { wait } = measured(...users.map(user => tried(user, 0)), ...users.map(user => entered(user, 1)))
    expect(total(wait)).toBe(most)
  })
})

describe('counters', () => {
  it('tell ejections by cause, and grants', () => {
    const { ejections, counters } = measured(
      entered('a', 0),
      ejected('a', 1, 'operator'),
      entered('b', 2),
      ejected('b', 3, 'suspected'),
      ejected('c', 4, 'suspected'),
    )
    expect(ejections).toEqual({ operator: 1, suspected: 2, expired: 0 })
    expect(counters.grants).toBe(2)
  })

  it('tell why users gave up waiting', () => {
    const measurements = new Measurements()
    const gone = { type: 'withdrawn', user: 'a' } as const
    measurements.onStep(
      [],
      [
        { ...gone, reason: 'timeout' },
        { ...gone, reason: 'asked' },
        { ...gone, reason: 'timeout' },
      ],
    )
    expect(measurements.report().withdrawals).toEqual({ timeout: 2, asked: 1 })
  })

  it('tell of epochs, suspicions and births as they change, each once', () => {
    const measurements = new Measurements()
    const core = {}
    const steps = [
      { epoch: 0, suspects: [], core: null },
      { epoch: 3, suspects: [], core },
      { epoch: 3, suspects: [2], core },
      { epoch: 4, suspects: [2], core },
      { epoch: 4, suspects: [2, 3], core },
      { epoch: 4, suspects: [], core },
      { epoch: 4, suspects: [2], core },
    ]
    for (const [index, after] of steps.entries())
      if (index > 0) measurements.onProgress(steps[index - 1]!, after)
    expect(measurements.report().counters).toMatchObject({ births: 1, epochChanges: 1, suspicions: 3 })
  })
})

it('a histogram puts each length where it belongs, also what is longer than all bounds, or negative', () => {
  const histogram = new Histogram()
  const { boundsMs } = histogram.report()
  for (const ms of [-5, 0, boundsMs[0]!, boundsMs[0]! + 1, boundsMs.at(-1)! + 1]) histogram.observe(ms)
  const { counts, sumMs } = histogram.report()
  expect([counts[0], counts[1], counts.at(-1)]).toEqual([3, 1, 1])
  expect(counts).toHaveLength(boundsMs.length + 1)
  expect(sumMs).toBe(2 * boundsMs[0]! + 1 + boundsMs.at(-1)! + 1)
})
