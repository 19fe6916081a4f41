/** A client that goes away while it waits, where the participant is in another process than the router. */
import { expect, it } from 'vitest'
import { useCluster } from './cluster-harness.ts'
import { itKeepsEveryPromise } from './harness.ts'
import { resettingFetch } from './resetting-fetch.ts'

const cluster = useCluster(3)

it.each([1, 2, 3])('is withdrawn at participant %i', async at => {
  const lock = cluster.lock()
  const holder = await lock.granted({ at: 1, ttlMs: 600_000 })
  const client = new AbortController()
  const waiting = resettingFetch(
    new Request(`${lock.url}/acquire`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ waitMs: 25_000, ttlMs: 600_000, at }),
      signal: client.signal,
    }),
  ).catch(() => 'gone')
  await lock.untilQueueIs(1)
  client.abort()
  expect(await waiting).toBe('gone')
  await lock.untilQueueIs(0)
  await lock.released(holder)
  // If it had been granted to the client that is gone, nobody would get it for ten minutes.
  await lock.released(await lock.granted({ waitMs: 25_000 }))
})

itKeepsEveryPromise(cluster)
