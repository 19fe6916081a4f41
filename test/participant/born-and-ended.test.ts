/** A lock is deleted in the moment in which it is born, for those that have waited for that. */
import { expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { PeerRequest } from '../../worker/participant/peers/requests.ts'
import { LOCK, MemoryPlatform } from './memory-platform.ts'

const isSaying = (request: PeerRequest, type: string) =>
  request.type === 'messages' && request.messages.some(({ body }) => body.type === type)

it('regression: heard in one request, whoever waited is answered, and the instance goes on', async () => {
  const platform = new MemoryPlatform(3, 'wme-consensus')
  const owner = platform.node(firstOwnerOf(LOCK, 3))
  const [late, other] = platform.nodes.filter(node => node !== owner)
  const receive = late!.peer.bind(late)
  // It hears what is proposed, and neither that it was chosen nor anything after that, but the end.
  late!.peer = async request => {
    if (request.type === 'messages') {
      const isHeard =
        isSaying(request, 'prepare') || isSaying(request, 'accept') || isSaying(request, 'ended')
      if (!isHeard) throw new Error('unreachable')
    }
    return receive(request)
  }
  for (const node of [owner, other!]) {
    const heard = node.peer.bind(node)
    node.peer = async request => {
      if (request.type === 'messages' && request.from === late!.id) return new Promise(() => {})
      return heard(request)
    }
  }
  const configuration = { ...platform.defaults(owner.id), ttlMs: 5_000 }
  expect(await platform.during(owner.call({ type: 'configure', configuration }))).toMatchObject({
    status: 201,
  })
  const waiting = late!.call({ type: 'status' }).catch(error => error)
  await platform.settle()
  const remove = { type: 'delete', user: 'operator', force: true, generation: null } as const
  expect(await platform.during(owner.call(remove))).toMatchObject({ type: 'done', status: 204 })
  expect(await platform.during(waiting)).toMatchObject({ type: 'problem', code: 'no_such_lock' })
  expect(late!.aborts).toBe(0)
})

it('regression: deleted before those that waited go on, it lets them into the next lock', async () => {
  const platform = new MemoryPlatform(1)
  const node = platform.node(1)
  const wait = { waitMs: 0, ttlMs: 5_000, ticket: false, confirm: false }
  const acquired = node.call({ type: 'acquire', user: 'user', ...wait })
  const deleted = node.call({ type: 'delete', user: 'operator', force: false, generation: null })
  await platform.during(Promise.allSettled([acquired, deleted]))
  expect(node.aborts).toBe(0)
  expect(await acquired).toMatchObject({ type: 'done', body: { grant: { participant: 1 } } })
  expect(await deleted).toMatchObject({ type: 'done', status: 204 })
  const status = { body: { generation: 2, holder: { participant: 1 } } }
  expect(await platform.during(node.call({ type: 'status' }))).toMatchObject(status)
})
