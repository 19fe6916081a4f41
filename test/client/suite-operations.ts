import { describe, expect, it } from 'vitest'
import { BadRequestError, ConflictError, LockedError } from '../../client/index.ts'
import type { GetBench } from './suite.ts'

export function describeOperations(bench: GetBench): void {
  describe('operations', () => {
    it('each op has its result', async () => {
      const { lock } = bench()
      await lock.run(async held => {
        const { applied, results, sequence } = await held.apply([
          { put: 'a', value: { deep: [1, null] } },
          { get: 'a' },
          { increment: 'n', by: 2 },
          { append: 'list', value: 'x' },
          { delete: 'none' },
        ])
        if (!applied) throw new Error('not applied')
        expect(results[0].revision).toBe(sequence)
        expect(results[1].value).toEqual({ deep: [1, null] })
        expect(results[2].value).toBe(2)
        expect(results[3].length).toBe(1)
        expect(results[4].deleted).toBe(false)
      })
    })

    it('a condition that does not hold is a value, not an exception', async () => {
      const { lock } = bench()
      await lock.transact([{ put: 'a', value: 1 }])
      const outcome = await lock.transact([{ increment: 'n' }, { put: 'a', value: 2, ifRevision: 0 }])
      expect(outcome).toMatchObject({
        applied: false,
        results: [{ applied: false }, { error: 'revision_mismatch', revision: expect.any(Number) }],
      })
      expect((await lock.get('n')).revision).toBe(0)
    })

    it('operations that are not awaited are applied in their order', async () => {
      const { lock } = bench()
      await lock.run(async held => {
        for (let value = 0; value < 10; value++) held.apply([{ append: 'list', value }])
      })
      expect((await lock.get('list')).value).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    })

    it('what the caller does to its ops afterwards changes nothing', async () => {
      const { lock, network } = bench()
      network.inject('POST ops', 'lose-answer')
      await using held = await lock.acquire()
      const ops = [{ put: 'a', value: 1 }]
      const outcome = held.apply(ops)
      ops[0]!.value = 2
      await outcome
      expect((await held.get('a')).value).toBe(1)
    })

    it('the same opId is applied once, under another grant and in transact too', async () => {
      const { lock } = bench()
      const opId = 'once'
      const ops = [{ increment: 'n' }] as const
      const first = await lock.run(held => held.apply(ops, { opId }))
      expect(await lock.run(held => held.apply(ops, { opId }))).toEqual(first)
      expect(await lock.transact(ops, { opId })).toMatchObject({ ...first })
      expect((await lock.get('n')).value).toBe(1)
    })

    it('the same opId with other ops is a conflict', async () => {
      const { lock } = bench()
      await lock.transact([{ increment: 'n' }], { opId: 'x' })
      const error = await lock.transact([{ increment: 'm' }], { opId: 'x' }).catch(error => error)
      expect(error).toBeInstanceOf(ConflictError)
      expect(error).toMatchObject({ opId: 'x', retryable: false })
    })

    it('transact answers a fence, and leaves the lock free', async () => {
      const { lock } = bench()
      const first = await lock.transact([{ increment: 'n' }])
      const second = await lock.transact([{ increment: 'n' }])
      expect(second.fence).toBeGreaterThan(first.fence)
      expect(second.sequence).toBeGreaterThan(first.sequence)
      expect((await lock.status()).holder).toBeNull()
    })

    it('transact that does not get the lock says that nothing was applied', async () => {
      const { lock } = bench()
      await using _held = await lock.acquire()
      const error = await lock.transact([{ increment: 'n' }], { waitMs: 100 }).catch(error => error)
      expect(error).toBeInstanceOf(LockedError)
      expect(error).toMatchObject({ outcome: 'not-applied', retryable: true, opId: expect.any(String) })
      expect((await lock.get('n')).revision).toBe(0)
    })

    it('what is malformed is refused, with the place', async () => {
      const { lock } = bench()
      const wrong = [{ put: 'a', value: 1, ifRevison: 0 }]
      const error = await lock.transact(wrong).catch(error => error)
      expect(error).toBeInstanceOf(BadRequestError)
      expect(error).toMatchObject({ status: 400, outcome: 'not-applied' })
      expect(JSON.stringify(error.errors)).toContain('ifRevison')
    })

    it('ten clients that increment at once count to ten', async () => {
      const { lock } = bench()
      const clients = Array.from({ length: 10 }, () => bench().client({}).lock(lock.name))
      const add = async (client: typeof lock): Promise<void> => {
        await client.run({ waitMs: 60_000 }, async held => {
          const { value, revision } = await held.get<number>('n')
          await held.apply([{ put: 'n', value: (value ?? 0) + 1, ifRevision: revision }])
        })
      }
      await Promise.all(clients.map(add))
      expect((await lock.get('n')).value).toBe(10)
    })
  })
}
