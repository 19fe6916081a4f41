/** A wait that was given up does not come back as a holder that nobody knows of. */
import { describe, expect, it } from 'vitest'
import { createBaton, NetworkError } from '../../client/index.ts'
import { WAITER_PATTERN } from '../../shared/api/ids.ts'
import { createHarness, failure } from './harness.ts'

const waiterOf = (body: unknown): string => (body as { waiter: string }).waiter

describe('an acquire', () => {
  it('names its waiter, each time by another name', async () => {
    const { lock, network } = createHarness()
    for (let count = 0; count < 20; count++) await (await lock.acquire()).release()
    const waiters = network.of('POST acquire').map(({ body }) => waiterOf(body))
    for (const waiter of waiters) expect(waiter).toMatch(WAITER_PATTERN)
    expect(new Set(waiters).size).toBe(20)
  })

  it('that is granted is not withdrawn', async () => {
    const { lock, network, clock } = createHarness()
    await using _held = await lock.acquire()
    await clock.sleep(120_000)
    expect(network.of('DELETE waiters')).toEqual([])
  })

  it('that is refused is not withdrawn: the service has said that it does not wait', async () => {
    const { lock, network, clock } = createHarness()
    await using _held = await lock.acquire()
    expect(await lock.tryAcquire()).toBeNull()
    network.inject('POST acquire', { refuse: 'forbidden' })
    expect(await failure(lock.acquire())).toMatchObject({ code: 'forbidden' })
    await clock.sleep(120_000)
    expect(network.of('DELETE waiters')).toEqual([])
  })
})

describe('an acquire that is aborted', () => {
  it.each([
    ['at once', 0],
    ['while it waits', 1_000],
  ])('%s is withdrawn, however often the withdrawal gets lost', async (_, afterMs) => {
    const { lock, network, inside, clock } = createHarness()
    const held = await lock.acquire()
    // Open workerd does not notice that the client has gone: the request goes on.
    const deaf = createBaton({
      fetch: request => network.fetch(new Request(request, { signal: new AbortController().signal })),
      clock,
    })
    network.inject('DELETE waiters', 'lose-request', { refuse: 'no_quorum' }, { status: 502 }, 'lose-answer')
    const controller = new AbortController()
    const waiting = failure(deaf.lock(lock.name).acquire({ waitMs: 20_000, signal: controller.signal }))
    await clock.sleep(afterMs)
    controller.abort()
    expect(await waiting).toMatchObject({ name: 'AbortError' })
    await clock.sleep(15_000)
    await held.release()
    await clock.sleep(10)
    expect(inside.queue).toEqual([])
    expect(inside.holder).toBeNull()
    const [asked] = network.of('POST acquire').slice(1)
    const withdrawals = network.of('DELETE waiters')
    expect(withdrawals.length).toBe(5)
    for (const { path } of withdrawals) expect(path).toBe(`waiters/${waiterOf(asked!.body)}`)
  })

  it('is withdrawn although the withdrawal is quicker', async () => {
    const { lock, server, inside, clock } = createHarness()
    let arrived = 0
    const slow = createBaton({
      fetch: async request => {
        const kept = new Request(request, { signal: new AbortController().signal })
        if (request.method === 'POST') await clock.sleep(5_000)
        if (request.method === 'POST') arrived++
        return server.fetch(kept)
      },
      clock,
    })
    const controller = new AbortController()
    const waiting = failure(slow.lock(lock.name).acquire({ signal: controller.signal }))
    await clock.sleep(100)
    controller.abort()
    await waiting
    await clock.sleep(10_000)
    expect(arrived).toBe(1)
    expect(inside.holder).toBeNull()
  })

  it('tells the Worker what goes on after its answer', async () => {
    const { lock, network, clock } = createHarness()
    const works: Promise<unknown>[] = []
    const baton = createBaton({ fetch: network.fetch, clock, waitUntil: work => works.push(work) })
    await using _held = await lock.acquire()
    const controller = new AbortController()
    const waiting = failure(baton.lock(lock.name).acquire({ signal: controller.signal }))
    await clock.sleep(100)
    controller.abort()
    await waiting
    expect(works).toHaveLength(1)
    await works[0]
    expect(network.of('DELETE waiters')).toHaveLength(1)
  })
})

