/** A span for each call, for a tracer of the shape that OpenTelemetry has. */
import { describe, expect, it } from 'vitest'
import { createBaton, type Socket } from '../../client/index.ts'
import { type FakeSpan, fakeTracer, TRACE_ID } from './fake-tracer.ts'
import { createHarness, failure } from './harness.ts'

function traced(change: Partial<FakeSpan> = {}) {
  const harness = createHarness()
  const { tracer, spans } = fakeTracer(change)
  const { network, clock } = harness
  const baton = createBaton({ fetch: network.fetch, clock, tracer })
  const take = () => spans.splice(0)
  return { ...harness, lock: baton.lock('test'), take }
}

describe('a span', () => {
  it('is made for each call, with what is known of it, and ends once', async () => {
    const { lock, take, clock } = traced()
    const held = await lock.acquire()
    const { participant, fence } = held.grant
    const grant = { 'baton.lock': 'test', 'baton.participant': participant, 'baton.fence': fence }
    await held.apply([{ put: 'a', value: 1 }])
    await held.apply([{ put: 'a', value: 2, ifRevision: 0 }])
    await held.get('a')
    await clock.sleep(60_000)
    await held.release()
    await lock.transact([{ increment: 'n' }])
    await lock.get('a')
    await lock.list()
    await lock.status()
    const spans = take()
    const keptAlive = spans.filter(({ name }) => name === 'baton.keepAlive')
    expect(keptAlive.length).toBeGreaterThan(3)
    for (const { attributes } of keptAlive) expect(attributes).toEqual(grant)
    const others = spans.filter(({ name }) => name !== 'baton.keepAlive')
    expect(others.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['baton.acquire', { ...grant, 'baton.outcome': 'granted' }],
      ['baton.apply', { ...grant, 'baton.outcome': 'applied' }],
      ['baton.apply', { ...grant, 'baton.outcome': 'condition-failed' }],
      ['baton.get', grant],
      ['baton.release', grant],
      ['baton.transact', { 'baton.lock': 'test', 'baton.fence': fence + 1, 'baton.outcome': 'applied' }],
      ['baton.get', { 'baton.lock': 'test' }],
      ['baton.list', { 'baton.lock': 'test' }],
      ['baton.status', { 'baton.lock': 'test' }],
    ])
    for (const { ends, status, exceptions, kind } of spans) {
      expect({ ends, status, exceptions, kind }).toEqual({ ends: 1, status: null, exceptions: [], kind: 2 })
    }
  })

  it('says how often the call was repeated', async () => {
    const { lock, network, take } = traced()
    network.inject('POST transact', 'lose-answer', { refuse: 'no_quorum' })
    await lock.transact([{ increment: 'n' }])
    expect(take()[0]!.attributes).toMatchObject({ 'baton.retries': 2, 'baton.outcome': 'applied' })
  })

  it('says what went wrong', async () => {
    const { lock, network, take } = traced()
    network.inject('POST transact', { refuse: 'forbidden' })
    const error = await failure(lock.transact([{ increment: 'n' }]))
    const [span] = take()
    expect(span!.attributes).toMatchObject({ 'baton.error': 'forbidden', 'baton.outcome': 'not-applied' })
    expect(span!.exceptions).toEqual([error])
    expect(span!.status).toEqual({ code: 2, message: error.message })
    expect(span!.ends).toBe(1)
  })

  it('goes on with its requests', async () => {
    const { lock, network, take } = traced()
    network.inject('GET state', { refuse: 'no_quorum' })
    await lock.get('a')
    const [span] = take()
    const traceparents = network.of('GET state').map(({ headers }) => headers.get('traceparent'))
    expect(traceparents).toEqual(new Array(2).fill(`00-${TRACE_ID}-${span!.id}-01`))
  })

  it.each([
    { spanContext: () => ({ traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 }) },
    { spanContext: undefined as never },
  ])('that has no context is not sent', async change => {
    const { lock, network } = traced(change)
    await lock.get('a')
    expect(network.sent[0]!.headers.has('traceparent')).toBe(false)
  })

  it('is not made, and nothing sent, without a tracer', async () => {
    const { lock, network } = createHarness()
    await lock.get('a')
    expect(network.sent[0]!.headers.has('traceparent')).toBe(false)
  })
})

