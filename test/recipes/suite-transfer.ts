import { describe, expect, it } from 'vitest'
import { type Baton, ConflictError, type Lock } from '../../client/index.ts'
import { openTransfers, recoverTransfers, transfer } from '../../recipes/index.ts'
import type { GetKitchen } from './suite.ts'

export function describeTransfer(kitchen: GetKitchen): void {
  describe('transfer between two locks', () => {
    const accountsOf = (baton: Baton, name: string) =>
      [baton.lock(`${name.slice(0, 60)}:a`), baton.lock(`${name.slice(0, 60)}:b`)] as const
    const accounts = () => accountsOf(kitchen().bench.baton, kitchen().bench.lock.name)
    const balanceOf = async (lock: Lock) => (await lock.get<number>('balance')).value ?? 0
    const deposit = (lock: Lock, amount: number) =>
      lock.transact([{ put: 'balance', value: amount }], { opId: 'deposit' })

    it('moves an amount once, however often it is asked for', async () => {
      const [from, to] = accounts()
      await deposit(from, 100)
      for (let count = 0; count < 2; count++) {
        expect(await transfer({ from, to, amount: 30, id: 'rent' })).toEqual({ done: true })
      }
      expect([await balanceOf(from), await balanceOf(to)]).toEqual([70, 30])
      expect(await openTransfers(from)).toEqual([])
    })

    it('takes nothing that is not there', async () => {
      const [from, to] = accounts()
      await deposit(from, 10)
      const tooMuch = { from, to, amount: 11, id: 'rent' }
      expect(await transfer(tooMuch)).toEqual({ done: false, because: 'too-little' })
      expect([await balanceOf(from), await balanceOf(to)]).toEqual([10, 0])
      await expect(transfer({ ...tooMuch, amount: 0 })).rejects.toThrow(RangeError)
      await expect(transfer({ ...tooMuch, to: from })).rejects.toThrow('two locks')
    })

    it('gives back what the other has no room for', async () => {
      const [from, to] = accounts()
      await deposit(from, 100)
      await deposit(to, Number.MAX_SAFE_INTEGER)
      for (let count = 0; count < 2; count++) {
        const outcome = await transfer({ from, to, amount: 30, id: 'rent' })
        expect(outcome).toEqual({ done: false, because: 'refused' })
      }
      expect(await balanceOf(from)).toBe(100)
    })

    it('does not deadlock, nor lose anything, in both directions at once', async () => {
      const [one, other] = accounts()
      await Promise.all([deposit(one, 100), deposit(other, 100)])
      const transfers = Array.from({ length: 8 }, (_, index) => {
        const [from, to] = index % 2 === 0 ? [one, other] : [other, one]
        return transfer({ from, to, amount: 10 + index, id: `t${index}` })
      })
      expect(await Promise.all(transfers)).toEqual(Array(8).fill({ done: true }))
      expect(await balanceOf(one)).toBe(100 - (10 + 12 + 14 + 16) + (11 + 13 + 15 + 17))
      expect((await balanceOf(one)) + (await balanceOf(other))).toBe(200)
    })

    it('refuses an id that is that of another transfer', async () => {
      const [from, to] = accounts()
      await deposit(from, 100)
      const open = { rent: { to: to.name, amount: 30, claim: 'somebody' } }
      await from.transact([{ put: 'transfers', value: { open, finished: [] } }])
      await expect(transfer({ from, to, amount: 31, id: 'rent' })).rejects.toThrow(ConflictError)
    })

    it('is not added twice by one that claimed it before and comes too late', async () => {
      const { bench } = kitchen()
      const [from, to] = accounts()
      await deposit(from, 100)
      let isStalled = true
      const stalled = bench.client({
        // Everything that it sends to the taker waits until the others are long done.
        fetch: async request => {
          while (isStalled && decodeURIComponent(request.url).includes(to.name)) await bench.clock.sleep(100)
          return bench.service.fetch(request)
        },
        timeoutMs: 600_000,
      })
      const late = transfer({
        from: stalled.lock(from.name),
        to: stalled.lock(to.name),
        amount: 30,
        id: 'rent',
      })
      while ((await openTransfers(from)).length === 0) await bench.clock.sleep(50)
      expect(await recoverTransfers(from, name => bench.baton.lock(name))).toBe(1)
      // The note of the first is forgotten with the next: only its fence is left to refuse it.
      expect(await transfer({ from, to, amount: 1, id: 'next' })).toEqual({ done: true })
      expect((await to.get<{ ids: string[] }>(`received/${from.name}`)).value?.ids).toEqual(['next'])
      isStalled = false
      expect(await late).toEqual({ done: true })
      expect([await balanceOf(from), await balanceOf(to)]).toEqual([69, 31])
    })

    it('is finished by the last claim alone', async () => {
      const { bench } = kitchen()
      const [from, to] = accounts()
      await deposit(from, 100)
      let requests = 0
      let other = 0
      const overtaken = bench.client({
        fetch: async request => {
          const url = decodeURIComponent(request.url)
          // Just before it finishes the transfer, somebody else claims it.
          if (url.endsWith(`${from.name}/transact`) && ++requests === 2) {
            const open = { rent: { to: to.name, amount: 30, claim: 'other' } }
            other = (await from.transact([{ put: 'transfers', value: { open, finished: [] } }])).fence
          }
          return bench.service.fetch(request)
        },
      })
      const options = { from: overtaken.lock(from.name), to: overtaken.lock(to.name), amount: 30, id: 'rent' }
      expect(await transfer(options)).toEqual({ done: true })
      // It had to claim it once more, so the taker refuses the other one from now on.
      const received = await to.get<{ fence: number }>(`received/${from.name}`)
      expect(received.value!.fence).toBeGreaterThan(other)
      expect([await balanceOf(from), await balanceOf(to)]).toEqual([70, 30])
    })

    it('is all or nothing, whenever its process dies, and anybody can go on', async () => {
      const deaths = await kitchen().dieEverywhere({
        work: async ({ baton, name, signal }) => {
          const [from, to] = accountsOf(baton, name)
          await deposit(accountsOf(kitchen().bench.baton, name)[0], 100)
          await transfer({ from, to, amount: 30, id: 'rent', signal })
        },
        check: async name => {
          const { baton } = kitchen().bench
          const [from, to] = accountsOf(baton, name)
          await recoverTransfers(from, other => baton.lock(other))
          expect(await openTransfers(from)).toEqual([])
          const moved = await balanceOf(to)
          expect([0, 30]).toContain(moved)
          expect(await balanceOf(from)).toBe(100 - moved)
          expect(await transfer({ from, to, amount: 30, id: 'rent' })).toEqual({ done: true })
          expect([await balanceOf(from), await balanceOf(to)]).toEqual([70, 30])
        },
      })
      expect(deaths).toBeGreaterThan(1)
    })
  })
}
