/**
 * The same seed gives the same run of the whole service; without that no violation could be looked at
 * twice.
 */
import { describe, expect, it } from 'vitest'
import { drawPlan, LEFT_OUT } from './plan.ts'
import { runService } from './run.ts'

describe('a run of the whole service', () => {
  it('is the same for the same seed, with and without a transcript, whatever ran before it', async () => {
    for (const seed of [1, 2, 3, 11]) {
      const first = await runService(seed)
      await runService(seed + 100)
      const second = await runService(seed)
      const lines: string[] = []
      const printed = await runService(seed, {}, line => lines.push(line))
      expect(second).toEqual(first)
      expect(printed).toEqual(first)
      expect(lines.length).toBeGreaterThan(10)
    }
  })

  it('is another one for another seed, and without something', async () => {
    const seed = 5
    const { faults, clients } = drawPlan(seed)
    const withoutAFault = new Set([String(faults[0]!.id)])
    const withoutAnAction = new Set([String(clients[0]!.actions[0]!.id)])
    const runs = [
      await runService(seed),
      await runService(seed + 1),
      await runService(seed, { without: withoutAFault }),
      await runService(seed, { without: withoutAnAction }),
      await runService(seed, { faults: false }),
    ]
    expect(new Set(runs.map(run => run.transcriptHash)).size).toBe(runs.length)
  })

  it('leaves the globals as they were', async () => {
    const before = [Date, setTimeout, Math.random, Request, Response, crypto.getRandomValues, performance.now]
    await runService(1)
    expect([
      Date,
      setTimeout,
      Math.random,
      Request,
      Response,
      crypto.getRandomValues,
      performance.now,
    ]).toEqual(before)
  })
})

describe('a plan', () => {
  it('has what is left out no more, and everything else as it was', () => {
    const plan = drawPlan(7)
    const action = plan.clients[0]!.actions[0]!
    const smaller = drawPlan(7, { without: new Set([String(action.id), ...LEFT_OUT]) })
    expect(smaller.clients[0]!.actions).toEqual(plan.clients[0]!.actions.slice(1))
    expect(smaller.clients.slice(1).map(({ actions }) => actions)).toEqual(
      plan.clients.slice(1).map(({ actions }) => actions),
    )
    expect(smaller.faults).toEqual(plan.faults)
    expect(smaller.network).toMatchObject({ requestLoss: 0, responseLoss: 0, duplication: 0, straggling: 0 })
    expect(smaller.clockOffsetsMs.every(offset => offset === 0)).toBe(true)
  })
})
