import { describe, expect, it } from 'vitest'
import { ConflictError } from '../../client/index.ts'
import { SharedConfiguration } from '../../recipes/index.ts'
import { type GetKitchen, until } from './suite.ts'

type Flags = { readonly beta: number }

export function describeConfiguration(kitchen: GetKitchen): void {
  describe('shared configuration', () => {
    it('is set as a whole, and not over the change of somebody else', async () => {
      const flags = new SharedConfiguration<Flags>(kitchen().bench.lock)
      expect(await flags.get()).toEqual({ value: null, revision: 0 })
      const revision = await flags.set({ beta: 1 }, { ifRevision: 0 })
      expect(await flags.get()).toEqual({ value: { beta: 1 }, revision })
      await expect(flags.set({ beta: 2 }, { ifRevision: 0 })).rejects.toThrow(ConflictError)
      expect(await flags.set({ beta: 2 }, { ifRevision: revision })).toBeGreaterThan(revision)
    })

    it('loses no update of those who update at once', async () => {
      const flags = () => new SharedConfiguration<Flags>(kitchen().bench.lock)
      const add = (before: Flags | null) => ({ beta: (before?.beta ?? 0) + 1 })
      await Promise.all(Array.from({ length: 10 }, () => flags().update(add)))
      expect((await flags().get()).value).toEqual({ beta: 10 })
    })

    it('refuses what it cannot understand, read or written', async () => {
      const { lock } = kitchen().bench
      const parse = (value: unknown) => {
        if (typeof (value as Flags | null)?.beta !== 'number') throw new TypeError('beta is missing')
        return value as Flags
      }
      const flags = new SharedConfiguration<Flags>(lock, { parse })
      await expect(flags.set({} as Flags)).rejects.toThrow('beta is missing')
      expect((await flags.get()).value).toBeNull()
      await lock.transact([{ put: 'configuration', value: 'junk' }])
      await expect(flags.get()).rejects.toThrow('beta is missing')
    })

    it('is told to those who watch, also after their connection broke', async () => {
      const { bench } = kitchen()
      const flags = new SharedConfiguration<Flags>(bench.lock)
      await flags.set({ beta: 0 })
      bench.network.inject('GET watch', { cutAfterBlocks: 2 }, { cutAfterBlocks: 3 })
      const stop = new AbortController()
      const seen: (number | undefined)[] = []
      const watching = (async () => {
        for await (const { value } of flags.watch({ signal: stop.signal })) seen.push(value?.beta)
      })()
      await until(bench.clock, () => seen.length === 1)
      for (const beta of [1, 2, 3]) {
        await flags.set({ beta })
        await bench.lock.transact([{ put: 'something else', value: beta }])
        await until(bench.clock, () => seen.at(-1) === beta)
      }
      await bench.lock.transact([{ delete: 'configuration' }])
      await until(bench.clock, () => seen.at(-1) === undefined)
      stop.abort()
      await watching
      expect(seen).toEqual([0, 1, 2, 3, undefined])
    })
  })
}
