/**
 * A lock that guards no state is ended by its holder alone. As long as nobody else has heard of it, a storage
 * that is lost would undo that.
 */
import { expect, it } from 'vitest'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'

const PARTICIPANTS = 5

async function setUp(): Promise<{ platform: MemoryPlatform; node: MemoryNode }> {
  const platform = new MemoryPlatform(PARTICIPANTS, 'ricart-agrawala')
  const node = platform.node(1)
  const call = {
    type: 'acquire',
    user: 'a',
    waitMs: 1_000,
    ttlMs: null,
    ticket: false,
    confirm: false,
  } as const
  expect(await platform.during(node.call(call))).toMatchObject({ status: 200 })
  return { platform, node }
}

const remove = (platform: MemoryPlatform, node: MemoryNode) =>
  platform.during(node.call({ type: 'delete', user: 'operator', generation: 1, force: true }))

it.each([
  [0, { type: 'problem', code: 'no_quorum', outcome: 'unknown' }],
  [1, { type: 'problem', code: 'no_quorum', outcome: 'unknown' }],
  [2, { status: 204 }],
])('a lock without a log is deleted once a majority knows: %i others hear of it', async (heard, answer) => {
  const { platform, node } = await setUp()
  for (const other of platform.nodes) other.isAway = other !== node && other.id > heard + 1
  expect(await remove(platform, node)).toMatchObject(answer)
  const { type } = await remove(platform, node)
  node.restart()
  const again = await remove(platform, node)
  expect([type, again.type]).toEqual('status' in answer ? ['done', 'done'] : ['problem', 'problem'])
  for (const other of platform.nodes) other.isAway = false
  await platform.advance(10_000)
  expect(await remove(platform, node)).toMatchObject({ status: 204 })
})
