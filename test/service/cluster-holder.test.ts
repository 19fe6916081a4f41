/** The holder's participant dies, or only seems to: the others go on, and the holder is told the truth. */
import { afterEach, describe, expect, it } from 'vitest'
import { useCluster } from './cluster-harness.ts'
import { eventually, sleep } from './eventually.ts'
import { itKeepsEveryPromise } from './harness.ts'
import type { Answer } from './http.ts'
import { expectStatus, type TestLock } from './lock.ts'

const cluster = useCluster(3)
afterEach(() => cluster.restartAll())
const LONG = { ttlMs: 600_000 }

/**
 * The contract: `not-applied` is said only of an operation that nobody ever applies, and `200` only of one
 * that is applied.
 */
async function expectTruth(lock: TestLock, key: string, answers: readonly Answer[]): Promise<void> {
  const isApplied = (await eventually(() => lock.get(key))).status === 200
  for (const { status, body, text } of answers) {
    if (status === 200) expect(isApplied, text).toBe(true)
    else if (body.outcome === 'not-applied') expect(isApplied, text).toBe(false)
    else expect([status, body.outcome], text).toEqual([503, 'unknown'])
  }
}

describe('kill -9 of the holder', () => {
  it.each([1, 2, 3])(
    'at participant %i: the others go on, and it is ejected when it comes back',
    async at => {
      const lock = cluster.lock()
      const grant = await lock.granted({ ...LONG, at })
      await lock.applied(grant, [{ increment: 'n' }])
      await cluster.kill(at)
      const silent = await lock.ops(grant, [{ increment: 'late' }], 'late')
      expect([silent.status, silent.body.code, silent.body.outcome]).toEqual([503, 'no_quorum', 'unknown'])
      const next = await eventually(() => lock.granted({ waitMs: 25_000, at: cluster.up[0]! }))
      expect(next.fence).toBeGreaterThan(grant.fence)
      expect((await lock.applied(next, [{ increment: 'n' }])).results[0]).toMatchObject({ value: 2 })
      await cluster.restartAll()
      const over = await eventually(async () =>
        expectStatus(await lock.ops(grant, [{ increment: 'late' }], 'late'), 410),
      )
      expect([over.body.code, over.body.outcome]).toEqual(['ejected', 'not-applied'])
      expect((await lock.keepAlive(grant)).body.code).toBe('ejected')
      expect((await lock.release(grant)).body.code).toBe('ejected')
      await lock.applied(next, [{ increment: 'n' }])
      await lock.released(next)
      await expectTruth(lock, 'late', [silent, over])
      expect(await lock.value('n')).toBe(3)
    },
  )

  it('in the middle of operations: none is both applied and reported as not applied', async () => {
    const lock = cluster.lock()
    for (let round = 1; round <= 6; round++) {
      const at = (round % 3) + 1
      const grant = await eventually(() => lock.granted({ ...LONG, waitMs: 25_000, at }))
      const key = `n${round}`
      const pending = lock.ops(grant, [{ increment: key }], key)
      await sleep(round)
      await cluster.kill(at)
      const first = await pending
      const other = await eventually(() => lock.granted({ waitMs: 25_000, at: cluster.up[round % 2]! }))
      await lock.released(other)
      await cluster.restartAll()
      const again = await eventually(async () => {
        const answer = await lock.ops(grant, [{ increment: key }], key)
        expect([200, 410]).toContain(answer.status)
        return answer
      })
      await expectTruth(lock, key, [first, again])
      if (again.status === 410) expect(again.body).toMatchObject({ code: 'ejected', outcome: 'not-applied' })
    }
  })
})

describe('a holder that only seems to be gone (SIGSTOP)', () => {
  it.each([1, 2, 3])('at participant %i is ejected, and hears of it when it wakes', async at => {
    const lock = cluster.lock()
    expectStatus(await lock.configure({ detector: { heartbeatMs: 200, timeoutMs: 1_000 } }), 201)
    const grant = await lock.granted({ ...LONG, at })
    await lock.applied(grant, [{ increment: 'n' }])
    cluster.pause(at)
    // This one is asked of the paused participant, and answered when it wakes or not at all.
    const during = lock.ops(grant, [{ increment: 'during' }], 'during')
    const elsewhere = cluster.participants.find(id => id !== at)!
    const next = await eventually(() => lock.granted({ waitMs: 25_000, at: elsewhere }))
    expect((await lock.applied(next, [{ increment: 'n' }])).results[0]).toMatchObject({ value: 2 })
    cluster.resume(at)
    const over = await eventually(async () =>
      expectStatus(await lock.ops(grant, [{ increment: 'late' }], 'late'), 410),
    )
    expect([over.body.code, over.body.outcome]).toEqual(['ejected', 'not-applied'])
    await lock.applied(next, [{ increment: 'n' }])
    await lock.released(next)
    const again = await lock.ops(grant, [{ increment: 'during' }], 'during')
    await expectTruth(lock, 'during', [await during, again])
    await expectTruth(lock, 'late', [over])
    expect(await lock.value('n')).toBe(3)
  })

  it('and that nobody needs meanwhile stays the holder', async () => {
    const lock = cluster.lock()
    const grant = await lock.granted({ ...LONG, at: 2 })
    cluster.pause(2)
    await sleep(3_000)
    cluster.resume(2)
    await eventually(() => lock.applied(grant, [{ increment: 'n' }], 'still here'))
    await lock.released(grant)
  })
})

itKeepsEveryPromise(cluster)
