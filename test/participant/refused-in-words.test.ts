/** What a participant says that could not do what it was asked is true, and of use to whoever asked. */
import { describe, expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { ParticipantCall } from '../../worker/participant/calls.ts'
import { LOCK, MemoryPlatform } from './memory-platform.ts'

const ACQUIRE = { type: 'acquire', ttlMs: 600_000, ticket: false, confirm: true } as const
const noQuorum = (detail: string) => ({ type: 'problem', code: 'no_quorum', detail })

/** Nobody hears these participants any more, and they hear nobody. */
function silence(platform: MemoryPlatform, ...silent: readonly number[]): void {
  for (const receiver of platform.nodes) {
    const peer = receiver.peer.bind(receiver)
    receiver.peer = async request => {
      const ends = ['from' in request ? request.from : null, receiver.id]
      if (silent.some(id => ends.includes(id))) throw new Error('unreachable')
      return peer(request)
    }
  }
}

describe('without a majority', () => {
  const nothing = 'A majority of the participants did not answer in time. Nothing was done. Ask again.'
  const readLocally =
    'A majority of the participants did not answer in time. A read with consistency=local needs none.'

  it.each<[ParticipantCall, string]>([
    [{ type: 'get', key: 'n', consistency: 'linearizable' }, readLocally],
    [{ type: 'list', prefix: '', after: null, limit: 10, consistency: 'linearizable' }, readLocally],
    [{ type: 'export' }, nothing],
    [{ type: 'members', change: { remove: 1 } }, nothing],
    [{ type: 'eject', fence: 99 }, nothing],
  ])('%j is told what would help', async (call, detail) => {
    const platform = new MemoryPlatform(3)
    const owner = platform.node(firstOwnerOf(LOCK, 3))
    await platform.during(owner.call({ ...ACQUIRE, user: 'a', waitMs: 5_000 }))
    silence(platform, ...[1, 2, 3].filter(id => id !== owner.id))
    expect(await platform.during(owner.call(call))).toMatchObject(noQuorum(detail))
  })
})

describe('an eject of a lock that guards no state, without one participant of three', () => {
  it.each(['ricart-agrawala', 'maekawa'] as const)('%s: does not speak of a majority', async protocol => {
    const platform = new MemoryPlatform(3, protocol)
    await platform.during(platform.node(1).call({ ...ACQUIRE, user: 'a', waitMs: 5_000 }))
    silence(platform, 1)
    const answer = await platform.during(platform.node(2).call({ type: 'eject' }))
    const detail =
      'Not all participants answered in time, and this protocol needs all of them for that. ' +
      'It may still happen. Ask again.'
    expect(answer).toMatchObject({ ...noQuorum(detail), outcome: 'unknown' })
  })
})

it('a deletion that was forced in vain does not hear that it should be forced', async () => {
  const platform = new MemoryPlatform(3)
  const first = platform.node(firstOwnerOf(LOCK, 3))
  await platform.during(first.call({ ...ACQUIRE, user: 'holder', waitMs: 5_000 }))
  const waiters = Array.from({ length: 120 }, (_, at) =>
    platform.node((at % 3) + 1).call({ ...ACQUIRE, user: `user-${at}`, waitMs: 25_000 }),
  )
  await platform.settle()
  const remove = { type: 'delete', user: 'operator', force: true, generation: null } as const
  const other = platform.nodes.find(node => node !== first)!
  const answer = await platform.during(other.call(remove))
  const advice = 'Whoever held it was ejected, but each time somebody else came next. Ask again.'
  expect(answer).toMatchObject({
    code: 'locked',
    detail: expect.stringMatching(new RegExp(`^The lock was not deleted: it is held.*\\. ${advice}$`)),
  })
  await platform.during(Promise.all(waiters))
})
