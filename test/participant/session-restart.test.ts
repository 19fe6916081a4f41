/** The socket of a session outlives the instance that it talks to: what it was told stays true. */
import { beforeEach, expect, it } from 'vitest'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'

let platform: MemoryPlatform
let node: MemoryNode

beforeEach(async () => {
  platform = new MemoryPlatform(3)
  node = platform.node(1)
  const ops = [{ put: 'a', value: 1 }]
  await platform.during(node.call({ type: 'transact', user: 'u', opId: 'first', ops, waitMs: 0 }))
  await platform.settle()
})

const holder = async (): Promise<unknown> =>
  ((await node.call({ type: 'status' })) as unknown as { readonly body: { readonly holder: unknown } }).body
    .holder

async function holding() {
  const socket = await node.session('s')
  node.say(socket, { type: 'try', ttlMs: 600_000 })
  await platform.settle()
  return socket
}

/** It issues an operation, is told the outcome, and the instance begins anew at once. */
async function restartedAfterOutcome() {
  const socket = await holding()
  node.say(socket, { type: 'issue', opId: 'o', ops: [{ increment: 'n' }] })
  const isTold = () => socket.sent.some(({ type }) => type === 'outcome')
  for (let turn = 0; turn < 1_000 && !isTold(); turn++) await Promise.resolve()
  expect(socket.sent.at(-1)).toMatchObject({ type: 'outcome', opId: 'o' })
  node.restart()
  return socket
}

it('exit after its outcome is an exit, though the instance began anew in between', async () => {
  const socket = await restartedAfterOutcome()
  node.say(socket, { type: 'exit' })
  await platform.advance(30_000)
  expect(await holder()).toBeNull()
  expect(socket.sent.at(-1)).toEqual({ type: 'rem' })
})

it('the next issue after an outcome is taken, though the instance began anew in between', async () => {
  const socket = await restartedAfterOutcome()
  node.say(socket, { type: 'issue', opId: 'o2', ops: [{ increment: 'n' }] })
  await platform.advance(30_000)
  expect(socket.sent.slice(1)).toMatchObject([
    { type: 'outcome', opId: 'o' },
    { type: 'outcome', opId: 'o2' },
  ])
})

it('one that is closed while its operation is pending holds nothing in the next instance', async () => {
  const socket = await holding()
  for (const id of [2, 3]) platform.node(id).isAway = true
  node.say(socket, { type: 'issue', opId: 'o', ops: [{ increment: 'n' }] })
  await platform.settle()
  node.close(socket)
  node.restart()
  for (const id of [2, 3]) platform.node(id).isAway = false
  await node.call({ type: 'status' })
  await platform.advance(15_000)
  expect(await holder()).toBeNull()
})