describe('an acquire whose answer is lost', () => {
  it.each(['lose-request', 'lose-answer', 'cut-answer'] as const)(
    'is withdrawn and asked for again under another name (%s)',
    async fault => {
      const { lock, network, inside, clock } = createHarness()
      network.inject('POST acquire', fault)
      await using held = await lock.acquire({ waitMs: 10_000 })
      const [first, second, ...more] = network.of('POST acquire')
      expect(more).toEqual([])
      expect(waiterOf(second!.body)).not.toBe(waiterOf(first!.body))
      expect(network.of('DELETE waiters').map(({ path }) => path)).toEqual([
        `waiters/${waiterOf(first!.body)}`,
      ])
      await clock.sleep(60_000)
      expect(inside.holder?.fence).toBe(held.fence)
      expect(inside.queue).toEqual([])
    },
  )

  it('fails if there is no time left, and nobody holds the lock', async () => {
    const { lock, network, inside, clock } = createHarness()
    network.inject('POST acquire', 'lose-answer')
    expect(await failure(lock.acquire({ waitMs: 0 }))).toBeInstanceOf(NetworkError)
    await clock.sleep(10)
    expect(inside.holder).toBeNull()
  })

  it('after a time limit leaves nobody holding the lock', async () => {
    const { lock, server, inside, clock } = createHarness()
    const slow = createBaton({
      clock,
      fetch: async request => {
        const response = await server.fetch(request)
        if (request.method === 'POST') await clock.sleep(20_000)
        return response
      },
    })
    expect(await failure(slow.lock(lock.name).acquire({ waitMs: 0 }))).toMatchObject({ code: 'timeout' })
    await clock.sleep(10)
    expect(inside.holder).toBeNull()
  })
})

describe('a grant that was waited for', () => {
  const waited = async (options: { keepAlive?: boolean } = {}) => {
    const harness = createHarness()
    const first = await harness.lock.acquire()
    const waiting = harness.lock.acquire({ waitMs: 20_000, ttlMs: 60_000, ...options })
    await harness.clock.sleep(100)
    await first.release()
    const held = await waiting
    expect(held.grant.confirmMs).toBeGreaterThan(0)
    return { ...harness, held }
  }

  it('is confirmed in time, although its holder does nothing', async () => {
    const { held, inside, clock } = await waited()
    await clock.sleep(30_000)
    expect(inside.holder?.fence).toBe(held.fence)
    expect(held.signal.aborted).toBe(false)
  })

  it('is confirmed once and then left alone without keep-alives', async () => {
    const { held, inside, network, clock } = await waited({ keepAlive: false })
    await clock.sleep(50_000)
    expect(inside.holder?.fence).toBe(held.fence)
    expect(network.of('POST keepalive')).toHaveLength(1)
    await clock.sleep(20_000)
    expect(inside.holder).toBeNull()
    expect(held.signal.reason).toMatchObject({ code: 'expired' })
  })

  it('is given up by its holder before the service gives it up, if it cannot be confirmed', async () => {
    const { held, inside, network, clock } = await waited()
    network.plan = () => 'lose-request'
    await clock.sleep(held.grant.confirmMs! - 1)
    expect(held.signal.reason).toMatchObject({ code: 'expired' })
    expect(inside.holder?.fence).toBe(held.fence)
    await clock.sleep(10)
    expect(inside.holder).toBeNull()
  })

  it('needs no keep-alive if it is released soon', async () => {
    const { held, network, clock } = await waited()
    await clock.sleep(1_000)
    await held.release()
    await clock.sleep(10_000)
    expect(network.of('POST keepalive')).toEqual([])
  })
})
