/** What outlives a lock: how far it had come, so that whoever knew it notices that there is another one. */
import { expect, it } from 'vitest'
import type { ParticipantAnswer } from '../../worker/participant/calls.ts'
import type { Sink } from '../../worker/participant/runtime.ts'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'

let operations = 0

async function use(platform: MemoryPlatform, node: MemoryNode): Promise<number> {
  const opId = `op-${++operations}`
  const ops = [{ increment: 'n' }]
  const answer = await platform.during(node.call({ type: 'transact', user: opId, opId, ops, waitMs: 5_000 }))
  return (bodyOf(answer) as { readonly sequence: number }).sequence
}

function bodyOf(answer: ParticipantAnswer): unknown {
  if (answer.type !== 'done') throw new Error(JSON.stringify(answer))
  return answer.body
}

it('a watcher of a lock that was deleted begins with a snapshot of the next one', async () => {
  const platform = new MemoryPlatform(1)
  const node = platform.node(1)
  let last = 0
  for (let count = 0; count < 5; count++) last = await use(platform, node)
  const end = { type: 'delete', user: 'operator', force: false, generation: null } as const
  await platform.during(node.call(end))
  const first = await use(platform, node)
  expect(first).toBeLessThan(last)
  const heardSince = async (since: number) => {
    let text = ''
    const sink: Sink = {
      write: more => {
        text += more
      },
      unreadBytes: () => 0,
      fail: () => {},
    }
    await node.watch(sink, since)
    await platform.settle()
    return text
  }
  expect(await heardSince(last)).toContain('"anew":true')
  expect(await heardSince(0)).not.toContain('snapshot')
  let now = first
  while (now <= last + 3) now = await use(platform, node)
  expect(await heardSince(now - 1)).not.toContain('snapshot')
})
