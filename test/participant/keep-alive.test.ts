/** A keep-alive that waits is answered as soon as the grant is over. */
import { beforeEach, describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { ParticipantAnswer } from '../../worker/participant/calls.ts'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'

const USER = 'u'.repeat(22)

let platform: MemoryPlatform
let node: MemoryNode
let fence: number

beforeEach(async () => {
  platform = new MemoryPlatform(1)
  node = platform.node(1)
  const answer = await node.call({
    ...{ type: 'acquire', user: USER, waitMs: 0, ttlMs: 30_000, ticket: false, confirm: false },
  })
  fence = (answer as unknown as { body: { grant: { fence: number } } }).body.grant.fence
})

const keepAlive = (waitMs?: number): Promise<ParticipantAnswer> =>
  node.call({ type: 'keepalive', user: USER, fence, ttlMs: null, ...(waitMs !== undefined && { waitMs }) })

/** What has come of it so far. */
async function soFar(answer: Promise<ParticipantAnswer>): Promise<ParticipantAnswer | 'nothing'> {
  await platform.settle()
  return Promise.race([answer, Promise.resolve('nothing' as const)])
}

describe('a keep-alive', () => {
  it.each([undefined, 0])('that does not wait (%s) is answered at once', async waitMs => {
    expect(await soFar(keepAlive(waitMs))).toMatchObject({ status: 200 })
  })

  it('that waits keeps the grant from when it came, and is answered in the end', async () => {
    const answer = keepAlive(10_000)
    expect(await soFar(answer)).toBe('nothing')
    await platform.advance(9_900)
    expect(await soFar(answer)).toBe('nothing')
    await platform.advance(200)
    expect(await answer).toMatchObject({ status: 200, body: { expiresAt: expect.any(String) } })
  })

  it.each([
    ['ejected', () => node.call({ type: 'eject' })],
    ['released', () => node.call({ type: 'release', user: USER, fence })],
  ])('that waits is answered when the grant is %s', async (code, end) => {
    const answer = keepAlive(20_000)
    await platform.settle()
    await end()
    expect(await soFar(answer)).toMatchObject({ type: 'problem', code })
  })

  it('that waits takes no place when there is none', async () => {
    const waiting = Array.from({ length: API_LIMITS.callsInFlight }, () => keepAlive(20_000))
    expect(await soFar(waiting[0]!)).toBe('nothing')
    expect(await soFar(keepAlive(20_000))).toMatchObject({ status: 200 })
  })
})
