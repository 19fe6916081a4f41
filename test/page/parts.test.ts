/** The small parts of the page: addresses, metrics, charts and the places on the ring. */
import { describe, expect, it } from 'vitest'
import { readMetrics } from '../../page/live/metrics.ts'
import { addressOfLock, routeOf } from '../../page/route.ts'
import { layOut, tokenPlace } from '../../page/view/ring-layout.ts'
import { bucketsOf, quantile, trimmed } from '../../page/view/times.ts'
import { renderLockMetrics } from '../../worker/router/lock-metrics.ts'

describe('an address', () => {
  it('leads to its place', () => {
    expect(routeOf('')).toEqual({ type: 'locks' })
    expect(routeOf('#/')).toEqual({ type: 'locks' })
    expect(routeOf('#/nowhere')).toEqual({ type: 'locks' })
    expect(routeOf(addressOfLock('orders:1'))).toEqual({ type: 'lock', lock: 'orders:1' })
    expect(routeOf('#/locks/%E0%A4%A')).toEqual({ type: 'lock', lock: '%E0%A4%A' })
  })

  it('carries the parameters of a simulation', () => {
    const route = routeOf('#/simulated?protocol=wme-1&seed=7')
    expect(route.type === 'simulated' && Object.fromEntries(route.parameters)).toEqual({
      protocol: 'wme-1',
      seed: '7',
    })
    expect(routeOf('#/simulated').type).toBe('simulated')
  })
})

describe('metrics', () => {
  /** As the service writes them. */
  const written = (id: number, wait: readonly number[], expired: number) =>
    renderLockMetrics([
      {
        lock: 'demo',
        participants: new Map([
          [
            id,
            {
              suspects: [],
              holder: null,
              measurements: {
                wait: { boundsMs: [5, 100], counts: wait, sumMs: 1 },
                hold: { boundsMs: [5, 100], counts: [0, 0, 0], sumMs: 0 },
                operation: { boundsMs: [5, 100], counts: [0, 0, 0], sumMs: 0 },
                counters: {},
                withdrawals: {},
                ejections: { expired },
              },
            } as never,
          ],
        ]),
      },
    ])

  it('are added up over the participants, each time in one bucket', () => {
    const { waits, holds, ejections } = readMetrics(written(1, [3, 2, 1], 0) + written(2, [1, 0, 4], 6))
    expect(waits).toEqual([
      { upToMs: 5, count: 4 },
      { upToMs: 100, count: 2 },
      { upToMs: Number.POSITIVE_INFINITY, count: 5 },
    ])
    expect(holds.every(({ count }) => count === 0)).toBe(true)
    expect([...ejections]).toEqual([
      ['1 expired', 0],
      ['2 expired', 6],
    ])
  })
})

describe('times', () => {
  it('fall into buckets, and say how long most of them took', () => {
    const buckets = bucketsOf([0, 3, 4, 5, 6, 400, 1e9])
    expect(trimmed(buckets).map(({ count }) => count)).toEqual([
      1, 0, 3, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1,
    ])
    expect([quantile(buckets, 0.5), quantile(buckets, 0.95)]).toEqual([5, Number.POSITIVE_INFINITY])
    expect(trimmed(bucketsOf([]))).toEqual([])
  })
})

describe('the ring', () => {
  it.each([320, 390, 700])('keeps up to thirteen participants apart and inside, at %i pixels', width => {
    for (let count = 1; count <= 13; count++) {
      const layout = layOut(count, width)
      const { places, radius, height } = layout
      expect(places).toHaveLength(count)
      for (const [index, place] of places.entries()) {
        expect(place.x - radius).toBeGreaterThanOrEqual(0)
        expect(place.x + radius).toBeLessThanOrEqual(width)
        expect(place.y - radius).toBeGreaterThanOrEqual(0)
        expect(place.y + radius).toBeLessThanOrEqual(height)
        for (const other of places.slice(index + 1))
          expect(Math.hypot(place.x - other.x, place.y - other.y)).toBeGreaterThan(2 * radius)
        const token = tokenPlace(layout, place)
        expect(Math.hypot(token.x - place.x, token.y - place.y)).toBeLessThan(2 * radius)
      }
    }
  })
})
