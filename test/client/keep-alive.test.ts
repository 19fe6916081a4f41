import { describe, expect, it } from 'vitest'
import {
  createBaton,
  EjectedError,
  ExpiredError,
  type Outcome,
  UnauthenticatedError,
} from '../../client/index.ts'
import type { Fault } from './faults.ts'
import { createHarness, failure } from './harness.ts'

describe('keep-alive', () => {
  it('comes about every third of the time to live, and not in step', async () => {
    const { lock, network, clock } = createHarness()
    await using _held = await lock.acquire({ ttlMs: 30_000 })
    await clock.sleep(600_000)
    const times = network.of('POST keepalive').map(({ at }) => at)
    const pauses = times.slice(1).map((at, index) => at - times[index]!)
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(8_000)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(11_000)
    expect(new Set(pauses).size).toBeGreaterThan(pauses.length / 2)
  })

  it('survives failures', async () => {
    // If all pauses were as long as they may be, so many failures would take longer than the grant lasts.
    const { lock, network, clock } = createHarness({ random: () => 0.5 })
    await using held = await lock.acquire({ ttlMs: 30_000 })
    const faults: Fault[] = [
      'lose-answer',
      'lose-request',
      { status: 502 },
      { refuse: 'no_quorum' },
      { refuse: 'too_many', retryAfterSeconds: 3 },
    ]
    network.inject('POST keepalive', ...faults, 'hang')
    await clock.sleep(120_000)
    expect(held.signal.aborted).toBe(false)
    expect(network.of('POST keepalive').length).toBeGreaterThan(10)
  })

  it.each<Fault>([
    'lose-request',
    'hang',
    { refuse: 'no_quorum' },
    { refuse: 'too_many', retryAfterSeconds: 600 },
  ])('that never gets through (%j): the holder gives up before the service does', async fault => {
    const { lock, network, clock, inside } = createHarness()
    await using held = await lock.acquire({ ttlMs: 30_000 })
    network.plan = ({ path }) => (path.endsWith('keepalive') ? fault : undefined)
    const before = clock.now()
    const stillHeld = await new Promise(resolve => {
      held.signal.addEventListener('abort', () => resolve(inside.holder?.fence === held.fence))
    })
    expect(stillHeld).toBe(true)
    expect(held.lost).toBeInstanceOf(ExpiredError)
    expect(clock.now() - before).toBeGreaterThan(25_000)
    expect(clock.now() - before).toBeLessThan(30_000)
    expect(await failure(held.apply([{ get: 'a' }]))).toMatchObject({
      code: 'expired',
      outcome: 'not-applied',
    })
  })

  it.each([0.1, 0.3, 0.5, 0.7, 0.95])(
    'that hangs when a short time to live is nearly over (%d): the holder gives up in time',
    async chance => {
      const { lock, network, clock } = createHarness({ random: () => chance })
      const begin = clock.now()
      await using held = await lock.acquire({ ttlMs: 1_000 })
      network.plan = ({ path }) => {
        if (!path.endsWith('keepalive')) return undefined
        return clock.now() - begin < 900 ? { refuse: 'no_quorum' } : 'hang'
      }
      const lostAt = await new Promise<number>(resolve => {
        held.signal.addEventListener('abort', () => resolve(clock.now()))
      })
      expect(lostAt - begin).toBeLessThan(1_000)
    },
  )

  it('that is refused for good ends it at once', async () => {
    const { lock, network, clock } = createHarness()
    await using held = await lock.acquire({ ttlMs: 30_000 })
    network.inject('POST keepalive', { refuse: 'unauthenticated' })
    await clock.sleep(12_000)
    expect(held.lost).toBeInstanceOf(UnauthenticatedError)
    expect(network.of('POST keepalive')).toHaveLength(1)
  })

  it('does not wait where the grant may be old: its answer had to be asked for again', async () => {
    const { lock, network, clock } = createHarness()
    const first = await lock.acquire()
    network.inject('GET tickets', 'lose-answer')
    const waiting = lock.acquire({ waitMs: 600_000, ttlMs: 30_000 })
    await clock.sleep(5_000)
    await first.release()
    await using _held = await waiting
    const asked = network.of('GET tickets').at(-1)!.at
    await clock.sleep(10)
    expect(network.of('POST keepalive').at(-1)!.at).toBe(asked)
  })

  it('without a ttlMs goes by what the grant says', async () => {
    const { lock, network, clock } = createHarness()
    await using held = await lock.acquire()
    await clock.sleep(100_000)
    expect(held.signal.aborted).toBe(false)
    expect(network.of('POST keepalive').length).toBeGreaterThanOrEqual(9)
    expect(network.of('POST keepalive').length).toBeLessThanOrEqual(13)
    expect(network.of('POST keepalive')[0]!.body).toEqual({})
  })
})

