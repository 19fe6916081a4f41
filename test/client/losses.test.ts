/** How a holder hears that it has lost the lock. */
import { describe, expect, it } from 'vitest'
import { createHarness, failure } from './harness.ts'

const TTL_MS = 30_000

describe('hearLoss', () => {
  it('tells the holder at once that it was ejected', async () => {
    const { lock, inside, clock } = createHarness()
    const held = await lock.acquire({ ttlMs: TTL_MS, hearLoss: true })
    await clock.sleep(40_000)
    expect(held.signal.aborted).toBe(false)
    const before = clock.now()
    inside.end('ejected')
    await clock.sleep(1)
    expect(held.lost).toMatchObject({ code: 'ejected' })
    expect(held.signal.reason).toBe(held.lost)
    expect(clock.now() - before).toBe(1)
  })

  it('has one request under way all the time, and needs no more of them than keep-alives', async () => {
    const { lock, network, clock } = createHarness({ random: () => 0.5 })
    const held = await lock.acquire({ ttlMs: TTL_MS, hearLoss: true })
    await clock.sleep(95_000)
    const sent = network.of('POST keepalive')
    expect(sent.length).toBe(10)
    for (const { body } of sent) expect(body).toMatchObject({ waitMs: 9_500 })
    await held.release()
    await clock.sleep(60_000)
    expect(network.of('POST keepalive')).toHaveLength(10)
  })

  it('keeps the lock through failures, and gives up before the service does', async () => {
    const { lock, network, inside, clock } = createHarness()
    const held = await lock.acquire({ ttlMs: TTL_MS, hearLoss: true })
    network.inject(
      'POST keepalive',
      undefined,
      'lose-request',
      'lose-answer',
      { refuse: 'no_quorum' },
      'hang',
    )
    await clock.sleep(120_000)
    expect(held.signal.aborted).toBe(false)
    network.plan = ({ path }) => (path.endsWith('keepalive') ? 'hang' : undefined)
    while (!held.signal.aborted) await clock.sleep(100)
    expect(inside.holder?.fence).toBe(held.fence)
    expect(held.lost).toMatchObject({ code: 'expired' })
  })

  it('without it, the holder hears of it at the next keep-alive', async () => {
    const { lock, inside, clock } = createHarness()
    const held = await lock.acquire({ ttlMs: TTL_MS })
    inside.end('ejected')
    await clock.sleep(1)
    expect(held.lost).toBeUndefined()
    await clock.sleep(TTL_MS / 2)
    expect(held.lost).toMatchObject({ code: 'ejected' })
  })
})

describe('a watch of the same client', () => {
  const watched = async () => {
    const harness = createHarness()
    const { lock, clock } = harness
    const stop = new AbortController()
    const watching = (async () => {
      for await (const _ of lock.watch({ signal: stop.signal })) {
      }
    })()
    await clock.sleep(10)
    const held = await lock.acquire({ ttlMs: TTL_MS })
    const end = () => {
      stop.abort()
      return watching
    }
    return { ...harness, held, end }
  }

  it('tells the holder at once that somebody else has the lock', async () => {
    const { lock, inside, clock, held, end } = await watched()
    const next = lock.acquire({ waitMs: 20_000 })
    await clock.sleep(100)
    inside.end('ejected')
    await clock.sleep(5)
    expect(held.lost).toMatchObject({ code: 'ejected' })
    await (await next).release()
    await end()
  })

  it('makes nobody ask who holds the lock with that fence', async () => {
    const { network, clock, end } = await watched()
    await clock.sleep(5_000)
    expect(network.of('POST keepalive')).toEqual([])
    await end()
  })
})

describe('rejectIfLost', () => {
  it('rejects with the reason although the callback resolved', async () => {
    const { lock, inside } = createHarness()
    const work = lock.run({ rejectIfLost: true }, () => {
      inside.end('ejected')
      return 'done'
    })
    expect(await failure(work)).toMatchObject({ code: 'ejected' })
  })

  it('rejects also if the holder knew', async () => {
    const { lock, inside, clock } = createHarness()
    const work = lock.run({ rejectIfLost: true }, async () => {
      inside.end('expired')
      await clock.sleep(60_000)
    })
    expect(await failure(work)).toMatchObject({ code: 'expired' })
  })

  it('rejects if nobody can tell', async () => {
    const { lock, network } = createHarness()
    network.plan = ({ method }) => (method === 'DELETE' ? 'lose-request' : undefined)
    expect(await failure(lock.run({ rejectIfLost: true }, () => 1))).toMatchObject({ code: 'network' })
  })

  it('resolves as the callback does if the lock was held, also if the release was lost once', async () => {
    const { lock, network } = createHarness()
    network.inject('DELETE grants', 'lose-answer')
    expect(await lock.run({ rejectIfLost: true }, () => 'done')).toBe('done')
  })

  it('does not hide what the callback threw', async () => {
    const { lock, inside } = createHarness()
    const work = lock.run({ rejectIfLost: true }, () => {
      inside.end('ejected')
      throw new Error('its own')
    })
    expect(await failure(work)).toMatchObject({ message: 'its own' })
  })

  it('is not asked for: the callback decides, and `lost` says so all the same', async () => {
    const { lock, inside } = createHarness()
    const held = await lock.run(held => {
      inside.end('ejected')
      return held
    })
    expect(held.lost).toMatchObject({ code: 'ejected' })
  })
})