describe('what lasts', () => {
  const lockOf = (options: Pick<Parameters<typeof createBaton>[0], 'webSocket' | 'fetch'>) => {
    const { tracer, spans } = fakeTracer()
    const lock = createBaton({ url: 'https://example.com', tracer, ...options } as never).lock('test')
    return { lock, spans }
  }
  const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

  it('a watch is one span until its loop is left, through all connections', async () => {
    const { lock, network, take } = traced()
    network.inject('GET watch', 'lose-answer', { refuse: 'no_quorum' })
    const events = lock.watch({ since: 0 })
    const first = events.next()
    await lock.transact([{ increment: 'n' }])
    await first
    const [span, ...others] = take()
    expect([span!.name, span!.ends, others.map(({ name }) => name)]).toEqual([
      'baton.watch',
      0,
      ['baton.transact'],
    ])
    await events.return()
    expect(span).toMatchObject({ ends: 1, status: null })
    expect(span!.attributes).toEqual({ 'baton.lock': 'test', 'baton.retries': 2, 'baton.events': 1 })
    const traceparents = network.of('GET watch').map(({ headers }) => headers.get('traceparent'))
    expect(traceparents).toEqual(new Array(3).fill(`00-${TRACE_ID}-${span!.id}-01`))
  })

  it('a watch that is refused says why', async () => {
    const { lock, network, take } = traced()
    network.inject('GET watch', { refuse: 'forbidden' })
    const error = await failure(lock.watch().next())
    const [span] = take()
    expect(span).toMatchObject({ name: 'baton.watch', ends: 1, exceptions: [error] })
    expect(span!.attributes).toMatchObject({ 'baton.error': 'forbidden', 'baton.events': 0 })
  })

  it.each([
    ['close', undefined],
    ['error', 'network'],
  ])('a session is one span until its socket says %s', async (ending, code) => {
    const listeners = new Map<string, (event: { data?: unknown }) => void>()
    const socket: Socket = {
      send: () => {},
      close: () => {},
      addEventListener: (type, listener) => void listeners.set(type, listener),
    }
    const { lock, spans } = lockOf({ webSocket: () => socket })
    lock.session()
    await turn()
    listeners.get('message')!({ data: JSON.stringify({ type: 'crit', fence: 7, epoch: 0, ttlMs: 9e9 }) })
    const [span] = spans
    expect([span!.name, span!.attributes, span!.ends]).toEqual([
      'baton.session',
      { 'baton.lock': 'test', 'baton.fence': 7 },
      0,
    ])
    listeners.get(ending)!({})
    listeners.get('close')!({})
    expect([span!.ends, span!.attributes['baton.error'], spans.length]).toEqual([1, code, 1])
  })

  it('a session of a Worker carries its span on', async () => {
    const asked: Request[] = []
    const fetch = async (request: Request) => {
      asked.push(request)
      return new Response(null, { status: 204 })
    }
    const { lock, spans } = lockOf({ fetch })
    await failure(lock.session()[Symbol.asyncIterator]().next())
    expect(asked[0]!.headers.get('traceparent')).toBe(`00-${TRACE_ID}-${spans[0]!.id}-01`)
    expect(spans[0]).toMatchObject({ ends: 1, status: { code: 2 } })
  })
})

describe('each request of', () => {
  const names = (spans: readonly FakeSpan[]) => spans.map(({ name }) => name)

  it('a listing is a span, page by page', async () => {
    const { lock, take } = traced()
    await lock.transact([
      { put: 'a', value: 1 },
      { put: 'b', value: 2 },
    ])
    take()
    for await (const _ of lock.entries({ limit: 1 })) void 0
    expect(names(take())).toEqual(['baton.list', 'baton.list'])
  })

  it('a history is a span', async () => {
    const { lock, take } = traced()
    await lock.transact([{ increment: 'n' }])
    take()
    await lock.history()
    expect(names(take())).toEqual(['baton.history'])
  })

  it('a grant by its id is a span', async () => {
    const { lock, take } = traced()
    const held = await lock.acquire({ keepAlive: false })
    const grant = lock.grant(held.grant.id)
    await grant.keepAlive()
    await grant.apply([{ increment: 'n' }])
    await grant.release()
    expect(names(take())).toEqual(['baton.acquire', 'baton.keepAlive', 'baton.apply', 'baton.release'])
  })

  it('a wait that is given up has a span of its own for the withdrawal', async () => {
    const { lock, take, clock } = traced()
    await using _held = await lock.acquire({ keepAlive: false })
    const controller = new AbortController()
    const waiting = failure(lock.acquire({ signal: controller.signal }))
    await clock.sleep(100)
    controller.abort()
    await waiting
    await clock.sleep(100)
    expect(take().map(({ name, ends }) => [name, ends])).toEqual([
      ['baton.acquire', 1],
      ['baton.acquire', 1],
      ['baton.withdraw', 1],
    ])
  })
})

it('a keep-alive that a release cuts short is no error', async () => {
  const { lock, take, clock } = traced()
  const held = await lock.acquire({ hearLoss: true })
  await clock.sleep(1_000)
  await held.release()
  await clock.sleep(1_000)
  const keepAlives = take().filter(({ name }) => name === 'baton.keepAlive')
  expect(keepAlives.at(-1)).toMatchObject({ ends: 1, status: null })
  expect(keepAlives.at(-1)!.attributes['baton.outcome']).toBe('no-longer-needed')
})
