import { describe, expect, it } from 'vitest'
import { LockedError } from '../../client/index.ts'
import { createHarness, failure } from './harness.ts'

const HOUR_MS = 3_600_000

describe('a wait of an hour', () => {
  it('ends with the grant', async () => {
    const { lock, network, clock } = createHarness()
    const first = await lock.acquire()
    const waiting = lock.acquire({ waitMs: HOUR_MS })
    await clock.sleep(HOUR_MS - 1_000)
    await first.release()
    const next = await waiting
    expect(next.fence).toBe(first.fence + 1)
    const polls = network.of('GET tickets')
    expect(Math.max(...polls.map(({ url }) => Number(url.searchParams.get('waitMs'))))).toBeLessThanOrEqual(
      25_000,
    )
    expect(polls.length).toBeLessThan(200)
    await next.release()
  })

  it('ends on time if the lock is not granted, and leaves nothing behind', async () => {
    const { lock, inside, clock } = createHarness()
    await using _first = await lock.acquire()
    const before = clock.now()
    const error = await failure(lock.acquire({ waitMs: HOUR_MS }))
    expect(error).toBeInstanceOf(LockedError)
    expect(clock.now() - before).toBe(HOUR_MS)
    await clock.sleep(1_000)
    expect(inside.queue).toEqual([])
  })

  it('begins anew when the service has forgotten the ticket', async () => {
    const { lock, inside, network, clock } = createHarness()
    const first = await lock.acquire()
    const waiting = lock.acquire({ waitMs: HOUR_MS })
    await clock.sleep(60_000)
    inside.queue.length = 0
    await clock.sleep(60_000)
    expect(inside.queue).toHaveLength(1)
    await first.release()
    await (await waiting).release()
    expect(network.of('POST acquire').length).toBeGreaterThan(2)
  })

  it('begins anew when the ticket became a grant that nobody heard of in time', async () => {
    const { lock, inside, network, clock } = createHarness()
    const first = await lock.acquire()
    network.plan = ({ path }) => (path.startsWith('tickets') ? 'lose-answer' : undefined)
    const waiting = lock.acquire({ waitMs: HOUR_MS, ttlMs: 5_000 })
    await clock.sleep(10_000)
    await first.release()
    await clock.sleep(30_000)
    network.plan = () => undefined
    await using next = await waiting
    expect(inside.holder?.fence).toBe(next.fence)
    expect(next.fence).toBeGreaterThan(first.fence + 1)
  })

  it('of transact is several requests with one opId', async () => {
    const { lock, network, clock } = createHarness()
    const first = await lock.acquire()
    const waiting = lock.transact([{ increment: 'n' }], { waitMs: HOUR_MS })
    await clock.sleep(110_000)
    await first.release()
    expect(await waiting).toMatchObject({ applied: true })
    const requests = network.of('POST transact').map(({ body }) => body as { opId: string; waitMs: number })
    expect(requests).toHaveLength(5)
    expect(new Set(requests.map(({ opId }) => opId)).size).toBe(1)
    expect(new Set(requests.map(({ waitMs }) => waitMs))).toEqual(new Set([25_000]))
  })
})
