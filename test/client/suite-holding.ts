import { describe, expect, it } from 'vitest'
import { EjectedError, ExpiredError, ReleasedError } from '../../client/index.ts'
import type { GetBench } from './suite.ts'

export function describeHolding(bench: GetBench): void {
  describe('holding', () => {
    it('run gives the callback the lock, and gives it back', async () => {
      const { lock } = bench()
      const fences: number[] = []
      for (let round = 0; round < 3; round++) {
        const result = await lock.run(async held => {
          fences.push(held.fence)
          expect(held.grant).toMatchObject({ fence: held.fence, participant: expect.any(Number) })
          expect((await lock.status()).holder).toMatchObject({ fence: held.fence })
          return 'done'
        })
        expect(result).toBe('done')
      }
      expect(fences).toEqual([...new Set(fences)].sort((left, right) => left - right))
      expect((await lock.status()).holder).toBeNull()
    })

    it('run takes options, and a callback that is not asynchronous', async () => {
      const { lock, network } = bench()
      expect(await lock.run({ ttlMs: 5_000, waitMs: 1_000 }, held => held.fence)).toBeGreaterThan(0)
      const body = network.of('POST acquire')[0]!.body as { readonly ttlMs: number; readonly waitMs: number }
      expect(body.ttlMs).toBe(5_000)
      // What remains of it when the request leaves.
      expect(body.waitMs).toBeGreaterThan(900)
      expect(body.waitMs).toBeLessThanOrEqual(1_000)
    })

    it('await using releases', async () => {
      const { lock } = bench()
      {
        await using held = await lock.acquire()
        expect((await lock.status()).holder?.fence).toBe(held.fence)
      }
      expect((await lock.status()).holder).toBeNull()
    })

    it('tryAcquire answers null while somebody else holds the lock', async () => {
      const { lock } = bench()
      const held = await lock.tryAcquire()
      expect(await lock.tryAcquire({ waitMs: 50 })).toBeNull()
      await held!.release()
      await using again = await lock.tryAcquire()
      expect(again!.fence).toBeGreaterThan(held!.fence)
    })

    it("what the callback throws is what run throws, also if the lock can't be given back", async () => {
      const { lock, network } = bench()
      network.inject('DELETE grants', { refuse: 'internal' })
      const error = new Error('of the callback')
      await expect(lock.run({ ttlMs: 1_000 }, () => Promise.reject(error))).rejects.toBe(error)
      expect(network.of('DELETE grants')).toHaveLength(1)
    })

    it('run returns what the callback returns, even if the lock is lost or cannot be released', async () => {
      const { lock, network } = bench()
      network.inject('DELETE grants', { refuse: 'internal' })
      expect(await lock.run({ ttlMs: 1_000 }, () => 'kept')).toBe('kept')
      const result = await lock.run(async held => {
        await lock.eject()
        await expect(held.apply([{ get: 'a' }])).rejects.toThrow(EjectedError)
        return 'lost'
      })
      expect(result).toBe('lost')
    })

    it('keeps the grant alive beyond its time to live', async () => {
      const { lock, network, clock } = bench()
      await using held = await lock.acquire({ ttlMs: 1_000 })
      await clock.sleep(3_500)
      expect(held.signal.aborted).toBe(false)
      expect(await held.apply([{ increment: 'n' }])).toMatchObject({ applied: true })
      expect(network.of('POST keepalive').length).toBeGreaterThanOrEqual(7)
      expect(network.of('POST keepalive').length).toBeLessThanOrEqual(15)
    })

    it('without keep-alive the grant expires, and says so', async () => {
      const { lock, clock } = bench()
      await using held = await lock.acquire({ ttlMs: 1_000, keepAlive: false })
      await clock.sleep(1_500)
      const error = await held.apply([{ put: 'a', value: 1 }]).catch(error => error)
      expect(error).toBeInstanceOf(ExpiredError)
      // Its holder knows it without asking.
      expect(error).toMatchObject({ code: 'expired', status: 0, retryable: false, outcome: 'not-applied' })
      expect(held.signal.aborted).toBe(true)
      expect(held.signal.reason).toBe(held.lost)
      expect((await lock.get('a')).revision).toBe(0)
    })

    it('a holder that is ejected learns it from its signal', async () => {
      const { lock, clock } = bench()
      await using held = await lock.acquire({ ttlMs: 3_000 })
      await lock.eject()
      for (let waits = 0; waits < 30 && !held.signal.aborted; waits++) await clock.sleep(100)
      expect(held.signal.reason).toBeInstanceOf(EjectedError)
      expect(held.lost).toBe(held.signal.reason)
      await expect(held.apply([{ put: 'a', value: 1 }])).rejects.toMatchObject({
        code: 'ejected',
        outcome: 'not-applied',
      })
      await expect(held.get('a')).rejects.toBe(held.lost)
      await held.release()
    })

    it('after the release everything is refused, and a second release is none', async () => {
      const { lock, network } = bench()
      const held = await lock.acquire()
      await Promise.all([held.release(), held.release()])
      expect(network.of('DELETE grants')).toHaveLength(1)
      expect(held.signal.reason).toBeInstanceOf(ReleasedError)
      expect(held.lost).toBeUndefined()
      await expect(held.apply([{ get: 'a' }])).rejects.toMatchObject({
        code: 'released',
        outcome: 'not-applied',
      })
      expect(network.of('POST ops')).toHaveLength(0)
    })

    it('a release whose answer is lost is repeated, and then is no error', async () => {
      const { lock, network } = bench()
      network.inject('DELETE grants', 'lose-answer', 'lose-request', { refuse: 'no_quorum' })
      const held = await lock.acquire()
      await held.release()
      expect(network.of('DELETE grants')).toHaveLength(4)
      expect((await lock.status()).holder).toBeNull()
    })

    it('a grant lasts as long as asked, in keep-alives too', async () => {
      const { lock, network, clock } = bench()
      await using _held = await lock.acquire({ ttlMs: 1_200 })
      await clock.sleep(600)
      expect(network.of('POST keepalive')[0]!.body).toEqual({ ttlMs: 1_200 })
    })
  })
}
