/** Watchers get a comment every 15 s, which keeps their connections open and says who reads nothing. */
import { beforeEach, expect, it } from 'vitest'
import type { ExportPage } from '../../worker/participant/calls/export.ts'
import type { ParticipantAnswer, ParticipantCall } from '../../worker/participant/calls.ts'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'
import { MemorySink } from './memory-sink.ts'

const comments = (sink: MemorySink) => sink.text().split(': still here').length - 1

let platform: MemoryPlatform
let node: MemoryNode
let operations = 0

async function put(key: string, value: string) {
  const opId = `op-${++operations}`
  const call = { type: 'transact', user: opId, opId, ops: [{ put: key, value }], waitMs: 0 } as const
  expect(await node.call(call)).toMatchObject({ type: 'done' })
}

async function watched(since: number | null = null): Promise<MemorySink> {
  const sink = new MemorySink(node)
  expect(await node.watch(sink, since)).toBeNull()
  return sink
}

/** A lone watcher comes and goes. */
async function visited(times: number, forMs: number) {
  for (let round = 0; round < times; round++) {
    const sink = await watched()
    await platform.advance(forMs)
    node.unwatch(sink)
  }
}

beforeEach(async () => {
  platform = new MemoryPlatform(1)
  node = platform.node(1)
  await put('first', '1')
})

it('regression: a watcher gets one comment every 15 s, however often it came and went before', async () => {
  await visited(20, 2_000)
  const sink = await watched()
  for (let second = 0; second < 61; second++) {
    await platform.advance(1_000)
    sink.read()
  }
  expect(sink.isFailed).toBe(false)
  expect(comments(sink)).toBe(4)
})

it('regression: a watcher that reads slowly is not dropped for the ticks of those before it', async () => {
  await visited(6, 100)
  const slow = await watched()
  slow.read()
  await platform.advance(14_000)
  await put('second', '2')
  // It has had something to read for two seconds.
  await platform.advance(2_000)
  expect(slow.isFailed).toBe(false)
})

/** The page of an export that this asks for. */
async function pageOf(call: Extract<ParticipantCall, { type: 'export' }>): Promise<ExportPage> {
  const answer: ParticipantAnswer = await platform.during(node.call(call))
  if (answer.type !== 'done') throw new Error(JSON.stringify(answer))
  return answer.body as unknown as ExportPage
}

it('regression: a watcher that waits for an export to end is kept open meanwhile', async () => {
  for (let key = 0; key < 40; key++) await put(`key-${key}`, 'x'.repeat(60_000))
  const { id, next: second } = await pageOf({ type: 'export' })
  // What the watcher has missed is forgotten, so it needs the state; and there is no room for another copy.
  for (let more = 0; more < 1_300; more++) await put('busy', String(more))
  const sink = await watched(0)
  let silentMs = 0
  let longestMs = 0
  let next = second
  for (let passed = 1; passed <= 60 && next !== null; passed++) {
    await platform.advance(1_000)
    silentMs = sink.read() ? 0 : silentMs + 1_000
    longestMs = Math.max(longestMs, silentMs)
    if (passed % 12 === 0) ({ next } = await pageOf({ type: 'export', page: { id, next } }))
  }
  expect(sink.text()).not.toContain('event: snapshot')
  expect(longestMs).toBeLessThanOrEqual(15_000)
})
