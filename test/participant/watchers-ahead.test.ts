/** A watcher that has seen more than the participant at which it resumes: nothing takes it back. */
import { beforeEach, expect, it } from 'vitest'
import { MemoryPlatform } from './memory-platform.ts'
import { MemorySink, type SinkEvent } from './memory-sink.ts'

let platform: MemoryPlatform
let operations = 0

async function put(at: number): Promise<number> {
  const opId = `op-${++operations}`
  const ops = [{ increment: 'n' }]
  const call = { type: 'transact', user: opId, opId, ops, waitMs: 5_000 } as const
  const answer = await platform.during(platform.node(at).call(call))
  if (answer.type !== 'done') throw new Error(JSON.stringify(answer))
  return (answer.body as { sequence: number }).sequence
}

async function watched(at: number, since: number | null): Promise<MemorySink> {
  const sink = new MemorySink(platform.node(at))
  expect(await platform.node(at).watch(sink, since)).toBeNull()
  await platform.settle()
  return sink
}

const operationsIn = (events: readonly SinkEvent[]) => events.filter(({ event }) => event === 'op')

/** Participant 3 misses some operations. Returns how far a watcher of participant 1 has seen. */
async function missedBy3(count: number): Promise<number> {
  await platform.advance(2_000)
  platform.node(3).isAway = true
  let since = 0
  for (let missed = 0; missed < count; missed++) since = await put(1)
  const seen = await watched(1, 0)
  expect(seen.readAll().at(-1)!.id).toBe(since)
  platform.node(1).unwatch(seen)
  platform.node(3).isAway = false
  return since
}

beforeEach(async () => {
  platform = new MemoryPlatform(3)
  for (let op = 0; op < 3; op++) await put(1)
})

it('regression: it is told what it has not seen, each once, and its numbers never fall', async () => {
  const since = await missedBy3(3)
  const resumed = await watched(3, since)
  await platform.advance(5_000)
  const next = [await put(1), await put(1)]
  await platform.advance(5_000)
  const events = resumed.readAll()
  expect(operationsIn(events).map(({ id }) => id)).toEqual(next)
  expect(events.filter(({ id }) => id < since)).toEqual([])
  const ids = events.map(({ id }) => id)
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
})

it('regression: it gets no older state where the missing operations come as a whole', async () => {
  // More than anybody keeps of the log.
  const since = await missedBy3(1_100)
  const resumed = await watched(3, since)
  await platform.advance(5_000)
  await put(1)
  await platform.advance(5_000)
  const events = resumed.readAll()
  expect(events.filter(({ id }) => id < since)).toEqual([])
  expect(events.map(({ event }) => event)).toContain('op')
}, 60_000)

it('is told who holds the lock as soon as the participant has caught up', async () => {
  const since = await missedBy3(3)
  const user = 'u'.repeat(22)
  const acquire = {
    type: 'acquire',
    user,
    waitMs: 5_000,
    ttlMs: 60_000,
    ticket: false,
    confirm: true,
  } as const
  await platform.during(platform.node(1).call(acquire))
  const resumed = await watched(3, since)
  await platform.advance(5_000)
  const holder = resumed.readAll().findLast(({ event }) => event === 'holder')
  expect(holder).toMatchObject({ data: { participant: 1 } })
  expect(holder!.id).toBeGreaterThanOrEqual(since)
})
