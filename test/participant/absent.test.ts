/** Looking at a lock that nobody has used: it is answered truthfully, and nothing is stored for it. */
import { describe, expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { ParticipantCall } from '../../worker/participant/calls.ts'
import type { Sink } from '../../worker/participant/runtime.ts'
import { LOCK, type MemoryNode, MemoryPlatform } from './memory-platform.ts'

const FIRST = firstOwnerOf(LOCK, 3)
const [SECOND, THIRD] = [1, 2, 3].filter(id => id !== FIRST) as [number, number]
const USER = 'abcdefghijklmnopqrstu-'

const LOOKS: ParticipantCall[] = [
  { type: 'status' },
  { type: 'get', key: 'n', consistency: 'linearizable' },
  { type: 'get', key: 'n', consistency: 'local' },
  { type: 'list', prefix: '', limit: 10, after: null, consistency: 'local' },
  { type: 'history' },
  { type: 'eject', fence: null },
  { type: 'ticket', user: USER, waitMs: 0 },
  { type: 'withdraw', user: USER, ofTicket: true },
  { type: 'ops', user: USER, fence: 1, opId: 'o', ops: [{ increment: 'n' }] },
  { type: 'keepalive', user: USER, fence: 1, ttlMs: null },
  { type: 'release', user: USER, fence: 1 },
  { type: 'confirm', user: USER },
]
const STATUS = LOOKS[0]!
const increment = (user: string) =>
  ({ type: 'transact', user, opId: user, ops: [{ increment: 'n' }], waitMs: 5_000 }) as const

const hasStored = ({ rows }: MemoryNode) => rows.writes > 0
const sink: Sink = { write: () => {}, unreadBytes: () => 0, fail: () => {} }

describe('a lock that nobody has used', () => {
  it.each(LOOKS.map(call => [call.type, call] as const))(
    '%s: no such lock, and nothing is stored anywhere',
    async (_, call) => {
      const platform = new MemoryPlatform(3)
      for (const node of platform.nodes) {
        const answer = await platform.during(node.call(call))
        expect(answer).toMatchObject({ type: 'problem', code: 'no_such_lock' })
      }
      await platform.advance(60_000)
      expect(platform.nodes.map(hasStored)).toEqual([false, false, false])
      expect(platform.nodes.map(({ alarmAt }) => alarmAt)).toEqual([null, null, null])
    },
  )

  const share = { type: 'acquire', user: USER, mode: 'shared', waitMs: 0, ttlMs: null } as const
  const acquire = { ...share, ticket: false, confirm: false } as const

  it('a shared acquire that no such lock could grant: it is refused, and nothing is stored', async () => {
    const platform = new MemoryPlatform(3)
    for (const node of platform.nodes)
      expect(await platform.during(node.call(acquire))).toMatchObject({ code: 'not_supported' })
    await platform.advance(60_000)
    expect(platform.nodes.map(hasStored)).toEqual([false, false, false])
  })

  it('a shared acquire that such a lock can grant creates it', async () => {
    const platform = new MemoryPlatform(3, 'ricart-agrawala')
    const node = platform.node(THIRD)
    expect(await platform.during(node.call(acquire))).toMatchObject({ type: 'done', status: 200 })
  })

  it('watch', async () => {
    const platform = new MemoryPlatform(3)
    expect(await platform.during(platform.node(SECOND).watch(sink))).toMatchObject({ code: 'no_such_lock' })
    expect(platform.nodes.map(hasStored)).toEqual([false, false, false])
  })

  it('is still as good as new afterwards', async () => {
    const platform = new MemoryPlatform(3)
    await platform.during(platform.node(THIRD).call(STATUS))
    const answer = await platform.during(platform.node(THIRD).call(increment('a')))
    expect(answer).toMatchObject({ type: 'done', body: { results: [{ value: 1 }] } })
  })

  it.each([
    [SECOND, 404],
    [FIRST, 503],
  ])('with participant %i silent: %i', async (silent, status) => {
    const platform = new MemoryPlatform(3)
    platform.node(silent).isAway = true
    const answer = await platform.during(platform.node(THIRD).call(STATUS))
    expect(answer).toMatchObject({ code: status === 404 ? 'no_such_lock' : 'no_quorum' })
    expect(platform.nodes.map(hasStored)).toEqual([false, false, false])
  })

  it('with no majority: nobody can tell', async () => {
    const platform = new MemoryPlatform(3)
    platform.node(SECOND).isAway = true
    platform.node(THIRD).isAway = true
    const answer = await platform.during(platform.node(FIRST).call(STATUS))
    expect(answer).toMatchObject({ code: 'no_quorum', retryAfterSeconds: 1 })
  })

  it('a withdrawal is noted all the same: an acquire that comes after it is not let in', async () => {
    const platform = new MemoryPlatform(3)
    const node = platform.node(SECOND)
    const withdrawn = await platform.during(node.call({ type: 'withdraw', user: USER, ofWaiter: true }))
    expect(withdrawn).toEqual({ type: 'done', status: 200, body: {} })
    expect(await platform.during(node.call(STATUS))).toMatchObject({ code: 'no_such_lock' })
    const call = {
      type: 'acquire',
      user: USER,
      waitMs: 0,
      ttlMs: null,
      ticket: false,
      confirm: false,
    } as const
    expect(await platform.during(node.call(call))).toMatchObject({ code: 'conflict' })
  })
})

describe('a lock that was used and acknowledged is never said to be absent', () => {
  it('by the first owner alone, which nobody else has heard of', async () => {
    const platform = new MemoryPlatform(3)
    for (const id of [SECOND, THIRD]) platform.node(id).isAway = true
    const user = USER
    const call = { type: 'acquire', user, waitMs: 0, ttlMs: null, ticket: false, confirm: false } as const
    expect(await platform.node(FIRST).call(call)).toMatchObject({ type: 'done', status: 200 })
    for (const id of [SECOND, THIRD]) platform.node(id).isAway = false
    platform.node(FIRST).isAway = true
    const blank = await platform.during(platform.node(SECOND).call(STATUS))
    expect(blank).toMatchObject({ code: 'no_quorum' })
    expect([SECOND, THIRD].map(id => hasStored(platform.node(id)))).toEqual([false, false])
    platform.node(FIRST).isAway = false
    const told = await platform.during(platform.node(SECOND).call(STATUS))
    expect(told).toMatchObject({ type: 'done', body: { owner: FIRST } })
  })

  it('by a majority without the one that is asked: it asks them, and takes part', async () => {
    const platform = new MemoryPlatform(3)
    platform.node(THIRD).isAway = true
    expect(await platform.during(platform.node(FIRST).call(increment('a')))).toMatchObject({ type: 'done' })
    platform.node(THIRD).isAway = false
    expect(hasStored(platform.node(THIRD))).toBe(false)
    const read = { type: 'get', key: 'n', consistency: 'linearizable' } as const
    const answer = await platform.during(platform.node(THIRD).call(read))
    expect(answer).toMatchObject({ type: 'done', body: { value: 1 } })
  })

  it('by others without the first owner', async () => {
    const platform = new MemoryPlatform(3)
    platform.node(FIRST).isAway = true
    expect(await platform.during(platform.node(SECOND).call(increment('a')))).toMatchObject({ type: 'done' })
    platform.node(FIRST).isAway = false
    const told = await platform.during(platform.node(FIRST).call(STATUS))
    expect(told).toMatchObject({ type: 'done' })
  })
})
