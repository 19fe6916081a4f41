/** A lock is deleted while a participant that is cut off cannot answer what it was asked. */
import { expect, it } from 'vitest'
import type { ParticipantCall } from '../../worker/participant/calls.ts'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'
import { useLock } from './new-life.ts'

/** From now on it is not heard, and hears nothing but that the lock is over. */
function cutOff(platform: MemoryPlatform, away: MemoryNode): void {
  for (const receiver of platform.nodes) {
    const peer = receiver.peer.bind(receiver)
    receiver.peer = async request => {
      const isItsOwn = request.type === 'messages' && request.from === away.id
      const isTheEnd =
        request.type === 'messages' && request.messages.some(({ body }) => body.type === 'ended')
      if (isItsOwn || (receiver === away && !isTheEnd)) throw new Error('unreachable')
      return peer(request)
    }
  }
}

const READ = { type: 'get', key: 'n', consistency: 'linearizable' } as const
const LIST = { type: 'list', prefix: '', limit: 10, after: null, consistency: 'linearizable' } as const

it.each<readonly [string, ParticipantCall]>([
  ['a read', READ],
  ['a listing', LIST],
  ['an export', { type: 'export' }],
  ['an eject', { type: 'eject', fence: null }],
  ['an eject of one that it has not heard of', { type: 'eject', fence: 1_000 }],
])('%s that waits meanwhile is told so', async (_, call) => {
  const platform = new MemoryPlatform(3)
  const { owner, others } = await useLock(platform)
  const away = others[0]!
  cutOff(platform, away)
  const asked = away.call(call)
  await platform.settle()
  const remove = { type: 'delete', user: 'operator', force: true, generation: null } as const
  expect(await platform.during(owner.call(remove))).toMatchObject({ type: 'done', status: 204 })
  expect(await platform.during(asked)).toMatchObject({ type: 'problem', code: 'no_such_lock' })
  expect(away.aborts).toBe(0)
})

it('a release that waits for an operation meanwhile is told so, and a keep-alive of the end', async () => {
  const platform = new MemoryPlatform(3)
  const { owner, others } = await useLock(platform)
  const away = others[0]!
  const acquire = { type: 'acquire', waitMs: 5_000, ttlMs: 600_000, ticket: false, confirm: true } as const
  const acquired = await platform.during(away.call({ ...acquire, user: 'holder' }))
  const { fence } = (acquired as unknown as { body: { grant: { fence: number } } }).body.grant
  cutOff(platform, away)
  const grant = { user: 'holder', fence }
  const kept = away.call({ ...grant, type: 'keepalive', ttlMs: null, waitMs: 20_000 })
  const operation = away.call({ ...grant, type: 'ops', opId: 'op-2', ops: [{ increment: 'n' }] as never })
  const released = away.call({ ...grant, type: 'release' })
  await platform.settle()
  const remove = { type: 'delete', user: 'operator', force: true, generation: null } as const
  expect(await platform.during(owner.call(remove))).toMatchObject({ type: 'done', status: 204 })
  expect(await platform.during(released)).toMatchObject({ type: 'problem', code: 'no_such_lock' })
  expect(await platform.during(operation)).toMatchObject({ type: 'problem', outcome: 'unknown' })
  expect(await platform.during(kept)).toMatchObject({ type: 'problem' })
  expect(away.aborts).toBe(0)
})
