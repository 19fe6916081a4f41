import { describe, expect, it } from 'vitest'
import { EjectedError, LockedError } from '../../client/index.ts'
import { type Leader, LeaderElection, oncePerSlot, slotOf } from '../../recipes/index.ts'
import { newLockName } from '../client/suite.ts'
import { type GetKitchen, until } from './suite.ts'

export function describeLeading(kitchen: GetKitchen): void {
  describe('leader election', () => {
    it('elects one at a time, in terms that grow', async () => {
      const { lock } = kitchen().bench
      const [first, second] = ['a', 'b'].map(name => new LeaderElection(lock, { name, ttlMs: 2_000 }))
      const one = await first!.campaign({ value: { at: 'eu' } })
      expect(await second!.leader()).toEqual({ name: 'a', term: one.term, value: { at: 'eu' } })
      await expect(second!.campaign({ waitMs: 100 })).rejects.toThrow(LockedError)
      const next = second!.campaign()
      await one.resign()
      const two = await next
      expect(two.term).toBeGreaterThan(one.term)
      expect(one.signal.aborted && one.lost === undefined).toBe(true)
      await two.resign()
      expect(await first!.leader()).toBeNull()
    })

    it('tells a leader that it was thrown out, and refuses what it does then', async () => {
      const { lock } = kitchen().bench
      const election = new LeaderElection(lock, { name: 'a', ttlMs: 5_000 })
      const leadership = await election.campaign()
      await lock.eject({ fence: leadership.term })
      // Its record is still there, but it leads no longer.
      await until(kitchen().bench.clock, async () => (await election.leader()) === null)
      const next = await new LeaderElection(lock, { name: 'b' }).campaign()
      await until(kitchen().bench.clock, () => leadership.signal.aborted)
      expect(leadership.lost).toBeInstanceOf(EjectedError)
      await expect(leadership.publish('late')).rejects.toThrow(EjectedError)
      expect(await election.leader()).toMatchObject({ name: 'b', term: next.term })
      await leadership.resign()
      await next.resign()
    })

    it('shows each leader to those who observe', async () => {
      const { lock, clock, client } = kitchen().bench
      const stop = new AbortController()
      const seen: (Leader | null)[] = []
      const observer = new LeaderElection(client.call(kitchen().bench, {}).lock(lock.name), {
        name: 'observer',
      })
      const observing = (async () => {
        for await (const leader of observer.observe({ signal: stop.signal })) seen.push(leader)
      })()
      const names = () => seen.map(leader => leader?.name ?? null)
      for (const name of ['a', 'b']) {
        const leadership = await new LeaderElection(lock, { name }).campaign()
        await until(clock, () => names().at(-1) === name)
        await leadership.publish('news')
        await until(clock, () => seen.at(-1)?.value === 'news')
        await leadership.resign()
        await until(clock, () => names().at(-1) === null)
      }
      stop.abort()
      await observing
      expect(names().filter(name => name !== null)).toEqual(['a', 'a', 'b', 'b'])
    })

    it('has another leader soon, whenever the first dies', async () => {
      const deaths = await kitchen().dieEverywhere({
        work: async ({ baton, name, signal }) => {
          const election = new LeaderElection(baton.lock(name), { name: 'mortal', ttlMs: 1_000 })
          const leadership = await election.campaign({ signal })
          await leadership.publish('at work')
          await leadership.resign()
        },
        check: async name => {
          const { baton } = kitchen().bench
          const election = new LeaderElection(baton.lock(name), { name: 'heir', ttlMs: 1_000 })
          const leadership = await election.campaign({ waitMs: 60_000 })
          expect(await election.leader()).toMatchObject({ name: 'heir', term: leadership.term })
          await leadership.resign()
        },
      })
      expect(deaths).toBeGreaterThan(1)
    })
  })

  describe('once per time slot', () => {
    it('runs a job once, whoever starts it', async () => {
      const { lock } = kitchen().bench
      const ran: number[] = []
      const start = (slot: number) =>
        oncePerSlot(lock, slot, ({ fence }) => void ran.push(fence), { waitMs: 60_000 })
      const outcomes = await Promise.all([1, 2, 3, 4].map(() => start(1_000)))
      expect(outcomes.filter(({ ran }) => ran)).toHaveLength(1)
      expect(outcomes.filter(outcome => !outcome.ran).map(outcome => outcome)).toEqual(
        Array(3).fill({ ran: false, because: 'done' }),
      )
      expect(await start(2_000)).toMatchObject({ ran: true })
      expect(await start(1_000)).toEqual({ ran: false, because: 'past' })
      expect(ran).toHaveLength(2)
      expect(ran[1]).toBeGreaterThan(ran[0]!)
    })

    it('says that somebody else is at it', async () => {
      const { lock } = kitchen().bench
      const held = await lock.acquire()
      const options = { waitMs: 50 }
      expect(await oncePerSlot(lock, 1, () => {}, options)).toEqual({ ran: false, because: 'busy' })
      await held.release()
    })

    it('repeats a job that failed, or does not, as it was told', async () => {
      for (const promise of ['at-least-once', 'at-most-once'] as const) {
        const lock = kitchen().bench.baton.lock(newLockName())
        const fail = () => Promise.reject(new LockedError({ ...LOCKED }))
        await expect(oncePerSlot(lock, 7, fail, { promise })).rejects.toThrow(LockedError)
        const again = await oncePerSlot(lock, 7, () => 'done', { promise })
        expect(again.ran).toBe(promise === 'at-least-once')
      }
    })

    it('leaves the slot open if the turn was lost, and tells so', async () => {
      const { lock } = kitchen().bench
      const lost = oncePerSlot(lock, 7, async ({ fence, signal }) => {
        await lock.eject({ fence })
        await until(kitchen().bench.clock, () => signal.aborted)
      })
      await expect(lost).rejects.toThrow(EjectedError)
      expect(await oncePerSlot(lock, 7, () => 'again')).toEqual({ ran: true, value: 'again' })
    })

    it.each(['at-least-once', 'at-most-once'] as const)(
      'keeps %s, whenever its process dies',
      async promise => {
        const deaths = await kitchen().dieEverywhere({
          work: ({ baton, name, signal }) =>
            oncePerSlot(baton.lock(name), 7, ({ held }) => held.apply([{ increment: 'effects' }]), {
              ...{ ttlMs: 1_000, promise, signal },
            }),
          check: async name => {
            const lock = kitchen().bench.baton.lock(name)
            const job = ({ held }: { held: { apply: typeof lock.transact } }) =>
              held.apply([{ increment: 'effects' }])
            await oncePerSlot(lock, 7, job as never, { waitMs: 60_000, promise })
            const effects = (await lock.get<number>('effects')).value ?? 0
            if (promise === 'at-least-once') expect(effects).toBeGreaterThan(0)
            else expect(effects).toBeLessThan(2)
            expect(await oncePerSlot(lock, 7, () => {}, { promise })).toEqual({ ran: false, because: 'done' })
          },
        })
        expect(deaths).toBeGreaterThan(1)
      },
    )

    it('knows the slot of a time', () => {
      expect(slotOf(new Date(125_000), 60_000)).toBe(120_000)
      expect(slotOf(120_000, 60_000)).toBe(120_000)
    })
  })
}

const LOCKED = { code: 'locked', status: 409, detail: 'of another lock', retryable: true }
