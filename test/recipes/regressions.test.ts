/** Mistakes that recipes once made, each by its name. */
import { afterAll, describe, expect, it } from 'vitest'
import { createBaton, type Fetch, LockedError, TooLargeError } from '../../client/index.ts'
import {
  Barrier,
  type Delivery,
  LeaderElection,
  ReadWriteLock,
  Sequence,
  SharedConfiguration,
  WorkQueue,
} from '../../recipes/index.ts'
import { problem } from '../../shared/api/problems.ts'
import { createFakeServer } from '../client/fake-server.ts'
import { VirtualClock } from '../client/virtual-clock.ts'

const clock = new VirtualClock()
const server = createFakeServer({ clock })
afterAll(() => clock.stop())
const baton = createBaton({ fetch: server.fetch, clock })

describe('shared configuration', () => {
  /** A service whose lock has been deleted, and made again, whenever somebody begins to watch. */
  function configurationOf(own: VirtualClock, values: readonly string[]): SharedConfiguration<string> {
    const left = [...values]
    const encoder = new TextEncoder()
    const fetch: Fetch = async request => {
      const entryOf = (value: string) => ({ key: 'configuration', value, revision: 2 })
      if (request.url.includes('/state'))
        return Response.json({ entries: [entryOf(left.shift()!)], cursor: null, sequence: 2 })
      const next = left.shift()
      const data = { sequence: 2, anew: true, entries: next === undefined ? [] : [entryOf(next)] }
      const text = `id: 2\nevent: snapshot\ndata: ${JSON.stringify(data)}\n\n`
      const start = (controller: ReadableStreamDefaultController) => {
        controller.enqueue(encoder.encode(next === undefined ? ': nothing\n\n' : text))
        if (left.length > 0) controller.close()
      }
      return new Response(new ReadableStream({ start }), { headers: { 'content-type': 'text/event-stream' } })
    }
    return new SharedConfiguration(createBaton({ fetch, clock: own }).lock('conf'))
  }

  it('tells whoever watches what the next lock of the name holds, at the same revision', async () => {
    const own = new VirtualClock()
    const stop = new AbortController()
    const seen: unknown[] = []
    const watching = (async () => {
      const configuration = configurationOf(own, ['a', 'b', 'b', 'c'])
      for await (const one of configuration.watch({ signal: stop.signal })) seen.push(one)
    })()
    await own.sleep(10_000)
    stop.abort()
    await watching
    own.stop()
    expect(seen).toEqual(['a', 'b', 'c'].map(value => ({ value, revision: 2 })))
  })
})

describe('work queue', () => {
  async function deliveryFrom(name: string, fetch: Fetch = server.fetch): Promise<Delivery> {
    const lock = createBaton({ fetch, clock }).lock(name)
    await lock.transact([{ put: 'total', value: 'not a number' }])
    const queue = new WorkQueue(lock, { clock })
    await queue.add('mail', { id: 'one' })
    return (await queue.take())!
  }
  const count = [{ increment: 'total' }] as const

  it('done: after ops that were refused, it may be said with others', async () => {
    const delivery = await deliveryFrom('queue-1')
    await expect(delivery.done(count)).rejects.toMatchObject({ code: 'not_a_number' })
    // The worker gives up counting.
    expect(await delivery.done()).toBe(true)
  })

  it('done: ops that were refused may be said again once they are possible', async () => {
    const delivery = await deliveryFrom('queue-2')
    for (const _ of ['once', 'twice'])
      await expect(delivery.done(count)).rejects.toMatchObject({ code: 'not_a_number' })
    await baton.lock('queue-2').transact([{ put: 'total', value: 0 }])
    expect(await delivery.done(count)).toBe(true)
    expect((await baton.lock('queue-2').get('total')).value).toBe(1)
  })

  it('done: after a refusal and then a lost answer, it says once more what was done', async () => {
    let isDeaf = false
    const delivery = await deliveryFrom('queue-3', async request => {
      const answer = await server.fetch(request)
      if (isDeaf) throw new TypeError('the answer got lost')
      return answer
    })
    await expect(delivery.done(count)).rejects.toMatchObject({ code: 'not_a_number' })
    await baton.lock('queue-3').transact([{ put: 'total', value: 0 }])
    isDeaf = true
    await expect(delivery.done(count)).rejects.toMatchObject({ outcome: 'unknown' })
    isDeaf = false
    expect(await delivery.done(count)).toBe(true)
    expect((await baton.lock('queue-3').get('total')).value).toBe(1)
  })

  it('work: goes on if the lock is lost in the middle of a claim', async () => {
    const lost = problem('ejected', 'Somebody has forced it out.', { outcome: 'unknown' })
    let isFirst = true
    const fetch: Fetch = async request => {
      const answer = await server.fetch(request)
      if (!isFirst || !request.url.endsWith('/ops')) return answer
      isFirst = false
      server.lock('queue-5').end('ejected')
      return Response.json(lost, { status: lost.status })
    }
    await new WorkQueue(baton.lock('queue-5')).add('mail', { id: 'one' })
    const queue = new WorkQueue(createBaton({ fetch, clock }).lock('queue-5'), { clock })
    const stop = new AbortController()
    const seen: number[] = []
    await queue.work(
      ({ attempt }) => {
        seen.push(attempt)
        stop.abort()
      },
      { signal: stop.signal },
    )
    // The first delivery was lost with the grant.
    expect(seen).toEqual([2])
  })
})