describe('a grant without keep-alives', () => {
  it('is over by the reckoning of its holder before it is over for the service', async () => {
    const { lock, network, clock, inside } = createHarness()
    const begin = clock.now()
    const held = await lock.acquire({ ttlMs: 30_000, keepAlive: false })
    const stillHeld = await new Promise(resolve => {
      held.signal.addEventListener('abort', () => resolve(inside.holder?.fence === held.fence))
    })
    expect(stillHeld).toBe(true)
    expect(clock.now() - begin).toBeGreaterThan(25_000)
    expect(clock.now() - begin).toBeLessThan(30_000)
    expect(held.lost).toBeInstanceOf(ExpiredError)
    expect(held.signal.reason).toBe(held.lost)
    expect(await failure(held.apply([{ get: 'a' }]))).toMatchObject({ outcome: 'not-applied' })
    expect(network.of('POST keepalive')).toEqual([])
  })

  it('without a ttlMs ends by what the grant says', async () => {
    const { clock } = createHarness()
    const grant = { id: '1-1-a', fence: 1, participant: 1, epoch: 0, expiresAt: '', ttlMs: 60_000 }
    const { lock } = createBaton({ clock, fetch: () => Response.json({ grant }) })
    const held = await lock('orders').acquire({ keepAlive: false })
    await clock.sleep(54_000)
    expect(held.signal.aborted).toBe(false)
    await clock.sleep(6_000)
    expect(held.lost).toBeInstanceOf(ExpiredError)
  })

  it('that may be old gets one, from which its holder reckons', async () => {
    const { lock, network, clock, inside } = createHarness()
    const first = await lock.acquire()
    network.inject('GET tickets', 'lose-answer')
    const waiting = lock.acquire({ waitMs: 600_000, ttlMs: 30_000, keepAlive: false })
    await clock.sleep(5_000)
    await first.release()
    const held = await waiting
    await clock.sleep(27_000)
    expect(network.of('POST keepalive')).toHaveLength(1)
    expect([held.signal.aborted, inside.holder?.fence]).toEqual([false, held.fence])
    await clock.sleep(3_000)
    expect(held.lost).toBeInstanceOf(ExpiredError)
  })

  it('that was released is not over for another reason later', async () => {
    const { lock, clock } = createHarness()
    const held = await lock.acquire({ ttlMs: 30_000, keepAlive: false })
    await held.release()
    await clock.sleep(60_000)
    expect(held.lost).toBeUndefined()
    expect(held.signal.reason).toMatchObject({ code: 'released' })
  })
})

describe('an ejection while an operation is pending', () => {
  it.each<Outcome>(['applied', 'not-applied', 'unknown'])('tells what became of it: %s', async outcome => {
    const { lock, inside } = createHarness()
    await using held = await lock.acquire()
    inside.ejectsDuringNextOperation = outcome
    const error = await failure(held.apply([{ increment: 'n' }], { opId: 'x' }))
    expect(error).toBeInstanceOf(EjectedError)
    expect(error).toMatchObject({ outcome, opId: 'x', status: 410 })
    expect(held.signal.reason).toBe(error)
  })

  it('an operation with an id from before is asked after, even though the grant is over', async () => {
    const { lock, network } = createHarness({ retry: { attempts: 1 } })
    await using held = await lock.acquire()
    network.inject('POST ops', 'lose-answer')
    expect(await failure(held.apply([{ increment: 'n' }], { opId: 'x' }))).toMatchObject({
      outcome: 'unknown',
    })
    await lock.eject()
    expect(await failure(held.apply([{ increment: 'n' }]))).toMatchObject({ outcome: 'not-applied' })
    expect(await held.apply([{ increment: 'n' }], { opId: 'x' })).toMatchObject({ results: [{ value: 1 }] })
  })
})
