import { describe, expect, it } from 'vitest'
import { TooManyError } from '../../client/index.ts'
import { type Delivery, WorkQueue } from '../../recipes/index.ts'
import { type GetKitchen, until } from './suite.ts'

export function describeQueue(kitchen: GetKitchen): void {
  describe('work queue', () => {
    const queueOf = (options: object = {}, baton = kitchen().bench.baton, name = kitchen().bench.lock.name) =>
      new WorkQueue<string>(baton.lock(name), { leaseMs: 1_000, clock: kitchen().bench.clock, ...options })

    it('delivers what was added, the oldest first, until it is done', async () => {
      const queue = queueOf()
      expect(await queue.take()).toBeNull()
      for (const value of ['a', 'b', 'c']) await queue.add(value)
      const deliveries: Delivery<string>[] = []
      for (let count = 0; count < 3; count++) deliveries.push((await queue.take())!)
      expect(deliveries.map(({ value }) => value)).toEqual(['a', 'b', 'c'])
      const fences = deliveries.map(({ fence }) => fence)
      expect(fences).toEqual([...fences].sort((left, right) => left - right))
      expect(new Set(fences).size).toBe(3)
      for (const delivery of deliveries) expect(await delivery.done()).toBe(true)
      expect(await queue.take()).toBeNull()
    })

    it('delivers each item to one worker', async () => {
      const queue = queueOf({ leaseMs: 60_000 })
      const values = Array.from({ length: 12 }, (_, index) => `item ${index}`)
      await Promise.all(values.map(value => queue.add(value)))
      const taken = await Promise.all(values.map(() => queueOf({ leaseMs: 60_000 }).take()))
      expect(taken.map(delivery => delivery?.value).sort()).toEqual([...values].sort())
    })

    it('adds an id once while it is there', async () => {
      const queue = queueOf()
      const added = await Promise.all([1, 2, 3].map(() => queue.add('a', { id: 'x' })))
      expect(added.filter(({ isNew }) => isNew)).toHaveLength(1)
      const delivery = await queue.take()
      expect(await queue.add('b', { id: 'x' })).toEqual({ id: 'x', isNew: false })
      await delivery!.done()
      expect(await queue.take()).toBeNull()
      expect(await queue.add('b', { id: 'x' })).toEqual({ id: 'x', isNew: true })
    })

    it('has a limit', async () => {
      const queue = queueOf({ capacity: 2 })
      await queue.add('a')
      await queue.add('b')
      await expect(queue.add('c')).rejects.toThrow(TooManyError)
      await (await queue.take())!.done()
      expect(await queue.add('c')).toMatchObject({ isNew: true })
    })

    it('waits for an item, and is told of it', async () => {
      const queue = queueOf()
      const taken = queue.take({ waitMs: 60_000 })
      await kitchen().bench.clock.sleep(200)
      await queue.add('late')
      expect((await taken)!.value).toBe('late')
    })

    it('delivers again when the lease is over, and tells the worker that came late', async () => {
      const queue = queueOf()
      await queue.add('a')
      const first = (await queue.take())!
      const second = (await queue.take({ waitMs: 60_000 }))!
      expect([second.value, second.attempt]).toEqual(['a', 2])
      expect(second.fence).toBeGreaterThan(first.fence)
      expect(await first.done([{ increment: 'effects' }])).toBe(false)
      expect(first.signal.aborted).toBe(true)
      expect(await first.extend()).toBe(false)
      expect(await second.done([{ increment: 'effects' }])).toBe(true)
      expect((await kitchen().bench.lock.get('effects')).value).toBe(1)
    })

    it('keeps an item whose lease is extended, and gives one back', async () => {
      const queue = queueOf({ leaseMs: 2_000 })
      await queue.add('a')
      const delivery = (await queue.take())!
      await kitchen().bench.clock.sleep(1_200)
      expect(await delivery.extend()).toBe(true)
      await kitchen().bench.clock.sleep(1_200)
      expect(await queue.take()).toBeNull()
      expect(await delivery.giveBack()).toBe(true)
      expect(await delivery.done()).toBe(false)
      expect(await queue.take()).toMatchObject({ value: 'a', attempt: 2 })
    })

    it('applies what belongs to an item once, when an answer gets lost', async () => {
      const { network, lock } = kitchen().bench
      const queue = queueOf()
      await queue.add('a')
      const delivery = (await queue.take())!
      network.inject('POST transact', 'lose-answer', 'lose-answer')
      expect(await delivery.done([{ increment: 'effects' }])).toBe(true)
      expect(await delivery.done([{ increment: 'effects' }])).toBe(true)
      expect((await lock.get('effects')).value).toBe(1)
    })

    it('still knows its item after an extension whose answer got lost', async () => {
      const { bench } = kitchen()
      const queue = queueOf({ leaseMs: 60_000 }, bench.client({ retry: { attempts: 1 } }))
      await queue.add('a')
      const delivery = (await queue.take())!
      bench.network.inject('POST ops', 'lose-answer')
      await expect(delivery.extend()).rejects.toMatchObject({ outcome: 'unknown' })
      expect(await delivery.done()).toBe(true)
    })

    it('puts aside what was delivered too often', async () => {
      const queue = queueOf({ deliveries: 2, capacity: 1 })
      await queue.add('poison', { id: 'x' })
      for (let attempt = 1; attempt <= 2; attempt++) await (await queue.take())!.giveBack()
      expect(await queue.take()).toBeNull()
      const dead: object[] = []
      for await (const item of queue.dead()) dead.push(item)
      expect(dead).toEqual([{ id: 'x', value: 'poison', deliveries: 2 }])
      await expect(queue.add('b')).rejects.toThrow(TooManyError)
      expect([await queue.removeDead('x'), await queue.removeDead('x')]).toEqual([true, false])
      expect(await queue.add('b')).toMatchObject({ isNew: true })
    })

    it('works off what there is, and repeats what failed', async () => {
      const queue = queueOf()
      const stop = new AbortController()
      const handled: string[] = []
      const working = queue.work(
        ({ value, attempt }) => {
          handled.push(`${value} ${attempt}`)
          if (value === 'b' && attempt === 1) throw new Error('it fails once')
        },
        { signal: stop.signal, retryMs: 10 },
      )
      for (const value of ['a', 'b', 'c']) await queue.add(value)
      await until(kitchen().bench.clock, () => handled.includes('b 2') && handled.length === 4)
      stop.abort()
      await working
      expect([...handled].sort()).toEqual(['a 1', 'b 1', 'b 2', 'c 1'])
    })

    it('extends the lease of an item that takes long', async () => {
      const queue = queueOf({ leaseMs: 1_500 })
      const stop = new AbortController()
      await queue.add('long')
      const attempts: number[] = []
      const handler = async ({ attempt }: { readonly attempt: number }) => {
        attempts.push(attempt)
        await kitchen().bench.clock.sleep(4_000)
        stop.abort()
      }
      const other = queueOf({ leaseMs: 1_500 })
      await Promise.all([1, 2].map(() => other.work(handler, { signal: stop.signal })))
      expect(attempts).toEqual([1])
      expect(await queue.take()).toBeNull()
    })

    it('loses nothing and applies everything once, whenever a worker dies', async () => {
      const deaths = await kitchen().dieEverywhere({
        work: async ({ baton, name, signal }) => {
          const queue = queueOf({}, baton, name)
          await queue.add('a', { id: 'x' })
          const delivery = await queue.take({ signal })
          await delivery!.extend()
          await delivery!.done([{ append: 'effects', value: 'a' }])
        },
        check: async name => {
          const queue = queueOf({}, undefined, name)
          const { lock } = kitchen().bench
          const { value: before } = await kitchen().bench.baton.lock(name).get<string[]>('effects')
          if (before === null) {
            await queue.add('a', { id: 'x' })
            const delivery = await queue.take({ waitMs: 60_000 })
            expect(await delivery!.done([{ append: 'effects', value: 'a' }])).toBe(true)
          }
          expect(lock.name).not.toBe(name)
          expect((await kitchen().bench.baton.lock(name).get('effects')).value).toEqual(['a'])
          expect(await queue.take()).toBeNull()
        },
      })
      expect(deaths).toBeGreaterThan(1)
    })
  })
}
