/** What watchers are told of the holder when they resume, and when those who know it are gone. */
import { beforeEach, expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { ParticipantCall } from '../../worker/participant/calls.ts'
import type { PeerRequest } from '../../worker/participant/peers/requests.ts'
import { LOCK, MemoryPlatform } from './memory-platform.ts'
import { MemorySink } from './memory-sink.ts'

const TICK_MS = 15_000
let platform: MemoryPlatform
let users = 0

const acquireAs = (user: string, ttlMs: number): ParticipantCall => ({
  type: 'acquire',
  ...{ user, waitMs: 5_000, ttlMs, ticket: false, confirm: false, owner: 'checkout-7' },
})
async function acquired(at: number, ttlMs = 600_000) {
  const user = `user-${++users}`.padEnd(22, '-')
  const answer = await platform.during(platform.node(at).call(acquireAs(user, ttlMs)))
  if (answer.type !== 'done') throw new Error(JSON.stringify(answer))
  const { grant } = answer.body as { grant: { fence: number } }
  return { user, fence: grant.fence }
}
async function released(at: number, { user, fence }: { user: string; fence: number }) {
  expect(await platform.during(platform.node(at).call({ type: 'release', user, fence }))).toMatchObject({
    type: 'done',
  })
}
async function transacted(at: number) {
  const opId = `op-${++users}`
  const call = platform
    .node(at)
    .call({ type: 'transact', user: opId, opId, ops: [{ increment: 'n' }], waitMs: 5_000 })
  expect(await platform.during(call)).toMatchObject({ type: 'done' })
}
async function watched(at: number, since: number | null = null) {
  const sink = new MemorySink(platform.node(at))
  expect(await platform.node(at).watch(sink, since)).toBeNull()
  await platform.settle()
  return sink
}
function told(sink: MemorySink): (number | null)[] {
  return sink
    .text()
    .split('\n\n')
    .flatMap(block => {
      if (!/^id: .*\nevent: holder/.test(block)) return []
      const data = JSON.parse(block.slice(block.indexOf('data: ') + 6))
      return [data.participant === null ? null : data.fence]
    })
}
async function reading(sink: MemorySink, ticks: number) {
  for (let tick = 0; tick < ticks; tick++) {
    await platform.advance(TICK_MS)
    sink.read()
  }
}

beforeEach(() => {
  platform = new MemoryPlatform(3)
})

it.each(['wme-1', 'wme-2', 'wme-consensus'] as const)(
  '%s: resumes from the id 0 that it was told with a holder, after that one has left',
  async protocol => {
    platform = new MemoryPlatform(3, protocol)
    const first = firstOwnerOf(LOCK, 3)
    const grant = await acquired(first)
    const sink = await watched(first)
    const events = sink.readAll()
    expect(told(sink)).toEqual([grant.fence])
    const since = events.findLast(({ id }) => Number.isInteger(id))!.id
    platform.node(first).unwatch(sink)
    await released(first, grant)
    await platform.advance(2_000)
    const second = await watched(first, since)
    await reading(second, 8)
    // It was told that this grant holds the lock, and resumes where it was told to.
    expect(told(second).at(-1)).toBeNull()
  },
)

it('a hint from long ago does not keep it from asking where the token is', async () => {
  await transacted(1)
  await platform.advance(2_000)
  // Participant 2 misses that the token goes to 3.
  const node = platform.node(2)
  const peer = node.peer.bind(node)
  let isDeaf = true
  node.peer = async (request: PeerRequest) => {
    if (isDeaf && request.type === 'messages') throw new Error('lost')
    return peer(request)
  }
  await transacted(3)
  const sink = await watched(2)
  isDeaf = false
  await platform.advance(5_000)
  // It has heard of it, and then the token goes back to 1.
  await transacted(3)
  await platform.advance(5_000)
  await transacted(1)
  await platform.advance(5_000)
  const status = await platform.node(2).call({ type: 'status' })
  expect(status).toMatchObject({ body: { owner: 1 } })
  // 3 is gone, and nobody uses the lock for a while.
  platform.node(3).isAway = true
  await reading(sink, 12)
  expect(told(sink).at(-1)).toBeNull()
  const grant = await acquired(1)
  await reading(sink, 20)
  expect(told(sink).at(-1)).toBe(grant.fence)
})
