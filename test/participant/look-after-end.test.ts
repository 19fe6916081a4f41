import { expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import { LOCK, MemoryPlatform } from './memory-platform.ts'

it('a read at a participant that missed the end of the lock creates nothing', async () => {
  const platform = new MemoryPlatform(3)
  const first = firstOwnerOf(LOCK, 3)
  const [second, third] = [1, 2, 3].filter(id => id !== first) as [number, number]
  // `third` accepts what is chosen, and is cut off before it hears that it was.
  const node = platform.node(third)
  const peer = node.peer.bind(node)
  node.peer = async request => {
    const answer = await peer(request)
    const isAccept = JSON.stringify(request).includes('"type":"accept"')
    if (isAccept) node.isAway = true
    return answer
  }
  const configuration = { ...platform.defaults(second), ttlMs: 5_000 }
  const put = await platform.during(platform.node(second).call({ type: 'configure', configuration }))
  expect(put).toMatchObject({ type: 'done', status: 201 })
  await platform.advance(2_000)
  expect(node.isAway).toBe(true)
  const end = { type: 'delete', user: 'operator', force: false, generation: null } as const
  expect(await platform.during(platform.node(second).call(end))).toMatchObject({ type: 'done', status: 204 })
  await platform.advance(60_000)
  const read = (id: number) =>
    platform.during(platform.node(id).call({ type: 'get', key: 'n', consistency: 'linearizable' }))
  node.peer = peer
  node.isAway = false
  expect(await read(third)).toMatchObject({ code: 'no_such_lock' })
  expect(await read(second)).toMatchObject({ code: 'no_such_lock' })
})
