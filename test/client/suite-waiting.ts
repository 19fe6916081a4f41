import { describe, expect, it } from 'vitest'
import { AbortedError, LockedError } from '../../client/index.ts'
import type { GetBench } from './suite.ts'

export function describeWaiting(bench: GetBench): void {
  describe('waiting', () => {
    it('acquire waits until the holder releases', async () => {
      const { lock, clock } = bench()
      const held = await lock.acquire()
      const waiting = lock.acquire({ waitMs: 20_000 })
      await clock.sleep(300)
      await held.release()
      await using next = await waiting
      expect(next.fence).toBeGreaterThan(held.fence)
    })

    it('not granted in time: who holds it is said', async () => {
      const { lock } = bench()
      await using held = await lock.acquire()
      const error = await lock.acquire({ waitMs: 200 }).catch(error => error)
      expect(error).toBeInstanceOf(LockedError)
      expect(error.holder).toMatchObject({ fence: held.fence })
      expect(error).toMatchObject({ code: 'locked', status: 409, retryable: true })
    })

    it('a long wait goes by ticket, and ends with the grant', async () => {
      const { lock, network, clock } = bench()
      const held = await lock.acquire()
      const waiting = lock.acquire({ waitMs: 600_000 })
      await clock.sleep(1_500)
      await held.release()
      await using next = await waiting
      expect(next.fence).toBeGreaterThan(held.fence)
      expect(network.of('POST acquire')[1]!.body).toMatchObject({ ticket: true, waitMs: 1_000 })
      expect(network.of('GET tickets').length).toBeGreaterThan(0)
    })

    it('a long wait for a lock that is free takes one request', async () => {
      const { lock, network } = bench()
      await using _held = await lock.acquire({ waitMs: Number.POSITIVE_INFINITY })
      expect(network.sent).toHaveLength(1)
    })

    it('a ticket whose answers get lost still becomes the one grant', async () => {
      const { lock, network, clock } = bench()
      const held = await lock.acquire()
      network.inject('GET tickets', 'lose-request', 'lose-answer', 'cut-answer', { refuse: 'no_quorum' })
      const waiting = lock.acquire({ waitMs: 600_000 })
      await clock.sleep(1_200)
      await held.release()
      await using next = await waiting
      expect(await next.apply([{ increment: 'n' }])).toMatchObject({ applied: true })
      expect(network.of('POST acquire')).toHaveLength(2)
    })

    it.each([
      ['one request', 20_000],
      ['a ticket', 600_000],
    ])('aborting a wait withdraws it (%s)', async (_, waitMs) => {
      const { lock, clock } = bench()
      const held = await lock.acquire()
      const controller = new AbortController()
      const waiting = lock.acquire({ waitMs, signal: controller.signal }).catch(error => error)
      await clock.sleep(1_500)
      controller.abort('no longer wanted')
      const error = await waiting
      expect(error).toBeInstanceOf(AbortedError)
      expect(error).toMatchObject({ name: 'AbortError', code: 'aborted', cause: 'no longer wanted' })
      await clock.sleep(200)
      await held.release()
      await using next = await lock.tryAcquire()
      expect(next).not.toBeNull()
    })

    it('aborted before it begins, nothing is sent', async () => {
      const { lock, network } = bench()
      await expect(lock.acquire({ signal: AbortSignal.abort() })).rejects.toThrow(AbortedError)
      await expect(lock.transact([{ get: 'a' }], { signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: 'aborted',
        outcome: 'not-applied',
      })
      expect(network.sent).toHaveLength(0)
    })

    it('a refused acquire is repeated while there is time', async () => {
      const { lock, network, clock } = bench()
      network.inject('POST acquire', { refuse: 'no_quorum' }, { refuse: 'too_many', retryAfterSeconds: 1 })
      const before = clock.now()
      await using _held = await lock.acquire({ waitMs: 10_000 })
      expect(clock.now() - before).toBeGreaterThanOrEqual(1_000)
      expect(network.of('POST acquire')).toHaveLength(3)
    })

    it('an acquire whose answer is lost is withdrawn, and asked for again', async () => {
      const { lock, network } = bench()
      network.inject('POST acquire', 'lose-answer')
      await using held = await lock.acquire({ waitMs: 10_000 })
      expect(network.of('POST acquire')).toHaveLength(2)
      expect(network.of('DELETE waiters')).toHaveLength(1)
      await held.release()
      await using next = await lock.tryAcquire()
      expect(next).not.toBeNull()
    })

    it('transact waits longer than a request may', async () => {
      const { lock, clock } = bench()
      const held = await lock.acquire()
      const waiting = lock.transact([{ increment: 'n' }], { waitMs: 60_000 })
      await clock.sleep(500)
      await held.release()
      expect(await waiting).toMatchObject({ applied: true })
    })
  })
}
