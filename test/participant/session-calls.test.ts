/** `transact` and `get` of a session: under way, lost, left, and refused. */
import { beforeEach, describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { ParticipantAnswer, ParticipantStatus } from '../../worker/participant/calls.ts'
import type { Runtime } from '../../worker/participant/runtime.ts'
import { type SessionCall, SessionCalls } from '../../worker/participant/streams/session-calls.ts'
import { type MemoryNode, MemoryPlatform, MemorySocket } from './memory-platform.ts'

let platform: MemoryPlatform
let node: MemoryNode

beforeEach(async () => {
  platform = new MemoryPlatform(3)
  node = platform.node(1)
  const ops = [{ put: 'a', value: 1 }] as never
  await platform.during(node.call({ type: 'transact', user: 'u', opId: 'first', ops, waitMs: 0 }))
  await platform.settle()
})

const transact = (opId: string, waitMs = 20_000) => ({
  type: 'transact',
  opId,
  ops: [{ increment: 'n' }],
  waitMs,
})

const status = async (): Promise<ParticipantStatus> => {
  const answer = (await node.call({ type: 'status' })) as Extract<ParticipantAnswer, { type: 'done' }>
  return answer.body as unknown as ParticipantStatus
}

const setAway = (isAway: boolean) => {
  for (const other of [platform.node(2), platform.node(3)]) other.isAway = isAway
}

/** Somebody else holds the lock. */
async function held(): Promise<MemorySocket> {
  const holder = await node.session('holder')
  node.say(holder, { type: 'try' })
  await platform.settle()
  expect(holder.sent.at(-1)).toMatchObject({ type: 'crit' })
  return holder
}

describe('a transact of a session', () => {
  it('is counted where its client is, so that a lock can follow it', () => {
    const asked: SessionCall[] = []
    const runtime = { randomId: () => 'user', background: () => {} } as unknown as Runtime
    const calls = new SessionCalls({
      runtime,
      turns: {} as never,
      ask: call => {
        asked.push(call)
        return { leave: () => {} }
      },
      say: () => {},
    })
    const socket = new MemorySocket('someone', [])
    socket.attach({ heardAt: 0, ttlMs: null, unreadBytes: 0, probe: null, client: 'key', near: 'oc' })
    calls.ask(socket, { type: 'transact', opId: 'one', ops: [], waitMs: 0 })
    expect(asked).toMatchObject([{ type: 'transact', user: 'user', client: 'key', near: 'oc' }])
  })

  it('is answered only when its outcome is stored by a majority', async () => {
    const socket = await node.session('someone')
    setAway(true)
    node.say(socket, transact('one'))
    await platform.settle()
    expect(socket.sent).toEqual([])
    setAway(false)
    await platform.advance(5_000)
    expect(socket.sent).toMatchObject([
      { type: 'outcome', opId: 'one', applied: true, fence: expect.anything() },
    ])
    expect(await status()).toMatchObject({ holder: null, queue: 0, gauges: { calls: 1 } })
  })

  it('says that its outcome is unknown if no majority answers', async () => {
    const socket = await node.session('someone')
    setAway(true)
    node.say(socket, transact('one', 0))
    await platform.advance(15_000)
    expect(socket.sent).toMatchObject([
      { type: 'error', code: 'no_quorum', opId: 'one', outcome: 'unknown', retryAfterSeconds: 1 },
    ])
  })

  it('leaves the queue when its socket is closed', async () => {
    await held()
    const socket = await node.session('someone')
    for (const opId of ['one', 'two']) node.say(socket, transact(opId))
    expect(await status()).toMatchObject({ queue: 2, gauges: { calls: 3 } })
    node.close(socket)
    expect(await status()).toMatchObject({ queue: 0 })
    await platform.advance(30_000)
    expect(await status()).toMatchObject({ gauges: { calls: 1 } })
    expect(socket.sent).toEqual([])
  })

  it('leaves the queue when its session is closed because it does not read', async () => {
    const holder = await held()
    const socket = await node.session('someone')
    node.say(socket, transact('waits'))
    expect((await status()).queue).toBe(1)
    const value = 'x'.repeat(API_LIMITS.valueWeight / 2)
    node.say(holder, { type: 'issue', opId: 'big', ops: [{ put: 'big', value }] })
    await platform.settle()
    for (let count = 0; socket.closedWith === null && count < 1_000; count++)
      node.say(socket, { type: 'get', key: 'big', consistency: 'local' })
    expect(socket.closedWith).toBe(1013)
    expect((await status()).queue).toBe(0)
  })

  it('that was not answered is lost with its instance, and its session is told so once', async () => {
    await held()
    const socket = await node.session('someone')
    node.say(socket, transact('waits'))
    node.say(socket, { type: 'get', key: 'a' })
    await platform.settle()
    expect(socket.sent).toMatchObject([{ type: 'value', key: 'a', value: 1 }])
    node.restart()
    expect((await status()).queue).toBe(0)
    expect(socket.sent.slice(1)).toMatchObject([
      { type: 'error', code: 'no_quorum', outcome: 'unknown', lost: true },
    ])
    node.restart()
    expect(socket.sent).toHaveLength(2)
  })

  it('is told to be lost by a later instance, if the next one fails before it says anything', async () => {
    await held()
    const socket = await node.session('someone')
    node.say(socket, transact('waits'))
    node.restart()
    const { touch } = node.rows
    let touches = 0
    node.rows.touch = () => {
      // The first turn is that of the beginning.
      if (++touches === 2) throw new Error('superseded')
      return touch.call(node.rows)
    }
    await expect(status()).rejects.toThrow('superseded')
    expect(socket.sent).toEqual([])
    await status()
    expect(socket.sent).toMatchObject([{ type: 'error', outcome: 'unknown', lost: true }])
  })

  it('counts again in the very turn in which its session is told what was lost', async () => {
    await held()
    const socket = await node.session('someone')
    node.say(socket, transact('waits'))
    node.restart()
    node.say(socket, transact('waits too'))
    expect(socket.sent).toMatchObject([{ lost: true }])
    node.restart()
    await status()
    expect(socket.sent).toMatchObject([{ lost: true }, { lost: true }])
  })

  it('leaves nothing behind in a session whose calls were answered', async () => {
    const socket = await node.session('someone')
    node.say(socket, transact('one'))
    await platform.settle()
    node.say(socket, { type: 'get', key: 'n' })
    await platform.settle()
    expect(socket.sent).toMatchObject([{ type: 'outcome' }, { type: 'value', value: 1 }])
    node.restart()
    await status()
    expect(socket.sent).toHaveLength(2)
  })

  it('takes a place among the calls in flight, and is refused when there is none', async () => {
    await held()
    const socket = await node.session('someone')
    const calls = [...Array(API_LIMITS.callsInFlight)].map((_, index) =>
      node.call({ type: 'keepalive', user: `user ${index}`, fence: 0, ttlMs: null }).catch(() => {}),
    )
    node.say(socket, transact('no room'))
    node.say(socket, { type: 'get', key: 'a' })
    expect(socket.sent).toMatchObject([
      { type: 'error', code: 'too_many', opId: 'no room', outcome: 'not-applied', retryable: true },
      { type: 'error', code: 'too_many', key: 'a', retryAfterSeconds: 1 },
    ])
    expect(socket.sent[1]).not.toHaveProperty('outcome')
    await platform.during(Promise.all(calls))
    node.say(socket, transact('room', 0))
    await platform.settle()
    expect(socket.sent.at(-1)).toMatchObject({ type: 'error', code: 'locked', opId: 'room' })
  })
})

describe('a get of a session', () => {
  it('waits for a majority unless it is local', async () => {
    const socket = await node.session('someone')
    setAway(true)
    node.say(socket, { type: 'get', key: 'a' })
    node.say(socket, { type: 'get', key: 'a', consistency: 'local' })
    await platform.settle()
    expect(socket.sent).toMatchObject([{ type: 'value', consistency: 'local', value: 1 }])
    await platform.advance(15_000)
    expect(socket.sent[1]).toMatchObject({
      type: 'error',
      code: 'no_quorum',
      key: 'a',
      consistency: 'linearizable',
    })
  })

  it('is refused without the verb read, and a transact is not', async () => {
    const socket = await node.session('someone', undefined, false)
    node.say(socket, { type: 'get', key: 'a' })
    node.say(socket, transact('one'))
    await platform.settle()
    expect(socket.sent).toMatchObject([
      { type: 'error', code: 'forbidden', key: 'a', consistency: 'linearizable' },
      { type: 'outcome', opId: 'one' },
    ])
  })
})