describe('leader election', () => {
  const tooLarge = 'x'.repeat(140_000)

  it('nobody leads unseen: a value that is too large is refused, and the lock given back', async () => {
    const election = new LeaderElection(baton.lock('election-1'), { name: 'a' })
    await expect(election.campaign({ value: tooLarge })).rejects.toThrow(TooLargeError)
    expect(await election.leader()).toBeNull()
    expect(await election.campaign({ waitMs: 0 })).toMatchObject({ term: 2 })
  })

  it('a leader whose news cannot be told hears so, and goes on', async () => {
    const election = new LeaderElection(baton.lock('election-2'), { name: 'a' })
    const leadership = await election.campaign({ value: 1 })
    await expect(leadership.publish(tooLarge)).rejects.toThrow(TooLargeError)
    expect(leadership.signal.aborted).toBe(false)
    expect(await election.leader()).toMatchObject({ value: 1 })
  })
})

describe('sequence numbers', () => {
  it('who stops waiting for a block does not stop the others, and stops at once', async () => {
    const lock = baton.lock('numbers-1')
    const held = await lock.acquire()
    const sequence = new Sequence(lock, { block: 10 })
    const stop = new AbortController()
    const first = sequence.next({ signal: stop.signal })
    const [second, third] = [sequence.next(), sequence.next({ signal: new AbortController().signal })]
    stop.abort()
    await expect(first).rejects.toMatchObject({ code: 'aborted' })
    await expect(sequence.next({ signal: stop.signal })).rejects.toMatchObject({ code: 'aborted' })
    expect((await lock.get('sequence')).value).toBeNull()
    await held.release()
    expect([await second, await third]).toEqual([1, 2])
  })

  it('those of several keys of one lock do not mix up what their numbers are for', async () => {
    const lock = baton.lock('numbers-2')
    const long = 'long/'.repeat(20)
    const ofKey = (key: string) => new Sequence(lock, { key })
    expect(await ofKey('invoices').next({ id: '2026/7' })).toBe(1)
    expect(await ofKey('invoices/2026').next({ id: '7' })).toBe(1)
    expect(await ofKey(`${long}a`).next({ id: '7' })).toBe(1)
    expect(await ofKey(`${long}b`).next({ id: '7' })).toBe(1)
    // Whoever asks again, in whatever process, gets the same.
    expect(await ofKey('invoices').next({ id: '8' })).toBe(2)
    expect(await ofKey('invoices').next({ id: '2026/7' })).toBe(1)
  })
})

