/**
 * Without a majority nothing is done that could be lost, and the answers say so; once there is one again,
 * everything is as it was.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { choices, useCluster } from './cluster-harness.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise } from './harness.ts'
import { expectStatus } from './lock.ts'

const cluster = useCluster(3)
afterEach(() => cluster.restartAll())

describe('503 no_quorum with Retry-After', () => {
  it.each(choices([1, 2, 3], 2))('while participants %i and %i are gone', async (one, other) => {
    const lock = cluster.lock()
    const unborn = cluster.lock()
    for (const at of cluster.participants) await lock.transacted([{ increment: 'n' }], { at })
    for (const at of cluster.participants) expect(await lock.value('n', `?at=${at}`)).toBe(3)
    await cluster.kill(one!, other!)
    const [left] = cluster.up
    const [transacted, ejected, acquired, born, ...others] = await Promise.all([
      lock.transact([{ increment: 'lost' }], { opId: 'lost', waitMs: 1_000 }),
      lock.eject(),
      unborn.acquire({ waitMs: 1_000, ttlMs: 1_000 }),
      unborn.transact([{ increment: 'n' }], { opId: 'unborn', waitMs: 1_000 }),
      lock.get('n', `?at=${left}`),
      lock.get('n', `?at=${one}`),
      lock.list(),
      unborn.configure(),
    ])
    for (const { status, body } of others) expect([status, body.code]).toEqual([503, 'no_quorum'])
    expect([transacted.status, transacted.body.code]).toEqual([503, 'no_quorum'])
    expect(['not-applied', 'unknown']).toContain(transacted.body.outcome)
    expect([200, 503]).toContain(ejected.status)
    // The first owner of a lock lets its user in before anybody knows; an operation needs a majority all the
    // same.
    expect([200, 503]).toContain(acquired.status)
    expect([born.status, born.body.code]).toEqual([503, 'no_quorum'])
    expect(['not-applied', 'unknown']).toContain(born.body.outcome)
    // Whatever needs no majority goes on.
    expect(await lock.value('n', `?consistency=local&at=${left}`)).toBe(3)
    const { participants } = expectStatus(await lock.status(), 200).body
    expect(participants.filter(({ reachable }) => reachable).map(({ id }) => id)).toEqual([left])

    await cluster.restartAll()
    const again = await eventually(() => lock.transacted([{ increment: 'lost' }], { opId: 'lost' }))
    expect(again.results[0]).toMatchObject({ value: 1 })
    for (const at of cluster.participants) {
      expect(await eventually(() => lock.value('n', `?at=${at}`))).toBe(3)
      expect(await eventually(() => lock.value('lost', `?at=${at}`))).toBe(1)
    }
    await eventually(() => unborn.transacted([{ increment: 'n' }], { opId: 'unborn' }))
    expect(await unborn.value('n')).toBe(1)
  })
})

describe('a holder without a majority', () => {
  it('is told that the outcome is unknown, and then what it was', async () => {
    const lock = cluster.lock()
    const grant = await lock.granted({ at: 1, ttlMs: 600_000 })
    await lock.applied(grant, [{ increment: 'n' }])
    await cluster.kill(2, 3)
    const pending = lock.ops(grant, [{ increment: 'n' }], 'pending')
    const conflict = await eventually(async () =>
      expectStatus(await lock.ops(grant, [{ increment: 'n', by: 5 }], 'pending'), 409),
    )
    expect([conflict.body.code, conflict.body.outcome]).toEqual(['conflict', 'not-applied'])
    const unknown = await pending
    expect([unknown.status, unknown.body.code, unknown.body.outcome]).toEqual([503, 'no_quorum', 'unknown'])
    await cluster.restartAll()
    const again = await eventually(async () =>
      expectStatus(await lock.ops(grant, [{ increment: 'n' }], 'pending'), 200),
    )
    expect(again.body.results[0]).toMatchObject({ value: 2 })
    await lock.released(grant)
    expect(await lock.value('n')).toBe(2)
  })

  it('is let in as soon as the token is there; with confirm: true once a majority knows it', async () => {
    const lock = cluster.lock()
    await lock.transacted([{ increment: 'n' }], { at: 1 })
    await cluster.kill(2, 3)
    const unconfirmed = await lock.granted({ at: 1, ttlMs: 600_000 })
    await lock.released(unconfirmed)
    const { status } = await lock.acquire({ at: 1, confirm: true, waitMs: 500 })
    expect([409, 503]).toContain(status)
    await lock.untilQueueIs(0)
    await cluster.restartAll()
    const confirmed = await eventually(() => lock.granted({ at: 1, confirm: true }))
    expect(confirmed.fence).toBeGreaterThan(unconfirmed.fence)
    await lock.released(confirmed)
  })

  it('loses nothing that was acknowledged: all of them die, all of them come back', async () => {
    const lock = cluster.lock()
    const grant = await lock.granted({ at: 2, ttlMs: 600_000 })
    const { sequence } = await lock.applied(grant, [{ put: 'a', value: 'kept' }])
    await cluster.kill(1, 2, 3)
    expect((await lock.status()).body.participants.every(({ reachable }) => !reachable)).toBe(true)
    expect((await lock.ops(grant, [{ get: 'a' }])).body).toMatchObject({
      code: 'no_quorum',
      outcome: 'unknown',
    })
    await cluster.restartAll()
    const read = await eventually(async () => expectStatus(await lock.get('a'), 200))
    expect(read.body).toMatchObject({ value: 'kept', revision: sequence })
    await eventually(() => lock.applied(grant, [{ put: 'a', value: 'new' }], 'after'))
    await lock.released(grant)
  })
})

itKeepsEveryPromise(cluster)
