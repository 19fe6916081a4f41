/** A lock gets other participants while processes are killed, and nothing is lost. */
import { afterEach, describe, expect, it } from 'vitest'
import { useCluster } from './cluster-harness.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise } from './harness.ts'
import { byGrant, bySession, byTransact, Load } from './load.ts'
import { expectStatus, type TestLock } from './lock.ts'

const cluster = useCluster(5)
afterEach(() => cluster.restartAll())

/** Of the first three processes. */
async function ofThree(): Promise<TestLock> {
  const lock = cluster.lock()
  // Processes that have just begun may need a moment, and a repeated request finds what the first one made.
  await eventually(async () => {
    const { status } = await lock.configure({ participants: [{}, {}, {}] })
    expect([200, 201]).toContain(status)
  })
  return lock
}

const change = (lock: TestLock, body: object) => lock.send('POST', '/participants', { body })

async function changed(lock: TestLock, body: object): Promise<number[]> {
  return eventually(async () => {
    const { participants } = expectStatus(await change(lock, body), 200).body
    return participants.map(({ id }) => id)
  })
}

describe('a participant whose process is gone for good', () => {
  it.each([1, 2, 3])('%i is replaced while it is gone, and the lock goes on', async gone => {
    const lock = await ofThree()
    // The token is at the one that goes.
    for (const at of [1, 2, 3, gone]) {
      const opId = lock.newOpId()
      await eventually(() => lock.transacted([{ increment: 'n' }], { at, opId }))
    }
    await cluster.kill(gone)
    const ids = await changed(lock, { replace: gone })
    expect(ids).toEqual([...[1, 2, 3].filter(id => id !== gone), 6])
    await eventually(() => lock.transacted([{ increment: 'n' }], { opId: `${gone} ${ids}` }))
    // Another one may go now: two of three are left.
    const next = ids[0]!
    await cluster.kill(next)
    await eventually(() => lock.transacted([{ increment: 'n' }], { opId: `${next}` }))
    await cluster.restartAll()
    expect(await eventually(() => lock.value('n'))).toBe(6)
    // One that was removed while it was away comes back with old storage, and sends whoever asks on.
    const { body } = await eventually(async () => await lock.get('n', `?consistency=local`))
    expect(body).toMatchObject({ value: 6 })
    const { participants } = expectStatus(await lock.status(), 200).body
    expect(participants.map(({ id }) => id)).toEqual(ids)
  })
})

describe('all participants replaced while clients go on', () => {
  it.each([
    ['by transact', byTransact()],
    ['by three calls', byGrant],
    ['by session', bySession],
  ])('%s: no operation is lost, none is applied twice', async (_, way) => {
    const lock = await ofThree()
    const load = new Load(lock, 3, way)
    await load.untilAcknowledged(8)
    expect(await changed(lock, { participants: [{ id: 3 }, {}, {}] })).toEqual([3, 1, 2].sort())
    expect(await changed(lock, { replace: 1 })).toEqual([2, 3, 6])
    expect(await changed(lock, { replace: 2 })).toEqual([3, 6, 7])
    await load.untilAcknowledged(16)
    await cluster.kill(3)
    expect(await changed(lock, { replace: 3 })).toEqual([6, 7, 8])
    await load.untilAcknowledged(24)
    await cluster.restartAll()
    await load.untilAcknowledged(30)
    await load.finish()
    await load.expectEachOnce()
  })

  it('a new one that is killed while it is brought up to date, and comes back', async () => {
    const lock = await ofThree()
    for (let count = 0; count < 20; count++)
      await lock.transacted([{ put: `key-${count}`, value: 'x'.repeat(20_000) }])
    const asked = change(lock, { replace: 2 })
    await cluster.kill(4)
    await asked
    await cluster.restartAll()
    expect(await changed(lock, { replace: 2 })).toEqual([1, 3, 6])
    expect(await lock.value('key-7')).toBe('x'.repeat(20_000))
  })
})

itKeepsEveryPromise(cluster)