describe('read-write lock', () => {
  /** A writer at work for longer than others go without a sign of life. */
  async function writing(name: string) {
    const rates = new ReadWriteLock(baton.lock(name), { clock })
    let isWriting = false
    const written = rates.write(async held => {
      isWriting = true
      await clock.sleep(40_000)
      await held.apply([{ put: 'eur', value: 1 }])
    })
    while (!isWriting) await clock.sleep(10)
    return { rates, written }
  }

  it('a reader waits for as long as it wants, also for a writer that takes long', async () => {
    const { rates, written } = await writing('rates-1')
    const reading = rates.read(async ({ get }) => (await get('eur')).value, { waitMs: 120_000 })
    await written
    expect(await reading).toBe(1)
  })

  it('so does a second writer', async () => {
    const { rates, written } = await writing('rates-2')
    const second = rates.write(held => held.get('eur'), { waitMs: 120_000 })
    await written
    expect(await second).toMatchObject({ value: 1 })
  })

  it('whoever has less time is told when it is over, and not before', async () => {
    const { rates, written } = await writing('rates-3')
    const began = clock.now()
    await expect(rates.read(() => {}, { waitMs: 22_000 })).rejects.toMatchObject({
      code: 'locked',
      detail: expect.stringContaining('others read or write'),
    })
    expect(Math.round((clock.now() - began) / 1_000)).toBe(22)
    await written
  })

  it('whoever comes while others hold the lock waits, too', async () => {
    const lock = baton.lock('rates-4')
    const rates = new ReadWriteLock(lock, { clock })
    const held = await lock.acquire()
    const work = Promise.all([rates.read(() => 'read'), rates.write(() => 'written')])
    await clock.sleep(30_000)
    await held.release()
    expect(await work).toEqual(['read', 'written'])
  })

  it('a writer that has lost the lock, and shows no sign of life, is in the way for a while', async () => {
    const { rates, written } = await writing('rates-5')
    const began = clock.now()
    const reading = rates.read(() => 'read')
    await clock.sleep(10_000)
    server.lock('rates-5').end('expired')
    expect(await reading).toBe('read')
    expect(Math.round((clock.now() - began) / 1_000)).toBe(15)
    await expect(written).rejects.toMatchObject({ code: 'expired' })
  })
})

describe('others who hold the lock', () => {
  it('a barrier: whoever arrives meanwhile waits for as long as it wants', async () => {
    const lock = baton.lock('barrier')
    const barrier = new Barrier(lock, { parties: 2, clock })
    const held = await lock.acquire()
    const arriving = [barrier.arrive('a', { waitMs: 60_000 }), barrier.arrive('b', { waitMs: 60_000 })]
    await clock.sleep(30_000)
    await held.release()
    expect(await Promise.all(arriving)).toEqual([1, 1])
  })

  it('a barrier: whoever cannot leave it is not told that it has not arrived', async () => {
    const lock = baton.lock('barrier-2')
    const barrier = new Barrier(lock, { parties: 2, clock })
    const arriving = barrier.arrive('a', { waitMs: 5_000 })
    await clock.sleep(1_000)
    const held = await lock.acquire()
    await expect(arriving).rejects.toMatchObject({
      name: 'TimeoutError',
      outcome: 'unknown',
      detail: expect.stringContaining('while others hold the lock'),
    })
    await held.release()
    expect(await barrier.look()).toEqual({ round: 1, arrived: ['a'] })
    // Once it can be said, it is.
    await expect(barrier.arrive('a', { waitMs: 0 })).rejects.toThrow(LockedError)
    expect(await barrier.look()).toEqual({ round: 1, arrived: [] })
  })

  it('a queue: whoever wants an item waits for as long as it wants', async () => {
    const lock = baton.lock('queue-4')
    const queue = new WorkQueue(lock, { clock })
    await queue.add('mail', { id: 'one' })
    const held = await lock.acquire()
    const taking = queue.take({ waitMs: 60_000 })
    await clock.sleep(30_000)
    await held.release()
    expect(await taking).toMatchObject({ id: 'one' })
  })
})
