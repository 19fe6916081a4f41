/** A span for each call, for a tracer of the shape that OpenTelemetry has. */
import { describe, expect, it } from 'vitest'
import { type AttributeValue, createBaton, type Span, type Tracer } from '../../client/index.ts'
import { createHarness, failure } from './harness.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'

class FakeSpan implements Span {
  readonly name: string
  readonly kind: number
  readonly id: string
  readonly attributes: { [name: string]: AttributeValue }
  readonly exceptions: Error[] = []
  status: { code: number; message?: string } | null = null
  ends = 0

  constructor(name: string, kind: number, attributes: { [name: string]: AttributeValue }, count: number) {
    this.name = name
    this.kind = kind
    this.attributes = attributes
    this.id = count.toString(16).padStart(16, 'b')
  }
  setAttributes(attributes: { [name: string]: AttributeValue }): this {
    Object.assign(this.attributes, attributes)
    return this
  }
  recordException(exception: Error): void {
    this.exceptions.push(exception)
  }
  setStatus(status: { code: number; message?: string }): this {
    this.status = status
    return this
  }
  end(): void {
    this.ends++
  }
  spanContext() {
    return { traceId: TRACE_ID, spanId: this.id, traceFlags: 1 }
  }
}

function traced(change: Partial<FakeSpan> = {}) {
  const harness = createHarness()
  const spans: FakeSpan[] = []
  const tracer: Tracer = {
    startActiveSpan(name, { kind, attributes }, run) {
      const span = Object.assign(new FakeSpan(name, kind, attributes, spans.length + 1), change)
      spans.push(span)
      return run(span)
    },
  }
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
    expect(spans.map(({ name, attributes }) => [name, attributes])).toEqual([
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
