/**
 * A browser lets a page send and read only the headers that the service allows: the client says which it
 * uses.
 */
import { expect, it, vi } from 'vitest'
import {
  ANSWER_HEADERS,
  createBaton,
  type Fetch,
  REQUEST_HEADERS,
  type Span,
  type Tracer,
} from '../../client/index.ts'
import { createHarness } from './harness.ts'

const span: Span = {
  setAttributes: () => {},
  recordException: () => {},
  setStatus: () => {},
  end: () => {},
  spanContext: () => ({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 0 }),
}
const tracer: Tracer = { startActiveSpan: (_name, _options, run) => run(span) }

it('the client uses the headers that it says it uses, and no others', async () => {
  const { network, clock } = createHarness()
  const read = new Set<string>()
  const fetch: Fetch = async request => {
    const response = await network.fetch(request)
    const get = response.headers.get.bind(response.headers)
    vi.spyOn(response.headers, 'get').mockImplementation(name => {
      read.add(name)
      return get(name)
    })
    return response
  }
  const baton = createBaton({ fetch, clock, key: 'secret', tracer })
  const lock = baton.lock('test')
  network.inject('POST transact', { refuse: 'too_many', retryAfterSeconds: 1 })
  await lock.transact([{ put: 'a', value: 1 }])
  await lock.run(async held => held.apply([{ get: 'a' }]))
  for await (const _ of lock.watch({ since: 0 })) break
  await lock.status()
  const sent = new Set(network.sent.flatMap(({ headers }) => [...headers.keys()]))
  expect([...sent].sort()).toEqual([...REQUEST_HEADERS])
  expect([...read].sort()).toEqual([...ANSWER_HEADERS])
})
