import { describe, expect, it } from 'vitest'
import { RateLimiter, Sequence, type Taken } from '../../recipes/index.ts'
import type { GetKitchen } from './suite.ts'

export function describeCounting(kitchen: GetKitchen): void {
  describe('sequence numbers', () => {
    it('gives each number once, without gaps', async () => {
      const { lock } = kitchen().bench
      const sequence = new Sequence(lock)
      const numbers = await Promise.all(Array.from({ length: 10 }, () => sequence.next()))
      expect(numbers.sort((left, right) => left - right)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    })

    it('gives the same number for the same id, also after a lost answer', async () => {
      const { lock, network } = kitchen().bench
      const sequence = new Sequence(lock)
      network.inject('POST transact', 'lose-answer')
      const first = await sequence.next({ id: 'order-1' })
      expect([await sequence.next({ id: 'order-2' }), await sequence.next({ id: 'order-1' })]).toEqual([
        first + 1,
        first,
      ])
    })

    it('gives a number for an id that was refused, once there are numbers again', async () => {
      const { lock } = kitchen().bench
      const sequence = new Sequence(lock)
      const refused = () => expect(sequence.next({ id: 'order-1' })).rejects.toThrow('not_a_number')
      await lock.transact([{ put: 'sequence', value: 'seventeen' }])
      await refused()
      await lock.transact([{ put: 'sequence', value: 17 }])
      await lock.transact([{ put: 'sequence', value: 'eighteen' }])
      await refused()
      await lock.transact([{ put: 'sequence', value: 18 }])
      expect(await sequence.next({ id: 'order-1' })).toBe(19)
      expect(await sequence.next({ id: 'order-2' })).toBe(20)
      expect(await new Sequence(lock).next({ id: 'order-1' })).toBe(19)
    })

    it('takes blocks, which no two clients share', async () => {
      const { lock, network } = kitchen().bench
      const [one, other] = [new Sequence(lock, { block: 5 }), new Sequence(lock, { block: 5 })]
      const numbers = await Promise.all([
        ...Array.from({ length: 7 }, () => one.next()),
        ...Array.from({ length: 4 }, () => other.next()),
      ])
      expect(new Set(numbers).size).toBe(11)
      expect(network.of('POST transact')).toHaveLength(3)
      await expect(one.next({ id: 'x' })).rejects.toThrow(RangeError)
    })

    it('says that there are no more numbers', async () => {
      const { lock } = kitchen().bench
      await lock.transact([{ put: 'sequence', value: Number.MAX_SAFE_INTEGER }])
      await expect(new Sequence(lock).next()).rejects.toMatchObject({ code: 'out_of_range' })
    })

    it('gives no number twice, whenever a client dies', async () => {
      await kitchen().dieEverywhere({
        work: ({ baton, name }) => new Sequence(baton.lock(name)).next(),
        check: async (name, { isDead, result }) => {
          const next = await new Sequence(kitchen().bench.baton.lock(name)).next()
          expect(next).toBeGreaterThan(isDead ? 0 : (result as number))
        },
      })
    })
  })

  describe('rate limiter', () => {
    it('allows a burst, and then says when to come back', async () => {
      const { lock, clock } = kitchen().bench
      const limiter = new RateLimiter(lock, { rate: 1, intervalMs: 2_000, burst: 3 })
      const taken: Taken[] = []
      for (let count = 0; count < 4; count++) taken.push(await limiter.take())
      expect(taken.map(({ allowed }) => allowed)).toEqual([true, true, true, false])
      const { retryAfterMs, remaining } = taken[3]!
      expect(remaining).toBe(0)
      expect(retryAfterMs).toBeGreaterThan(0)
      expect(retryAfterMs).toBeLessThanOrEqual(2_000)
      await clock.sleep(retryAfterMs + 50)
      expect(await limiter.take()).toMatchObject({ allowed: true, retryAfterMs: 0 })
    })

    it('takes several at once, or none of them', async () => {
      const limiter = new RateLimiter(kitchen().bench.lock, { rate: 1, intervalMs: 3_600_000, burst: 10 })
      expect(await limiter.take({ tokens: 7 })).toMatchObject({ allowed: true, remaining: 3 })
      expect(await limiter.take({ tokens: 7 })).toMatchObject({ allowed: false, remaining: 3 })
      expect(await limiter.take({ tokens: 3 })).toMatchObject({ allowed: true, remaining: 0 })
      expect(() => limiter.take({ tokens: 11 })).toThrow('tokens is a whole number from 1 to 10, not 11')
    })

    it('never allows more than its burst at once, whoever asks', async () => {
      const { lock } = kitchen().bench
      const limiters = Array.from(
        { length: 8 },
        () => new RateLimiter(lock, { rate: 1, intervalMs: 3_600_000, burst: 5 }),
      )
      const taken = await Promise.all(limiters.map(limiter => limiter.take({ waitMs: 60_000 })))
      expect(taken.filter(({ allowed }) => allowed)).toHaveLength(5)
    })

    it('stands still while a clock is behind, and never fills beyond the brim', async () => {
      const { lock } = kitchen().bench
      const limiter = new RateLimiter(lock, { rate: 1, intervalMs: 1_000, burst: 2 })
      const held = await lock.acquire()
      await held.release()
      const later = Date.parse(held.grant.expiresAt) + 3_600_000
      await lock.transact([{ put: 'bucket', value: { credit: 1_000, at: later } }])
      expect(await limiter.take()).toMatchObject({ allowed: true })
      expect(await limiter.take()).toMatchObject({ allowed: false })
      await lock.transact([{ put: 'bucket', value: { credit: 0, at: 0 } }])
      expect(await limiter.take({ tokens: 2 })).toMatchObject({ allowed: true, remaining: 0 })
    })

    it('is free again soon, and allows no more, whenever a client dies', async () => {
      const options = { rate: 1, intervalMs: 3_600_000, burst: 2 }
      const deaths = await kitchen().dieEverywhere({
        work: ({ baton, name, signal }) => new RateLimiter(baton.lock(name), options).take({ signal }),
        check: async (name, { isDead }) => {
          const limiter = new RateLimiter(kitchen().bench.baton.lock(name), options)
          const allowed: boolean[] = []
          for (let count = 0; count < 3; count++) {
            allowed.push((await limiter.take({ waitMs: 60_000 })).allowed)
          }
          const count = allowed.filter(Boolean).length
          expect(count).toBeGreaterThanOrEqual(1)
          expect(count).toBeLessThanOrEqual(isDead ? 2 : 1)
        },
      })
      expect(deaths).toBeGreaterThan(1)
    })
  })
}
