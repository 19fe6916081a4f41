import { afterAll, expect, it } from 'vitest'
import { createBaton, type Fetch } from '../../client/index.ts'
import { createFakeServer } from './fake-server.ts'
import { VirtualClock } from './virtual-clock.ts'

const clock = new VirtualClock()
afterAll(() => clock.stop())

it.each([429, 403, 408])(
  'an acquire that a proxy answers with %i, after it was handed on, is withdrawn',
  async status => {
    const server = createFakeServer({ clock })
    const fetch: Fetch = async request => {
      const answer = await server.fetch(request)
      return request.url.endsWith('/acquire')
        ? new Response('<html>', { status, headers: { 'content-type': 'text/html' } })
        : answer
    }
    const lock = createBaton({ fetch, clock }).lock('jobs')
    await expect(lock.acquire({ waitMs: 0, ttlMs: 600_000 })).rejects.toThrow()
    await clock.sleep(1_000)
    expect(server.lock('jobs').holder).toBeNull()
  },
)
