/**
 * A holder's process freezes while somebody waits elsewhere. The others leave it behind, with the defaults of
 * a lock, and it learns that when it goes on. How long it takes is measured by `npm run failover`.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { useCluster } from './cluster-harness.ts'
import { eventually, sleep } from './eventually.ts'
import { itKeepsEveryPromise } from './harness.ts'
import { expectStatus } from './lock.ts'

const PARTICIPANTS = 3
const cluster = useCluster(PARTICIPANTS)
afterEach(() => cluster.restartAll())

describe('a frozen holder', () => {
  it.each(['wme-1', 'wme-2', 'wme-consensus'] as const)(
    'of %s is left behind by those that wait',
    async protocol => {
      const lock = cluster.lock()
      expectStatus(await lock.configure({ protocol }), 201)
      for (const at of cluster.participants) {
        const elsewhere = (at % PARTICIPANTS) + 1
        const grant = await eventually(() => lock.granted({ at, ttlMs: 600_000, waitMs: 25_000 }))
        const waiting = eventually(() => lock.granted({ at: elsewhere, ttlMs: 600_000, waitMs: 25_000 }))
        // By then round trips have been measured. Without them the configured time-out would do.
        await sleep(600)
        cluster.pause(at)
        const next = await waiting
        cluster.resume(at)
        expect(next.fence).toBeGreaterThan(grant.fence)
        const over = await eventually(async () =>
          expectStatus(await lock.ops(grant, [{ increment: 'n' }]), 410),
        )
        expect([over.body.code, over.body.outcome]).toEqual(['ejected', 'not-applied'])
        await eventually(() => lock.applied(next, [{ increment: 'n' }], `after ${at}`))
        await lock.released(next)
      }
      expect(await lock.value('n')).toBe(PARTICIPANTS)
    },
  )

  it('keeps the lock if it goes on before anybody could miss it', async () => {
    const lock = cluster.lock()
    const grant = await lock.granted({ at: 1, ttlMs: 600_000 })
    const ticket = await lock.queued({ at: 2, ttlMs: 600_000 })
    cluster.pause(1)
    cluster.resume(1)
    await eventually(() => lock.applied(grant, [{ increment: 'n' }], 'still here'))
    await lock.released(grant)
    const next = await eventually(async () => {
      const { body } = expectStatus(await lock.ticket(ticket.id, 25_000), 200)
      return body.grant
    })
    await lock.released(next)
  })
})

itKeepsEveryPromise(cluster)
