/** The fence: one safe integer that orders grants by (epoch, sequence), and is never used twice. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../../../shared/protocols/protocol.ts'
import { FENCE_GAP, fenceOf } from '../../../shared/protocols/wme/fence.ts'
import { Cluster } from './cluster.ts'
import { all, ofType, to } from './matchers.ts'
import { enter, eventsOf, exit, holder, protocols, replaceOwner } from './scenes.ts'

describe('fence', () => {
  /**
   * One epoch of the argument in fence.ts: a number of entries are committed, an owner appends at most
   * FENCE_GAP grants above that, and the decision keeps some of them.
   */
  const epochs = fc.array(
    fc.record({
      committed: fc.nat(3_000),
      appended: fc.integer({ min: 1, max: FENCE_GAP }),
      kept: fc.nat(FENCE_GAP),
    }),
    { minLength: 1, maxLength: 12 },
  )

  it('is unique and increasing, rolled-back grants included', () => {
    fc.assert(
      fc.property(epochs, run => {
        let start = 0
        let highest = -1
        run.forEach(({ committed, appended, kept }, epoch) => {
          const known = start + committed
          // The first grant that may be written in this epoch, and the last.
          const first = fenceOf(epoch, start + 1)
          const last = fenceOf(epoch, known + appended)
          expect(first).toBeGreaterThan(highest)
          expect(last).toBeGreaterThanOrEqual(first)
          expect(Number.isSafeInteger(last)).toBe(true)
          highest = last
          start = known + Math.min(kept, appended)
        })
      }),
    )
  })

  it('would be used twice if an owner went further ahead by one', () => {
    expect(fenceOf(0, FENCE_GAP)).toBeLessThan(fenceOf(1, 1))
    expect(fenceOf(0, FENCE_GAP + 1)).toBe(fenceOf(1, 1))
  })

  it('has room for more grants than there will ever be', () => {
    const perSecondForAThousandYears = 1_000 * 3_600 * 24 * 366 * 100
    expect(fenceOf(1_000_000_000, perSecondForAThousandYears)).toBeLessThan(Number.MAX_SAFE_INTEGER)
  })
})

describe.each(protocols)('fence %s', (_name, protocol) => {
  it('an owner that is cut off cannot run ahead without limit', () => {
    const cluster = new Cluster(protocol, { participants: 3, limits: { uncommitted: 5 } })
    cluster.isolate(1)
    for (let i = 1; i <= 5; i++) exit(cluster, enter(cluster, 1, `u${i}`))
    cluster.try(1, 'one too many')
    expect(eventsOf(cluster, 1, 'crit')).toHaveLength(5)
    cluster.reconnect(1)
    cluster.run(6_000)
    expect(holder(cluster, 1, 'one too many').sequence).toBe(6)
  })

  it('limits that the fences do not allow are refused', () => {
    const limits = { uncommitted: FENCE_GAP + 1 }
    expect(() => new Cluster(protocol, { participants: 3, limits })).toThrow()
    expect(DEFAULT_LIMITS.uncommitted).toBeLessThanOrEqual(FENCE_GAP)
  })

  it('the grant that takes the place of a rolled-back one has a higher fence', () => {
    const cluster = new Cluster(protocol, { participants: 3 })
    exit(cluster, enter(cluster, 1, 'a'))
    cluster.isolate(1)
    const fences: number[] = []
    for (let i = 0; i < 3; i++) {
      const lost = enter(cluster, 1, `lost ${i}`)
      fences.push(lost.fence)
      exit(cluster, lost)
    }
    const next = replaceOwner(cluster, [1], 2, 'b')
    expect(next.sequence).toBe(2)
    expect(next.fence).toBeGreaterThan(Math.max(...fences))
  })

  it('all grants of a run, in the order of the log, have increasing fences', () => {
    const cluster = new Cluster(protocol, { participants: 5 })
    const fences: number[] = []
    for (let round = 0; round < 3; round++) {
      for (const id of [1, 2, 3]) {
        const by = enter(cluster, id, `user ${id} ${round}`)
        fences.push(by.fence)
        exit(cluster, by)
      }
      cluster.try(4, `usurper ${round}`)
      cluster.lose(all(to(4), ofType('invoke', 'alive')))
      cluster.run(12_000)
      cluster.lose(() => false)
      cluster.run(6_000)
      const usurper = holder(cluster, 4, `usurper ${round}`)
      fences.push(usurper.fence)
      exit(cluster, usurper)
      cluster.run(1_000)
    }
    expect(fences).toEqual(fences.toSorted((a, b) => a - b))
    expect(new Set(fences).size).toBe(fences.length)
  })
})
