/** Waits after the clock of the machine was set back: they last no longer than one that begins now. */
import { beforeEach, expect, it } from 'vitest'
import type { ParticipantCall } from '../../worker/participant/calls.ts'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'

const AN_HOUR_MS = 3_600_000

let platform: MemoryPlatform
let node: MemoryNode

const acquire = (user: string, ticket: boolean): ParticipantCall => ({
  type: 'acquire',
  ...{ user, waitMs: 0, ttlMs: 600_000, ticket, confirm: false },
})
const ask = (call: ParticipantCall) => platform.during(node.call(call))

async function waiting(): Promise<number> {
  const status = (await ask({ type: 'status' })) as unknown as { body: { queue: number } }
  return status.body.queue
}

/** The instance that finds out ends. */
async function setBack() {
  platform.now -= AN_HOUR_MS
  await expect(node.call({ type: 'status' })).rejects.toThrow('set back')
  expect(await waiting()).toBe(1)
}

beforeEach(async () => {
  platform = new MemoryPlatform(1)
  node = platform.node(1)
  expect(await ask(acquire('a'.repeat(22), false))).toMatchObject({ status: 200 })
})

it('regression: a ticket that nobody asks for any more is withdrawn after a minute', async () => {
  expect(await ask(acquire('b'.repeat(22), true))).toMatchObject({ status: 202 })
  await platform.advance(1_000)
  await setBack()
  await platform.advance(59_000)
  expect(await waiting()).toBe(1)
  await platform.advance(2_000)
  expect(await waiting()).toBe(0)
})

it('regression: a session waits no longer than it wanted to', async () => {
  const socket = await node.session('s')
  node.say(socket, { type: 'try', waitMs: 120_000 })
  await platform.advance(1_000)
  await setBack()
  await platform.advance(119_000)
  expect(await waiting()).toBe(1)
  await platform.advance(2_000)
  expect(await waiting()).toBe(0)
  expect(socket.sent.at(-1)).toMatchObject({ type: 'error', code: 'locked' })
})

it('a session that waits as long as it takes goes on waiting', async () => {
  const socket = await node.session('s')
  node.say(socket, { type: 'try' })
  await platform.advance(1_000)
  await setBack()
  await platform.advance(300_000)
  expect(await waiting()).toBe(1)
})

it('a wait that no clock has prolonged ends when it was to, in a new instance, too', async () => {
  expect(await ask(acquire('b'.repeat(22), true))).toMatchObject({ status: 202 })
  await platform.advance(30_000)
  node.restart()
  expect(await waiting()).toBe(1)
  await platform.advance(31_000)
  expect(await waiting()).toBe(0)
})
