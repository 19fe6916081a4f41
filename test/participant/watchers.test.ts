/** Watchers: what they have not read is bounded together, and a watcher that is behind reads page by page. */
import { beforeEach, describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { ParticipantCall } from '../../worker/participant/calls.ts'
import { MAX_ROW_BYTES } from '../../worker/participant/core/event-log.ts'
import { PAGE_LENGTH } from '../../worker/participant/streams/replay.ts'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'
import { MemorySink, type SinkEvent } from './memory-sink.ts'

let platform: MemoryPlatform
let node: MemoryNode
let operations = 0

beforeEach(() => {
  platform = new MemoryPlatform(1)
  node = platform.node(1)
})

async function put(key: string, length: number, many = 1): Promise<number> {
  const ops = Array.from({ length: many }, (_, index) => {
    return { put: many === 1 ? key : `${key}-${index}`, value: 'x'.repeat(length) }
  })
  const opId = `op-${++operations}`
  const answer = await node.call({ type: 'transact', user: opId, opId, ops, waitMs: 0 })
  if (answer.type !== 'done') throw new Error(JSON.stringify(answer))
  return (answer.body as { sequence: number }).sequence
}

async function watchers(count: number, since: number | null = null): Promise<MemorySink[]> {
  const sinks: MemorySink[] = []
  for (let index = 0; index < count; index++) {
    const sink = new MemorySink(node)
    expect(await node.watch(sink, since)).toBeNull()
    sinks.push(sink)
  }
  return sinks
}

const unreadBytes = (sinks: readonly MemorySink[]) => sinks.reduce((sum, sink) => sum + sink.unreadBytes(), 0)

/** The keys that a watcher knows of after it has applied everything that it was told. */
function keysOf(events: readonly SinkEvent[]): Set<string> {
  const keys = new Set<string>()
  for (const { data } of events) for (const { key } of data.entries ?? data.changes ?? []) keys.add(key)
  return keys
}

describe('many watchers that do not read', () => {
  it('have no more unread together than they may, and nobody misses anything', async () => {
    await put('first', 1)
    const sinks = await watchers(40)
    for (let round = 0; round < 10; round++) {
      await put(`key-${round}`, 100_000)
      expect(unreadBytes(sinks)).toBeLessThan(API_LIMITS.unreadWatchersBytes + MAX_ROW_BYTES)
    }
    const remaining = sinks.filter(sink => !sink.isFailed)
    expect(remaining).toHaveLength(40)
    for (const sink of remaining) {
      const events = sink.readAll()
      const operations = events.filter(({ event }) => event === 'op').map(({ id }) => id)
      expect(operations).toEqual([...new Set(operations)].sort((a, b) => a - b))
      expect(keysOf(events).size).toBeGreaterThanOrEqual(10)
    }
  })

  it('are dropped when they are too far behind, and the participant goes on (regression)', async () => {
    await put('first', 1)
    const [deaf, reader] = await watchers(2)
    for (let round = 0; round < 20; round++) {
      await put('same', 100_000)
      reader!.read()
    }
    expect(deaf!.isFailed).toBe(true)
    expect(reader!.readAll().filter(({ event }) => event === 'op')).toHaveLength(20)
  })

  it('are dropped after a while, those that read are not', async () => {
    await put('first', 1)
    const [deaf, reader] = await watchers(2)
    for (let tick = 0; tick < 6; tick++) {
      await put(`key-${tick}`, 1_000)
      reader!.read()
      await platform.advance(15_000)
    }
    expect(deaf!.isFailed).toBe(true)
    expect(reader!.isFailed).toBe(false)
  })
})

describe('who holds the lock', () => {
  const USER = 'u'.repeat(22)
  const acquire = (owner: string): ParticipantCall => ({
    type: 'acquire',
    ...{ user: USER, waitMs: 5_000, ttlMs: 60_000, ticket: false, confirm: true, owner },
  })
  const holders = (sink: MemorySink) =>
    sink
      .text()
      .split('\n\n')
      .filter(block => block.includes('event: holder'))

  it('is told at the participant of the holder and at another one', async () => {
    const three = new MemoryPlatform(3)
    const increment = {
      type: 'transact',
      user: 'a',
      opId: 'a',
      ops: [{ increment: 'n' }],
      waitMs: 5_000,
    } as const
    await three.during(three.node(1).call(increment))
    const sinks = [1, 2, 3].map(id => new MemorySink(three.node(id)))
    for (const [index, sink] of sinks.entries()) expect(await three.node(index + 1).watch(sink)).toBeNull()
    const granted = await three.during(three.node(2).call(acquire('checkout-7')))
    const { grant } = (granted as { body?: unknown }).body as { grant: { fence: number } }
    // The others hear with the operation, at the latest, that the grant is committed.
    const ops = [{ increment: 'n' }]
    await three.during(three.node(2).call({ type: 'ops', user: USER, fence: grant.fence, opId: 'b', ops }))
    await three.advance(1_000)
    for (const sink of sinks) {
      const told = holders(sink).at(-1)!
      expect(JSON.parse(told.slice(told.indexOf('data: ') + 6))).toMatchObject({
        ...{ participant: 2, owner: 'checkout-7' },
        ...{ since: expect.any(String), expiresAt: expect.any(String), fence: expect.any(Number) },
      })
    }
    // Each was told once, before the grant was committed: its number is nothing to resume from.
    for (const sink of sinks) {
      const told = holders(sink).filter(block => block.includes(`"fence":${grant.fence},`))
      expect(told).toHaveLength(1)
      expect(told[0]).toContain(`id: ${/"sequence":(\d+)/.exec(told[0]!)![1]}\n`)
    }
  })

  it('is asked of nobody while nobody watches', async () => {
    const three = new MemoryPlatform(3)
    const asked: string[] = []
    for (const one of three.nodes) {
      const peer = one.peer.bind(one)
      one.peer = request => {
        asked.push(request.type)
        return peer(request)
      }
    }
    await three.during(three.node(2).call(acquire('checkout-7')))
    await three.advance(1_000)
    expect(asked).not.toContain('who')
    expect(asked.length).toBeGreaterThan(0)
  })
})

describe('a watcher that resumes', () => {
  it('gets the changes in pages, as it reads, each once and in order', async () => {
    await put('first', 1)
    const since = await put('second', 1)
    for (let round = 0; round < 100; round++) await put(`key-${round}`, 1_000)
    const [sink] = await watchers(1, since)
    expect(sink!.unreadBytes()).toBeLessThan(3 * PAGE_LENGTH)
    const events = sink!.readAll().filter(({ event }) => event === 'op')
    expect(keysOf(events).size).toBe(100)
    expect(events.map(({ id }) => id)).toEqual([...new Set(events.map(({ id }) => id))].sort((a, b) => a - b))
    await put('live', 1)
    expect(keysOf(sink!.readAll()).has('live')).toBe(true)
  })

  it('gets the state in pages if changes are gone, and what happens meanwhile after it', async () => {
    for (let round = 0; round < 60; round++) await put(`key-${round}`, 50_000)
    const [sink] = await watchers(1, 1)
    expect(sink!.unreadBytes()).toBeLessThan(50_000 + 2 * PAGE_LENGTH)
    sink!.read()
    const meanwhile = await put('meanwhile', 1)
    const events = sink!.readAll()
    expect(events.filter(({ event }) => event === 'snapshot')).toHaveLength(1)
    const [snapshot] = events
    expect(snapshot!.data.entries).toHaveLength(60)
    expect(snapshot!.id).toBeLessThan(meanwhile)
    expect(events.findLast(({ event }) => event === 'op')).toMatchObject({ id: meanwhile })
    // It may have been told of a holder before it resumed.
    expect(events.at(-1)).toEqual({
      ...{ id: meanwhile, event: 'holder' },
      data: { sequence: meanwhile, participant: null },
    })
    expect(keysOf(events).size).toBe(61)
  })

  it('shares the copy of the state with others: their pages are of one and the same', async () => {
    for (let round = 0; round < 60; round++) await put(`key-${round}`, 50_000)
    const [first] = await watchers(1, 1)
    first!.read()
    const later = await put('later', 1)
    const [second] = await watchers(1, 1)
    expect(second!.readAll()[0]).toEqual(first!.readAll()[0])
    expect(second!.readAll().findLast(({ event }) => event === 'op')).toMatchObject({ id: later })
  })
})

it('an operation that changes very much is no message for each watcher: they read the state', async () => {
  for (let part = 0; part < 12; part++) await put(`list-${part}`, 100_000, 2)
  const keys = Array.from({ length: 12 }, (_, part) => [`list-${part}-0`, `list-${part}-1`]).flat()
  const lists = keys.map(key => ({ delete: key }))
  await node.call({ type: 'transact', user: 'a', opId: 'a', ops: lists, waitMs: 0 })
  for (const key of keys) {
    const ops = [{ append: key, value: 'x'.repeat(100_000) }]
    await node.call({ type: 'transact', user: key, opId: `begin-${key}`, ops, waitMs: 0 })
  }
  const sinks = await watchers(20)
  const ops = keys.map(append => ({ append, value: 1 }))
  expect(await node.call({ type: 'transact', user: 'b', opId: 'b', ops, waitMs: 0 })).toMatchObject({
    type: 'done',
  })
  expect(unreadBytes(sinks)).toBeLessThan(API_LIMITS.unreadWatchersBytes + MAX_ROW_BYTES)
  for (const sink of sinks) expect(keysOf(sink.readAll()).size).toBe(keys.length)
})
