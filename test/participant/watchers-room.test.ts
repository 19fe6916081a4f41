import { expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { PeerRequest } from '../../worker/participant/peers/requests.ts'
import type { Sink } from '../../worker/participant/runtime.ts'
import { MemoryPlatform } from './memory-platform.ts'
import { MemorySink } from './memory-sink.ts'

it('each operation is told once, also if there is little room and several come at once', async () => {
  const platform = new MemoryPlatform(3)
  let operations = 0
  const transacted = async (at: number) => {
    const opId = `op-${++operations}`
    const ops = [{ put: `k${operations}`, value: 'x'.repeat(100) }]
    const call = platform.node(at).call({ type: 'transact', user: opId, opId, ops, waitMs: 5_000 })
    expect(await platform.during(call)).toMatchObject({ type: 'done' })
  }
  await transacted(1)
  await platform.advance(2_000)
  const node = platform.node(3)
  // Five that have much unread, and leave little room for the others.
  const unread = Math.floor((API_LIMITS.unreadWatchersBytes - 100) / 5)
  for (let index = 0; index < 5; index++) {
    const slow: Sink = { write: () => {}, fail: () => {}, unreadBytes: () => unread }
    expect(await node.watch(slow, null)).toBeNull()
  }
  const sink = new MemorySink(node)
  expect(await node.watch(sink, null)).toBeNull()
  await platform.settle()
  sink.read()
  const peer = node.peer.bind(node)
  let isDeaf = true
  node.peer = async (request: PeerRequest) => {
    if (isDeaf && request.type === 'messages') throw new Error('lost')
    return peer(request)
  }
  for (let round = 0; round < 3; round++) await transacted(1)
  isDeaf = false
  sink.read()
  await transacted(1)
  await platform.advance(5_000)
  const told = sink
    .readAll()
    .filter(({ event }) => event === 'op')
    .map(({ id }) => id)
  expect(told).toEqual([...new Set(told)].sort((a, b) => a - b))
  expect(told).toHaveLength(4)
})
