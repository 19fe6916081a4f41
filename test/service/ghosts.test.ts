/**
 * A client that goes while it waits holds nothing afterwards, on a runtime that does not notice that it went:
 * a connection that is closed politely (FIN) looks open to workerd until something is written to it.
 */

import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createBaton } from '../../client/index.ts'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { BRIEF_MS } from '../../worker/participant/core/handovers.ts'
import { itKeepsEveryPromise, TEST_LIMIT_MS, useService } from './harness.ts'
import { expectStatus, granted, type TestLock } from './lock.ts'

const service = useService()
/** Longer than any test waits for the lock: who gets it did not wait for a ghost to expire. */
const TTL_MS = 600_000

/** As `curl -m` does: asks, waits, and closes its connection without a word. */
async function askAndGo(
  lock: TestLock,
  path: string,
  body: object | null,
  untilGone: () => Promise<unknown>,
) {
  const { hostname, port, pathname, search } = new URL(`${lock.url}${path}`)
  const socket = connect(Number(port), hostname)
  const text = body === null ? '' : JSON.stringify(body)
  const ofBody = body === null ? '' : `content-type: application/json\r\ncontent-length: ${text.length}\r\n`
  const method = body === null ? 'GET' : 'POST'
  socket.write(`${method} ${pathname}${search} HTTP/1.1\r\nhost: localhost\r\n${ofBody}\r\n${text}`)
  await untilGone()
  socket.end()
  await new Promise(resolve => setTimeout(resolve, 50))
  socket.destroy()
}

describe('a waiting acquire whose client goes without a word', () => {
  it('does not hold the lock when its turn comes', { timeout: TEST_LIMIT_MS }, async () => {
    const lock = service.lock()
    const holder = await lock.granted()
    await askAndGo(lock, '/acquire', { waitMs: 25_000, ttlMs: TTL_MS }, () => lock.untilQueueIs(1))
    await new Promise(resolve => setTimeout(resolve, 2 * BRIEF_MS))
    await lock.released(holder)
    await lock.released(granted(await lock.acquire({ waitMs: 25_000 })))
  })

  it('that stays keeps its grant, without doing anything with it', { timeout: TEST_LIMIT_MS }, async () => {
    const lock = service.lock()
    const holder = await lock.granted()
    const waiting = lock.acquire({ waitMs: 25_000, ttlMs: TTL_MS })
    await lock.untilQueueIs(1)
    await lock.released(holder)
    const grant = granted(await waiting)
    await new Promise(resolve => setTimeout(resolve, API_LIMITS.untakenMs + 1_500))
    expectStatus(await lock.keepAlive(grant), 200)
    await lock.released(grant)
  })
})

describe('the client', () => {
  it.each([
    ['one request', 20_000],
    ['a ticket', 60_000],
  ])('aborts a wait by %s, and nobody holds the lock', { timeout: TEST_LIMIT_MS }, async (_, waitMs) => {
    const lock = service.lock()
    const client = createBaton({ url: service.url }).lock(lock.name)
    for (let time = 0; time < 4; time++) {
      const held = await client.acquire({ waitMs: 10_000 })
      const controller = new AbortController()
      const waiting = client.acquire({ waitMs, ttlMs: TTL_MS, signal: controller.signal })
      await lock.untilQueueIs(1)
      controller.abort()
      await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
      await lock.untilQueueIs(0)
      await held.release()
    }
    await using last = await client.acquire({ waitMs: 10_000 })
    expect(last.fence).toBeGreaterThan(0)
  })

  it('that is killed while it asks for its ticket leaves no holder', { timeout: TEST_LIMIT_MS }, async () => {
    const lock = service.lock()
    const holder = await lock.granted()
    const waiter = 'a'.repeat(22)
    const asked = await lock.acquire({ waitMs: 0, ticket: true, ttlMs: TTL_MS, waiter })
    const { id } = expectStatus(asked, 202).body.ticket
    await askAndGo(lock, `/tickets/${id}?waitMs=20000`, null, () => new Promise(go => setTimeout(go, 200)))
    await lock.released(holder)
    await lock.released(granted(await lock.acquire({ waitMs: 25_000 })))
  })
})

itKeepsEveryPromise(service)
