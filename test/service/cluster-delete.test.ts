/** Locks that are deleted while a process is gone, or has lost everything. */
import { afterEach, describe, expect, it } from 'vitest'
import { useCluster } from './cluster-harness.ts'
import { eventually } from './eventually.ts'
import { expectStatus, type TestLock } from './lock.ts'

const cluster = useCluster(3)
afterEach(() => cluster.restartAll())

const remove = (lock: TestLock, query = '') => lock.send('DELETE', query)

/** Everybody has used it, so everybody has it. The last one has the token. */
async function usedBy(lock: TestLock, participants: readonly number[]): Promise<number> {
  let fence = 0
  for (const at of participants) fence = (await lock.transacted([{ increment: 'n' }], { at })).fence
  return fence
}

async function isGoneFor(lock: TestLock, at: number): Promise<void> {
  await eventually(async () => {
    const { status, body } = await lock.get('n', `?at=${at}&consistency=local`)
    expect([status, body.code]).toEqual([404, 'no_such_lock'])
  })
}

describe('a lock that is deleted while a participant is gone', () => {
  it.each([1, 2, 3])(
    'without %i, which learns of it when it is back, and gives birth to nothing',
    async gone => {
      const lock = cluster.lock()
      const others = [1, 2, 3].filter(id => id !== gone)
      // The token is at the one that is gone.
      const before = await usedBy(lock, [...others, gone])
      await cluster.kill(gone)
      await eventually(async () => expectStatus(await remove(lock, '?force=true&generation=1'), 204))
      await cluster.restartAll()
      for (const at of [gone, ...others]) await isGoneFor(lock, at)
      expect((await lock.status()).body.code).toBe('no_such_lock')
      expect(await usedBy(lock, [gone])).toBeGreaterThan(before)
      expect(await lock.value('n')).toBe(1)
    },
  )

  it('and is used again before that one is back', async () => {
    const lock = cluster.lock()
    const before = await usedBy(lock, [1, 2, 3])
    await cluster.kill(2)
    await eventually(async () => expectStatus(await remove(lock, '?generation=1'), 204))
    const again = await usedBy(lock, [1, 3])
    expect(again).toBeGreaterThan(before)
    await cluster.restartAll()
    await eventually(async () => expect(await lock.value('n', '?at=2')).toBe(2))
    expect((await lock.status()).body).toMatchObject({ generation: 2 })
  })
})

describe('a process that loses everything after a lock was deleted', () => {
  it.each([1, 2, 3])('%i brings nothing back, and fences go on above', async wiped => {
    const lock = cluster.lock()
    const before = await usedBy(lock, [1, 2, 3])
    expectStatus(await remove(lock), 204)
    await cluster.kill(wiped)
    await cluster.wipe(wiped)
    await cluster.restartAll()
    await eventually(async () => expect((await lock.status()).body.code).toBe('no_such_lock'))
    const fence = await eventually(() => usedBy(lock, [wiped]))
    expect(fence).toBeGreaterThan(before)
    expect(await lock.value('n')).toBe(1)
  })
})
