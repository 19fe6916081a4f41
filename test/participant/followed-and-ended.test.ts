/** A participant hears in one request that it may move its lock, and that the lock was deleted since. */
import { expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { PeerRequest } from '../../worker/participant/peers/requests.ts'
import { LOCK, MemoryPlatform } from './memory-platform.ts'

type Messages = Extract<PeerRequest, { type: 'messages' }>

const PLACES = ['weur', 'enam', 'apac']

it('regression: the lock is not moved, and the instance goes on', async () => {
  const platform = new MemoryPlatform(3)
  const defaults = platform.defaults.bind(platform)
  platform.defaults = id => {
    const { participants, ...rest } = defaults(id)
    const places = participants.map((place, index) => ({ ...place, location: PLACES[index]! }))
    return { ...rest, participants: places, follow: true }
  }
  const owner = platform.node(firstOwnerOf(LOCK, 3))
  const asked = platform.nodes.find(node => node !== owner)!
  const transact = (node: typeof owner, opId: string, near?: string) => {
    const ops = [{ increment: 'n' }] as never
    return node.call({ type: 'transact', user: opId, opId, ops, waitMs: 60_000, ...(near && { near }) })
  }
  for (let count = 0; count < 29; count++)
    expect(await platform.during(transact(asked, `op-${count}`, 'oc'))).toMatchObject({ type: 'done' })
  expect(await platform.during(transact(owner, 'back'))).toMatchObject({ type: 'done' })
  const kept: Messages[] = []
  const ends = platform.nodes.map(({ peer }) => peer)
  let isCut = false
  for (const [index, receiver] of platform.nodes.entries())
    receiver.peer = async request => {
      const isFromAsked = 'from' in request && request.from === asked.id
      if (receiver === asked && request.type === 'messages') {
        if (request.from === owner.id) kept.push(request)
        throw new Error('unreachable')
      }
      if (isCut && isFromAsked) throw new Error('unreachable')
      const answer = await ends[index]!.call(receiver, request)
      if (!isFromAsked || request.type !== 'messages') return answer
      if (receiver === owner && answer.type === 'messages')
        kept.push({ type: 'messages', from: owner.id, messages: answer.messages })
      throw new Error('the answer got lost')
    }
  const last = transact(asked, 'op-29', 'oc').catch(error => error)
  await platform.settle()
  isCut = true
  const remove = { type: 'delete', user: 'operator', force: true, generation: null } as const
  expect(await platform.during(owner.call(remove))).toMatchObject({ type: 'done', status: 204 })
  for (const [index, receiver] of platform.nodes.entries()) receiver.peer = ends[index]!
  const messages = kept.flatMap(one => one.messages)
  await asked.peer({ type: 'messages', from: owner.id, messages }).catch(() => {})
  // It was let in before the end, and could do nothing after it.
  expect(await platform.during(last)).toMatchObject({ type: 'problem', outcome: 'not-applied' })
  expect(asked.aborts).toBe(0)
})
