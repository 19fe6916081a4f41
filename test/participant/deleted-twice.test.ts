/** A lock that is deleted at two participants at once is deleted for both of whoever asked. */
import { expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import { LOCK, MemoryPlatform } from './memory-platform.ts'

const FORCED = { type: 'delete', user: 'operator', force: true, generation: null } as const

it('regression: also for the one that was about to eject a holder when the other was done', async () => {
  const platform = new MemoryPlatform(3)
  const owner = platform.node(firstOwnerOf(LOCK, 3))
  const other = platform.nodes.find(node => node !== owner)!
  const acquire = { type: 'acquire', waitMs: 0, ttlMs: null, ticket: false, confirm: true } as const
  await platform.during(owner.call({ ...acquire, user: 'holder' }))
  await platform.advance(1_000)
  // What it asks nobody hears: it is about to eject most of the time.
  for (const receiver of platform.nodes) {
    const peer = receiver.peer.bind(receiver)
    receiver.peer = async request => {
      if (receiver !== other && 'from' in request && request.from === other.id) throw new Error('unreachable')
      return peer(request)
    }
  }
  const second = other.call(FORCED)
  await platform.advance(300)
  expect(await platform.during(owner.call(FORCED))).toMatchObject({ type: 'done', status: 204 })
  expect(await platform.during(second)).toMatchObject({ type: 'done', status: 204 })
})
