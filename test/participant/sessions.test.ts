/** Sessions: signs of life, and clients that do not read. */
import { beforeEach, describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { type MemoryNode, MemoryPlatform, type MemorySocket } from './memory-platform.ts'

const TTL_MS = 10_000

let platform: MemoryPlatform
let node: MemoryNode
let socket: MemorySocket

beforeEach(async () => {
  platform = new MemoryPlatform(1)
  node = platform.node(1)
  socket = await node.session('someone')
  node.say(socket, { type: 'try', ttlMs: TTL_MS })
  expect(socket.sent.at(-1)).toMatchObject({ type: 'crit', ttlMs: TTL_MS })
})

const isInside = () => !socket.sent.some(({ type }) => type === 'ejected')

describe('the time to live of a session’s grant', () => {
  it('is over for a client that stands still, though its socket is open', async () => {
    await platform.advance(TTL_MS - 100)
    expect(isInside()).toBe(true)
    await platform.advance(200)
    expect(socket.sent.at(-1)).toEqual({ type: 'ejected', reason: 'expired' })
  })

  it.each<[string, () => void]>([
    ['a ping that the platform answers', () => Object.assign(socket, { pingAt: platform.now })],
    ['a message, even a wrong one', () => node.say(socket, { type: 'nonsense' })],
    ['an operation', () => node.say(socket, { type: 'issue', opId: `${platform.now}`, ops: [{ get: 'a' }] })],
  ])('counts from %s', async (_, giveSign) => {
    for (let sign = 0; sign < 7; sign++) {
      await platform.advance(TTL_MS / 2)
      giveSign()
    }
    await platform.advance(TTL_MS - 100)
    expect(isInside()).toBe(true)
    await platform.advance(200)
    expect(isInside()).toBe(false)
  })

  it.each<[string, () => void]>([
    ['a message', () => node.say(socket, { type: 'nonsense' })],
    ['a ping', () => Object.assign(socket, { pingAt: platform.now })],
  ])(
    'is over though the last sign, %s, seems to be still to come: the clock was set back',
    async (_, giveSign) => {
      await platform.advance(TTL_MS / 2)
      giveSign()
      node.restart()
      platform.now -= 3_600_000
      // The next event finds an instance with the right time.
      const other = await node.session('other')
      node.say(other, { type: 'try', waitMs: 60_000 })
      await platform.advance(3 * TTL_MS)
      expect(isInside()).toBe(false)
      expect(other.sent.at(-1)).toMatchObject({ type: 'crit' })
    },
  )

  it('goes on if the client gives signs after the clock was set back', async () => {
    node.say(socket, { type: 'nonsense' })
    node.restart()
    platform.now -= 3_600_000
    for (let sign = 0; sign < 7; sign++) {
      node.say(socket, { type: 'nonsense' })
      await platform.advance(TTL_MS / 2)
    }
    expect(isInside()).toBe(true)
  })

  it('is that of each grant: a later one may have another', async () => {
    node.say(socket, { type: 'exit' })
    node.say(socket, { type: 'try', ttlMs: 3 * TTL_MS })
    await platform.advance(TTL_MS)
    Object.assign(socket, { pingAt: platform.now })
    await platform.advance(3 * TTL_MS - 100)
    expect(isInside()).toBe(true)
    await platform.advance(200)
    expect(isInside()).toBe(false)
  })
})

describe('a client that does not read', () => {
  const big = 'x'.repeat(60_000)
  let operations = 0
  const read = () => {
    node.say(socket, { type: 'issue', opId: `read-${++operations}`, ops: [{ get: 'big' }] })
    return platform.settle()
  }
  const sentBytes = () => JSON.stringify(socket.sent).length
  const answerProbes = () => {
    for (const probe of socket.sent.filter(({ type }) => type === 'probe')) node.say(socket, probe)
  }

  beforeEach(async () => {
    node.say(socket, { type: 'issue', opId: 'put', ops: [{ put: 'big', value: big }] })
    await platform.settle()
  })

  it('is closed before much more waits for it than it may, and the lock is free', async () => {
    for (let round = 0; round < 200 && socket.closedWith === null; round++) await read()
    expect(socket.closedWith).toBe(1013)
    expect(sentBytes()).toBeGreaterThan(API_LIMITS.unreadSessionBytes)
    expect(sentBytes()).toBeLessThan(API_LIMITS.unreadSessionBytes + 2 * big.length)
    const status = await node.call({ type: 'status' })
    expect(status).toMatchObject({ type: 'done', body: { holder: null } })
  })

  it('is not closed if it answers the probes', async () => {
    for (let round = 0; round < 200; round++) {
      await read()
      answerProbes()
      socket.sent.length = 0
    }
    expect(socket.closedWith).toBeNull()
  })

  it('cannot answer a probe that it has not read', async () => {
    for (let round = 0; round < 200 && socket.closedWith === null; round++) {
      await read()
      node.say(socket, { type: 'probe', id: 'a guess' })
    }
    expect(socket.closedWith).toBe(1013)
  })
})

describe('a session that waits', () => {
  it('regression: is still known to wait if the instance ends right after it came', async () => {
    const other = await node.session('other')
    node.say(other, { type: 'try', waitMs: 60_000 })
    node.restart()
    node.say(socket, { type: 'exit' })
    await platform.advance(1_000)
    expect(other.sent.at(-1)).toMatchObject({ type: 'crit' })
  })
})

it('a session whose lock is deleted hears so, and of no request that it never made', async () => {
  const idle = await node.session('idle')
  const remove = { type: 'delete', user: 'operator', force: true, generation: null } as const
  await platform.during(node.call(remove))
  const told = 'The lock was deleted. A new session creates a new lock of this name.'
  const { sent } = socket
  expect(sent.slice(-2)).toEqual([
    { type: 'ejected', reason: 'operator' },
    { type: 'error', code: 'no_such_lock', detail: told },
  ])
  expect(idle.sent).toEqual([{ type: 'error', code: 'no_such_lock', detail: told }])
  expect([socket.closedWith, idle.closedWith]).toEqual([4404, 4404])
})
