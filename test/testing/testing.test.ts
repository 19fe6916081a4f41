/** What `@baton-lock/baton/testing` gives to those who test a Worker of their own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBaton, GrantOverError, LockedError } from '../../client/index.ts'
import { startBaton, type TestBaton } from '../../testing/index.ts'

let baton: TestBaton

beforeAll(async () => {
  baton = await startBaton()
})
afterAll(() => baton?.stop())

/** As a holder that stalls: by its own clock, there is time enough to keep its grant alive. */
const acquireAndStall = (lock: string, ttlMs: number) =>
  createBaton({ url: baton.url }).lock(lock).acquire({ ttlMs })

describe('time', () => {
  it('passes without being waited for: a grant that nobody keeps alive ends', async () => {
    await acquireAndStall('expiring', 120_000)
    const lock = baton.client().lock('expiring')
    await expect(lock.acquire({ waitMs: 0 })).rejects.toThrow(LockedError)
    await baton.advance(40_000)
    await expect(lock.acquire({ waitMs: 0 })).rejects.toThrow(LockedError)
    await baton.advance(80_000)
    await (await lock.acquire()).release()
  })

  it('passes for its clients too: a grant that is kept alive stays, and nobody is suspected', async () => {
    const held = await baton.client().lock('kept').acquire({ ttlMs: 5_000 })
    await baton.advance(30_000)
    expect(held.signal.aborted).toBe(false)
    await held.apply([{ increment: 'n' }])
    const { participants } = await baton.client().lock('kept').status()
    expect(participants.map(({ epoch }) => epoch)).toEqual([0, 0, 0])
    await held.release()
  })

  it('does not pass for a client with a clock of its own', async () => {
    const held = await createBaton({ url: baton.url }).lock('late').acquire({ ttlMs: 5_000 })
    await baton.advance(6_000)
    await expect(held.apply([{ increment: 'n' }])).rejects.toThrow(GrantOverError)
  })

  it('ends a wait', async () => {
    await acquireAndStall('waited-for', 600_000)
    const waiting = baton.client().lock('waited-for').acquire({ waitMs: 10_000 })
    const outcome = expect(waiting).rejects.toThrow(LockedError)
    await baton.advance(12_000)
    await outcome
  })
})

describe('a participant', () => {
  it('is killed, the others go on, and it comes back and catches up', async () => {
    const lock = baton.client().lock('killed')
    await lock.transact([{ increment: 'n' }], { at: 1 })
    await baton.kill(1)
    await lock.transact([{ increment: 'n' }], { at: 2 })
    await baton.restore(1)
    expect((await lock.get('n', { at: 1 })).value).toBe(2)
  })

  it('is cut off while it holds the lock, and hears when it is back that the lock is lost', async () => {
    const lock = baton.client().lock('cut')
    const held = await lock.acquire({ at: 1, ttlMs: 600_000 })
    await baton.cut(1)
    expect(await lock.transact([{ increment: 'n' }], { at: 2 })).toMatchObject({ applied: true })
    await baton.restore(1)
    await expect(held.apply([{ put: 'n', value: 0 }])).rejects.toThrow(GrantOverError)
    expect((await lock.get('n', { at: 1 })).value).toBe(1)
  })

  it('keeps the moved time when it comes back', async () => {
    const lock = baton.client().lock('comes-back')
    await lock.transact([{ increment: 'n' }])
    await baton.advance(10_000)
    await baton.kill(2)
    await baton.restore(2)
    expect(await lock.transact([{ increment: 'n' }], { at: 2 })).toMatchObject({ results: [{ value: 2 }] })
  })

  it('that does not exist is refused', async () => {
    await expect(baton.kill(4)).rejects.toThrow('there is no participant 4: they are 1 to 3')
  })
})
