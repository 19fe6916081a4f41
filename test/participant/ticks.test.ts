/** What is done at intervals is done once in each, however often it was begun. */
import { expect, it } from 'vitest'
import { Ticks } from '../../worker/participant/core/ticks.ts'
import { Timers } from '../../worker/participant/core/timers.ts'

const EVERY_MS = 1_000

it('there is one chain of ticks, which ends when there is no reason any more and can begin again', () => {
  let now = 0
  let hasReason = true
  const ticks: number[] = []
  const runtime = { now: () => now, alarm: { set: () => {} }, timeout: { set: () => {} } }
  const timers = new Timers(runtime, () => {})
  const chain = new Ticks({
    ...{ timers, everyMs: EVERY_MS },
    now: () => now,
    tick: () => {
      ticks.push(now)
      return hasReason
    },
  })
  const passTo = (end: number) => {
    for (; now < end; now += 100) timers.fire()
  }
  for (const begunAt of [0, 300, 600]) {
    passTo(begunAt)
    chain.begin()
  }
  passTo(3_000)
  expect(ticks).toEqual([1_600, 2_600])
  hasReason = false
  passTo(10_000)
  expect(ticks).toEqual([1_600, 2_600, 3_600])
  chain.begin()
  passTo(12_000)
  expect(ticks).toEqual([1_600, 2_600, 3_600, 11_000])
})
