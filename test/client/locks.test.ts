/** The shape of the Web Locks API. */
import { describe, expect, expectTypeOf, it } from 'vitest'
import { type Baton, createBaton, type GrantedLock } from '../../client/index.ts'
import { createHarness, failure } from './harness.ts'

describe('locks.request', () => {
  it('runs the callback while the lock is held, and gives what it gives', async () => {
    const { baton, inside } = createHarness()
    const result = await baton.locks.request('test', async lock => {
      expect(lock).toMatchObject({ name: 'test', mode: 'exclusive' })
      expect(inside.holder?.fence).toBe(lock.held.fence)
      return 'done'
    })
    expect(result).toBe('done')
    expect(inside.holder).toBeNull()
  })

  it('rejects as the callback does, which may be synchronous, and releases', async () => {
    const { baton, inside } = createHarness()
    const work = baton.locks.request('test', () => {
      throw new Error('its own')
    })
    expect(await failure(work)).toMatchObject({ message: 'its own' })
    expect(inside.holder).toBeNull()
  })

  it('waits for as long as it takes', async () => {
    const { baton, lock, clock } = createHarness()
    const held = await lock.acquire()
    const waiting = baton.locks.request('test', () => clock.now())
    await clock.sleep(3_600_000)
    await held.release()
    expect(await waiting).toBeGreaterThanOrEqual(3_600_000)
  })

  it('ifAvailable: the callback gets null if the lock is taken', async () => {
    const { baton, lock } = createHarness()
    const isNull = (got: GrantedLock | null) => got === null
    expect(await baton.locks.request('test', { ifAvailable: true }, isNull)).toBe(false)
    await using _held = await lock.acquire()
    expect(await baton.locks.request('test', { ifAvailable: true }, isNull)).toBe(true)
  })

  it('a signal ends the wait with its reason, and has no effect once the lock is held', async () => {
    const { baton, lock, inside, clock } = createHarness()
    const held = await lock.acquire()
    const controller = new AbortController()
    const waiting = failure(baton.locks.request('test', { signal: controller.signal }, () => 1))
    await clock.sleep(100)
    const reason = new Error('no longer wanted')
    controller.abort(reason)
    expect(await waiting).toBe(reason)
    await clock.sleep(10)
    await held.release()
    expect(inside.holder).toBeNull()
    const other = new AbortController()
    const result = baton.locks.request('test', { signal: other.signal }, async () => {
      other.abort()
      await clock.sleep(100)
      return 'done'
    })
    expect(await result).toBe('done')
  })

  it('aborted without a reason it rejects with an AbortError; before, it asks nothing', async () => {
    const { baton, network } = createHarness()
    const work = baton.locks.request('test', { signal: AbortSignal.abort() }, () => 1)
    expect(await failure(work)).toMatchObject({ name: 'AbortError' })
    expect(network.sent).toEqual([])
  })

  it('steal: the holder is out, and its request rejects with an AbortError at once', async () => {
    const { baton, clock } = createHarness()
    let isDone = false
    const victim = failure(
      baton.locks.request('test', { hearLoss: true }, async () => {
        await clock.sleep(60_000)
        isDone = true
      }),
    )
    await clock.sleep(100)
    expect(await baton.locks.request('test', { steal: true }, lock => lock.held.fence)).toBeGreaterThan(1)
    expect(await victim).toMatchObject({ name: 'AbortError', cause: { code: 'ejected' } })
    expect(isDone).toBe(false)
  })

  it('steal of a lock that is free is a request', async () => {
    const { baton } = createHarness()
    expect(await baton.locks.request('test', { steal: true }, () => 'mine')).toBe('mine')
  })

  it('a lock that was lost while the callback did not look: the request rejects all the same', async () => {
    const { baton, inside } = createHarness()
    const work = baton.locks.request('test', () => inside.end('ejected'))
    expect(await failure(work)).toMatchObject({ name: 'AbortError', cause: { code: 'ejected' } })
  })

  it.each([
    { steal: true, ifAvailable: true },
    { steal: true, mode: 'shared' },
    { steal: true, signal: new AbortController().signal },
    { ifAvailable: true, signal: new AbortController().signal },
  ] as const)('refuses what excludes each other: %j', async options => {
    const { baton, network } = createHarness()
    const work = baton.locks.request('test', options as object, () => 1)
    expect(await failure(work)).toMatchObject({ name: 'NotSupportedError' })
    expect(network.sent).toEqual([])
  })

  it('asks for the mode that it is told', async () => {
    const { baton, network } = createHarness()
    await baton.locks.request('test', { mode: 'shared', ttlMs: 5_000 }, lock =>
      expect(lock.mode).toBe('shared'),
    )
    expect(network.of('POST acquire')[0]!.body).toMatchObject({ mode: 'shared', ttlMs: 5_000 })
  })

  it('has the types of the standard', () => {
    const check = async (baton: Baton) => {
      expectTypeOf(await baton.locks.request('a', () => 1)).toEqualTypeOf<number>()
      await baton.locks.request('a', { ifAvailable: true }, lock => {
        expectTypeOf(lock).toEqualTypeOf<GrantedLock | null>()
      })
      await baton.locks.request('a', { mode: 'shared' }, lock => {
        expectTypeOf(lock).toEqualTypeOf<GrantedLock>()
      })
      // @ts-expect-error a callback there must be
      await baton.locks.request('a', {})
    }
    expectTypeOf(check).toBeFunction()
  })
})

describe('locks.query', () => {
  it('tells what this client holds and waits for, and asks nobody', async () => {
    const { baton, network, clock } = createHarness()
    let finish = () => {}
    const held = baton.locks.request('a', () => new Promise<void>(resolve => (finish = resolve)))
    await clock.sleep(10)
    const waiting = baton.locks.request('a', { mode: 'shared' }, () => {})
    await clock.sleep(10)
    const before = network.sent.length
    const snapshot = await baton.locks.query()
    expect(network.sent).toHaveLength(before)
    const { clientId } = snapshot.held[0]!
    expect(snapshot).toEqual({
      held: [{ name: 'a', mode: 'exclusive', clientId }],
      pending: [{ name: 'a', mode: 'shared', clientId }],
    })
    finish()
    await Promise.all([held, waiting])
    expect(await baton.locks.query()).toEqual({ held: [], pending: [] })
  })

  it('tells what the service knows of these locks, without counting its own twice', async () => {
    const { baton, server, clock } = createHarness()
    const other = createBaton({ fetch: server.fetch, clock })
    const held = await other.lock('a').acquire()
    const theirs = other.lock('a').acquire({ waitMs: 20_000 })
    const mine = baton.locks.request('b', () => clock.sleep(1_000))
    const waiting = baton.locks.request('a', () => {})
    await clock.sleep(10)
    const snapshot = await baton.locks.query({ names: ['a', 'b', 'c'] })
    const clientId = snapshot.held[0]!.clientId
    expect(snapshot).toEqual({
      held: [
        { name: 'b', mode: 'exclusive', clientId },
        { name: 'a', clientId: `participant 1, fence ${held.fence}` },
      ],
      pending: [{ name: 'a', mode: 'exclusive', clientId }, { name: 'a' }],
    })
    await held.release()
    await (await theirs).release()
    await Promise.all([mine, waiting])
  })
})
