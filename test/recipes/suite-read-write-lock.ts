import { describe, expect, it } from 'vitest'
import { EjectedError, ExpiredError, LockedError } from '../../client/index.ts'
import { ReadWriteLock } from '../../recipes/index.ts'
import { type GetKitchen, until } from './suite.ts'

export function describeReadWriteLock(kitchen: GetKitchen): void {
  describe('read-write lock', () => {
    const lockOf = (baton = kitchen().bench.baton, name = kitchen().bench.lock.name) =>
      new ReadWriteLock(baton.lock(name), { leaseMs: 1_000, clock: kitchen().bench.clock })

    it('lets many read at a time', async () => {
      const { clock } = kitchen().bench
      let inside = 0
      const reader = () =>
        lockOf().read(async () => {
          inside++
          await until(clock, () => inside === 3)
        })
      await Promise.all([reader(), reader(), reader()])
      expect(inside).toBe(3)
    })

    it('shows no reader a write that is half done', async () => {
      const { clock } = kitchen().bench
      const write = (value: number) =>
        lockOf().write(async held => {
          await held.apply([{ put: 'a', value }])
          await clock.sleep(30)
          await held.apply([{ put: 'b', value }])
        })
      const seen: (readonly unknown[])[] = []
      const read = () =>
        lockOf().read(async ({ get }) => {
          const first = (await get('a')).value
          await clock.sleep(30)
          seen.push([first, (await get('b')).value])
        })
      const work = [1, 2, 3].flatMap(value => [write(value), read(), read()])
      await Promise.all(work)
      expect(seen).toHaveLength(6)
      for (const [a, b] of seen) expect(a).toEqual(b)
    })

    it('lets a writer that waits go before readers that come later', async () => {
      const { clock, lock } = kitchen().bench
      const order: string[] = []
      let isOver = false
      const first = lockOf().read(() => until(clock, () => isOver))
      await until(clock, async () => Object.keys((await turnsOf(lock))?.readers ?? {}).length === 1)
      const writer = lockOf().write(() => void order.push('write'))
      await until(clock, async () => (await turnsOf(lock))?.writer != null)
      const second = lockOf().read(() => void order.push('read'))
      isOver = true
      await Promise.all([first, writer, second])
      expect(order).toEqual(['write', 'read'])
    })

    it('gives up waiting in time', async () => {
      const { clock } = kitchen().bench
      let isOver = false
      const reader = lockOf().read(() => until(clock, () => isOver))
      await until(
        clock,
        async () => Object.keys((await turnsOf(kitchen().bench.lock))?.readers ?? {}).length === 1,
      )
      await expect(lockOf().write(() => {}, { waitMs: 300 })).rejects.toThrow(LockedError)
      isOver = true
      await reader
      // The writer that gave up is in nobody's way.
      expect(await lockOf().read(() => 'read')).toBe('read')
    })

    it('rejects a reader that was given up, and tells it before', async () => {
      const { bench } = kitchen()
      let isCut = false
      const cut = bench.client({
        fetch: request => (isCut ? Promise.reject(new TypeError('cut')) : bench.service.fetch(request)),
        retry: { attempts: 2, firstPauseMs: 10 },
      })
      let told = false
      const reader = lockOf(cut).read(async ({ signal }) => {
        isCut = true
        await lockOf().write(held => held.apply([{ put: 'a', value: 'changed' }]))
        isCut = false
        await until(bench.clock, () => signal.aborted)
        told = true
        return 'read'
      })
      await expect(reader).rejects.toThrow(ExpiredError)
      expect(told).toBe(true)
    })

    it('lets no writer write that was taken for dead while a reader has begun', async () => {
      const { bench } = kitchen()
      let isFirst = true
      const late = bench.client({
        fetch: async request => {
          if (isFirst && request.url.endsWith('/acquire')) {
            isFirst = false
            const value = { readers: { another: 1 }, writer: null }
            await bench.lock.transact([{ put: 'read-write-lock', value }])
          }
          return bench.service.fetch(request)
        },
      })
      const readers = await lockOf(late).write(async () => (await turnsOf(bench.lock))?.readers)
      expect([isFirst, readers]).toEqual([false, {}])
    })

    it('refuses what a writer does that was ejected', async () => {
      const { lock } = kitchen().bench
      const late = lockOf().write(async held => {
        await lock.eject({ fence: held.fence })
        await lockOf().write(other => other.apply([{ put: 'a', value: 'next' }]))
        await held.apply([{ put: 'a', value: 'late' }])
      })
      await expect(late).rejects.toThrow(EjectedError)
      expect((await lock.get('a')).value).toBe('next')
    })

    it.each(['read', 'write'] as const)(
      'is free again, whenever the one dies that wants to %s',
      async what => {
        const deaths = await kitchen().dieEverywhere({
          work: ({ baton, name, signal }) =>
            what === 'read'
              ? lockOf(baton, name).read(({ get }) => get('a'), { signal })
              : lockOf(baton, name).write(held => held.apply([{ put: 'a', value: 1 }]), { signal }),
          check: async name => {
            const lock = lockOf(undefined, name)
            await lock.write(held => held.apply([{ put: 'a', value: 2 }]))
            expect(await lock.read(async ({ get }) => (await get('a')).value)).toBe(2)
          },
        })
        expect(deaths).toBeGreaterThan(1)
      },
    )
  })
}

interface Turns {
  readonly readers: { readonly [id: string]: number }
  readonly writer: object | null
}

const turnsOf = async (lock: { get(key: string): Promise<{ value: unknown }> }): Promise<Turns | null> =>
  (await lock.get('read-write-lock')).value as Turns | null
