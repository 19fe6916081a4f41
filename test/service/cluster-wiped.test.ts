/** A participant that has lost its storage is taken back by the others, and nothing is lost with it. */
import { afterEach, describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../../shared/protocols/protocol.ts'
import { useCluster } from './cluster-harness.ts'
import { openWatch } from './event-stream.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise } from './harness.ts'
import { expectStatus, type TestLock } from './lock.ts'

const cluster = useCluster(3)
afterEach(() => cluster.restartAll())

/** The storage belongs to all locks: what was recorded of each goes with it. */
async function lose(participant: number): Promise<void> {
  for (const name of cluster.histories.names) await cluster.histories.collect(name)
  await cluster.kill(participant)
  await cluster.wipe(participant)
  for (const name of cluster.histories.names) cluster.histories.wiped(name, participant)
}

async function untilMember(lock: TestLock, participant: number): Promise<void> {
  await eventually(async () => {
    const { participants } = (await lock.status()).body
    const { reachable, phase } = participants[participant - 1]!
    expect([reachable, phase === 'joining']).toEqual([true, false])
  })
}

describe('a participant that lost everything', () => {
  it.each([1, 2, 3])('%i is taken back, with all that it had', async wiped => {
    const lock = cluster.lock()
    let sequence = 0
    for (const at of cluster.participants) {
      ;({ sequence } = await lock.transacted([{ increment: 'n' }, { put: `by ${at}`, value: at }], { at }))
    }
    await lose(wiped)
    await eventually(() => lock.transacted([{ increment: 'n' }], { opId: 'without' }))
    await cluster.restartAll()
    await untilMember(lock, wiped)
    const read = await eventually(async () => expectStatus(await lock.get('by 3', `?at=${wiped}`), 200))
    expect(read.body).toMatchObject({ value: 3, revision: sequence })
    // An operation that was applied before is not applied again, not even there.
    const again = await eventually(() =>
      lock.transacted([{ increment: 'n' }], { opId: 'without', at: wiped }),
    )
    expect(again.results[0]).toMatchObject({ value: 4 })
    await eventually(() => lock.transacted([{ increment: 'n' }], { at: wiped, opId: 'after' }))
    expect(await lock.value('n')).toBe(5)
  })

  it('says when it is back in all locks, so that the next machine may be replaced', async () => {
    const whole = { status: 'ok', ledger: { healed: true, unfinishedLocks: 0 } }
    const healthOf = async (url: string) => (await fetch(`${url}/healthz`)).json()
    const lock = cluster.lock()
    await lock.transacted([{ increment: 'n' }], { at: 1 })
    for (const wiped of cluster.participants) {
      await lose(wiped)
      await cluster.restartAll()
      // Nobody uses the lock meanwhile.
      for (const participant of cluster.participants)
        await eventually(async () => expect(await healthOf(cluster.urlOf(participant))).toEqual(whole))
    }
    expect(await eventually(() => lock.value('n'))).toBe(1)
    // The router has no participants of its own, and no ledger.
    expect(await healthOf(cluster.url)).toEqual({ status: 'ok' })
  })

  it('has its vote again: with it and one other the lock goes on', async () => {
    const lock = cluster.lock()
    await lock.transacted([{ increment: 'n' }], { at: 2 })
    await lose(3)
    await cluster.restartAll()
    await untilMember(lock, 3)
    await cluster.kill(2)
    await eventually(() => lock.transacted([{ increment: 'n' }], { opId: 'with 1 and 3' }))
    expect(await eventually(() => lock.value('n', '?at=3'))).toBe(2)
  })

  it('no longer knows its old grants: the holder there is out, and is told only what is true', async () => {
    const lock = cluster.lock()
    const grant = await lock.granted({ at: 2, ttlMs: 600_000 })
    await lock.applied(grant, [{ increment: 'n' }])
    await lose(2)
    await cluster.restartAll()
    const late = await eventually(async () =>
      expectStatus(await lock.ops(grant, [{ increment: 'late' }], 'late'), 410),
    )
    expect(late.body.code).toBe('ejected')
    const next = await eventually(() => lock.granted({ waitMs: 25_000, at: 1 }))
    expect(next.fence).toBeGreaterThan(grant.fence)
    await lock.released(next)
    const isApplied = (await lock.get('late')).status === 200
    if (late.body.outcome === 'not-applied') expect(isApplied).toBe(false)
    expect(await lock.value('n')).toBe(1)
  })

  it('is given a snapshot if the log no longer reaches back, and then goes on as the others do', async () => {
    const lock = cluster.lock()
    const early = await lock.transacted([{ increment: 'n' }], { opId: 'early' })
    await lose(2)
    // Each of these is two entries of the log: the grant, and the operation.
    const rounds = DEFAULT_LIMITS.logKept / 2 + 1
    for (let round = 0; round < rounds; round++) {
      await lock.transacted([{ increment: 'n' }, { put: `key ${round % 50}`, value: round }], { at: 1 })
    }
    const total = rounds + 1
    await cluster.restartAll()
    await untilMember(lock, 2)
    expect(await eventually(() => lock.value('n', '?at=2'))).toBe(total)
    const { entries } = (await lock.list('?at=2&consistency=local')).body
    expect(entries).toEqual((await lock.list('?at=1')).body.entries)
    // The results of old operations came with the snapshot.
    const again = await lock.transacted([{ increment: 'n' }], { opId: 'early', at: 2 })
    expect([again.sequence, again.results]).toEqual([early.sequence, early.results])
    const stream = await openWatch(`${lock.url}/watch?since=${early.sequence}&at=2`)
    const first = await stream.nextOf('snapshot')
    expect(first.data.entries).toContainEqual(entries.find(({ key }) => key === 'n'))
    await lock.transacted([{ increment: 'n' }], { opId: 'new', at: 2 })
    expect((await stream.nextOf('op')).data).toMatchObject({ opId: 'new', changes: [{ value: total + 1 }] })
    stream.close()
  })

  it('tells its watchers what it has instead of what it missed', async () => {
    const lock = cluster.lock()
    for (const at of cluster.participants) await lock.transacted([{ increment: 'n' }], { at })
    await lose(2)
    await cluster.restartAll()
    await untilMember(lock, 2)
    expect(await eventually(() => lock.value('n', '?at=2'))).toBe(3)
    const stream = await openWatch(`${lock.url}/watch?since=0&at=2`)
    await lock.transacted([{ increment: 'n' }], { opId: 'last' })
    // Either all operations, or a snapshot in place of those that are not reported.
    let count = 0
    for (const { event, data } of await stream.upTo('last')) {
      if (event === 'op') expect((data.changes as { value: number }[])[0]!.value).toBe(++count)
      if (event === 'snapshot') count = (data.entries as { value: number }[])[0]!.value
    }
    expect(count).toBe(4)
    stream.close()
  })
})

itKeepsEveryPromise(cluster)
