/** An operator forces out the holder of a participant that is gone, and no other. */
import { expect, it } from 'vitest'
import { useCluster } from './cluster-harness.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise } from './harness.ts'
import { expectStatus, granted } from './lock.ts'

const cluster = useCluster(3)

it.each([1, 2, 3])('eject with the fence of a holder at participant %i, whose process is gone', async at => {
  const lock = cluster.lock()
  const grant = await lock.granted({ at, ttlMs: 600_000 })
  await lock.applied(grant, [{ increment: 'n' }])
  await cluster.kill(at)
  await eventually(async () => expectStatus(await lock.eject({ fence: grant.fence }), 200))
  const next = await eventually(async () => granted(await lock.acquire({ waitMs: 25_000, ttlMs: 600_000 })))
  // The operator's call is repeated by a caller that has not heard its answer.
  for (let round = 0; round < 3; round++) {
    const late = await lock.eject({ fence: grant.fence })
    expect([late.status, late.body.code]).toEqual([409, 'conflict'])
  }
  expect((await lock.applied(next, [{ increment: 'n' }])).results[0]).toMatchObject({ value: 2 })
  await cluster.restart(at)
  const over = await eventually(async () => expectStatus(await lock.ops(grant, [{ increment: 'n' }]), 410))
  expect([over.body.code, over.body.outcome]).toEqual(['ejected', 'not-applied'])
  await lock.released(next)
})

itKeepsEveryPromise(cluster)
