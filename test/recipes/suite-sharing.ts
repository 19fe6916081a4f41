import { describe, expect, it } from 'vitest'
import { EjectedError, LockedError } from '../../client/index.ts'
import { Barrier, type Permit, Semaphore } from '../../recipes/index.ts'
import { newLockName } from '../client/suite.ts'
import { type GetKitchen, until } from './suite.ts'

export function describeSharing(kitchen: GetKitchen): void {
  describe('counting semaphore', () => {
    const semaphoreOf = (name: string, permits: number) => {
      const { baton, clock } = kitchen().bench
      return new Semaphore(baton, name, { permits, ttlMs: 2_000, clock })
    }
    const newName = () => newLockName().slice(0, 60)

    it('never gives more permits than there are', async () => {
      const semaphore = semaphoreOf(newName(), 3)
      const inside = new Set<number>()
      let most = 0
      const users = Array.from({ length: 12 }, () =>
        semaphore.run(
          async ({ number }) => {
            expect(inside.has(number)).toBe(false)
            inside.add(number)
            most = Math.max(most, inside.size)
            await kitchen().bench.clock.sleep(20)
            inside.delete(number)
          },
          { waitMs: 60_000 },
        ),
      )
      await Promise.all(users)
      expect(most).toBeGreaterThan(1)
      expect(most).toBeLessThanOrEqual(3)
    })

    it('says that all are taken, and gives the one that comes back', async () => {
      const name = newName()
      const semaphore = semaphoreOf(name, 2)
      const permits = [await semaphore.acquire(), await semaphore.acquire()]
      expect(permits.map(({ number }) => number).sort()).toEqual([1, 2])
      expect(await semaphore.tryAcquire({ waitMs: 50 })).toBeNull()
      await expect(semaphore.acquire({ waitMs: 50 })).rejects.toThrow(/none of the 2 permits/)
      const stop = new AbortController()
      const stopped = semaphore.acquire({ waitMs: 60_000, signal: stop.signal })
      stop.abort()
      await expect(stopped).rejects.toThrow(/abort/i)
      const next = semaphore.acquire({ waitMs: 60_000 })
      await permits[0]!.release()
      expect(await next).toMatchObject({ number: permits[0]!.number })
      expect((await next).fence).toBeGreaterThan(permits[0]!.fence)
    })

    it('tells a holder that it has lost its permit', async () => {
      const { baton, clock } = kitchen().bench
      const name = newName()
      const permit = await semaphoreOf(name, 1).acquire()
      await baton.lock(`${name}:1`).eject({ fence: permit.fence })
      await until(clock, () => permit.signal.aborted)
      expect(permit.held.lost).toBeInstanceOf(EjectedError)
    })

    it('has all permits again, whenever a holder dies', async () => {
      const deaths = await kitchen().dieEverywhere({
        work: async ({ baton, name, signal }) => {
          const { clock } = kitchen().bench
          const semaphore = new Semaphore(baton, name.slice(0, 60), { permits: 2, ttlMs: 1_000, clock })
          const permit = await semaphore.acquire({ signal })
          await permit.release()
        },
        check: async name => {
          const semaphore = semaphoreOf(name.slice(0, 60), 2)
          const permits: Permit[] = []
          for (let count = 0; count < 2; count++) permits.push(await semaphore.acquire({ waitMs: 60_000 }))
          await expect(semaphore.acquire({ waitMs: 50 })).rejects.toThrow(LockedError)
          await Promise.all(permits.map(permit => permit.release()))
        },
      })
      expect(deaths).toBeGreaterThan(1)
    })
  })

  describe('barrier', () => {
    const barrierOf = (lock = kitchen().bench.lock, parties = 3) =>
      new Barrier(lock, { parties, clock: kitchen().bench.clock })

    it('lets all go on together, round after round', async () => {
      const barrier = barrierOf()
      for (const round of [1, 2, 3]) {
        const early = [barrier.arrive('a', { waitMs: 60_000 }), barrier.arrive('b', { waitMs: 60_000 })]
        await until(kitchen().bench.clock, async () => (await barrier.look()).arrived.length === 2)
        expect(await barrier.arrive('c')).toBe(round)
        expect(await Promise.all(early)).toEqual([round, round])
      }
    })

    it('counts a party once, and lets one that repeats itself through a round that is over', async () => {
      const barrier = barrierOf(undefined, 2)
      const twice = [barrier.arrive('a', { waitMs: 60_000 }), barrier.arrive('a', { waitMs: 60_000 })]
      await until(kitchen().bench.clock, async () => (await barrier.look()).arrived.length === 1)
      expect(await barrier.arrive('b')).toBe(1)
      expect(await Promise.all(twice)).toEqual([1, 1])
      expect(await barrier.arrive('b', { round: 1 })).toBe(1)
      expect(await barrier.look()).toEqual({ round: 2, arrived: [] })
      await expect(barrier.arrive('b', { round: 9 })).rejects.toThrow('round 9 has not begun')
    })

    it('lets no more parties through a round than it has, also if more of them come', async () => {
      const barrier = barrierOf(undefined, 2)
      const waiting = ['a', 'b', 'c', 'd', 'e'].map(party => barrier.arrive(party, { waitMs: 60_000 }))
      await until(kitchen().bench.clock, async () => {
        const { round, arrived } = await barrier.look()
        return round === 3 && arrived.length === 1
      })
      const last = barrier.arrive('f')
      const rounds = await Promise.all([...waiting, last])
      expect(rounds.sort()).toEqual([1, 1, 2, 2, 3, 3])
    })

    it('says of a round that has just been completed who was not one of its parties', async () => {
      const barrier = barrierOf(undefined, 2)
      const early = barrier.arrive('a', { round: 1, waitMs: 60_000 })
      await until(kitchen().bench.clock, async () => (await barrier.look()).arrived.length === 1)
      expect([await barrier.arrive('b', { round: 1 }), await early]).toEqual([1, 1])
      await expect(barrier.arrive('c', { round: 1 })).rejects.toThrow("round 1 was completed without 'c'")
      expect(await Promise.all(['a', 'b'].map(party => barrier.arrive(party, { round: 1 })))).toEqual([1, 1])
      expect(await barrier.look()).toEqual({ round: 2, arrived: [] })
    })

    it('has not seen a party that stopped waiting', async () => {
      const barrier = barrierOf()
      await expect(barrier.arrive('a', { waitMs: 200 })).rejects.toThrow(LockedError)
      expect(await barrier.look()).toEqual({ round: 1, arrived: [] })
      const stop = new AbortController()
      const waiting = barrier.arrive('a', { waitMs: 60_000, signal: stop.signal })
      await until(kitchen().bench.clock, async () => (await barrier.look()).arrived.length === 1)
      stop.abort()
      await expect(waiting).rejects.toThrow(/abort/i)
      expect(await barrier.look()).toEqual({ round: 1, arrived: [] })
    })

    it('opens when a party that died has come back under its name', async () => {
      const deaths = await kitchen().dieEverywhere({
        work: async ({ baton, name, signal }) => {
          const barrier = barrierOf(baton.lock(name), 2)
          await Promise.race([barrier.arrive('mortal', { round: 1, waitMs: 300, signal })]).catch(() => {})
        },
        check: async name => {
          const barrier = barrierOf(kitchen().bench.baton.lock(name), 2)
          const rounds = ['mortal', 'other'].map(party => barrier.arrive(party, { round: 1, waitMs: 60_000 }))
          expect(await Promise.all(rounds)).toEqual([1, 1])
          expect(await barrier.look()).toEqual({ round: 2, arrived: [] })
        },
      })
      expect(deaths).toBeGreaterThan(1)
    })
  })
}
