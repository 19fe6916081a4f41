/** Places for waiting, and for sessions, are shared between keys. */
import { beforeEach, describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { Places } from '../../worker/participant/core/places.ts'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'

const PLACES = API_LIMITS.waiters

let platform: MemoryPlatform
let node: MemoryNode
let users = 0

beforeEach(async () => {
  platform = new MemoryPlatform(1)
  node = platform.node(1)
  expect(await acquire('holder')).toMatchObject({ status: 200 })
})

const acquire = (client: string | undefined, user = `user-${++users}`) =>
  node.call({
    type: 'acquire',
    user,
    waitMs: 0,
    ttlMs: 600_000,
    ticket: true,
    confirm: false,
    ...(client !== undefined && { client }),
  })

const transact = (client: string) =>
  node.call({ type: 'transact', user: `user-${++users}`, opId: `${users}`, ops: [], waitMs: 9_000, client })

/** How many of this client's users get a place until one does not. */
async function fill(client: string | undefined): Promise<number> {
  for (let count = 0; ; count++) {
    const answer = await acquire(client)
    if (answer.type === 'done') continue
    expect(answer).toMatchObject({ type: 'problem', code: 'too_many', retryAfterSeconds: 1 })
    return count
  }
}

describe('places for waiting', () => {
  it('are not all for one key: another gets in, and one after that', async () => {
    expect(await fill('greedy')).toBe(PLACES / 2)
    expect(await fill('second')).toBe(PLACES / 4)
    expect(await acquire('third')).toMatchObject({ status: 202 })
    expect(await acquire('greedy')).toMatchObject({ code: 'too_many' })
  })

  it('are refused to a transact of a key that has its share, which is not applied', async () => {
    await fill('greedy')
    expect(await transact('greedy')).toMatchObject({ code: 'too_many', outcome: 'not-applied' })
  })

  it('are kept by users that ask again, and free when they leave', async () => {
    await acquire('greedy', 'mine')
    await fill('greedy')
    expect(await acquire('greedy', 'mine')).toMatchObject({ status: 202 })
    expect(await node.call({ type: 'withdraw', user: 'mine' })).toMatchObject({ status: 204 })
    expect(await acquire('greedy')).toMatchObject({ status: 202 })
    expect(await acquire('greedy')).toMatchObject({ code: 'too_many' })
  })

  it('are shared after a restart as before it', async () => {
    await fill('greedy')
    node.restart()
    expect(await acquire('greedy')).toMatchObject({ code: 'too_many' })
    expect(await acquire('second')).toMatchObject({ status: 202 })
  })

  it('are all there where there are no keys', async () => {
    expect(await fill(undefined)).toBe(PLACES)
  })

  it('are shared by sessions too, also after a restart', async () => {
    const socket = await node.session('a-session', 'greedy')
    await fill('greedy')
    const error = () => socket.sent.at(-1)
    node.say(socket, { type: 'try' })
    expect(error()).toMatchObject({ type: 'error', code: 'too_many' })
    node.restart()
    node.say(socket, { type: 'try' })
    expect(error()).toMatchObject({ type: 'error', code: 'too_many' })
  })

  it('are counted for a session that waits, when the instance is a new one', async () => {
    const socket = await node.session('a-session', 'greedy')
    node.say(socket, { type: 'try' })
    node.restart()
    expect(await fill('greedy')).toBe(PLACES / 2 - 1)
  })
})

describe('calls under way', () => {
  const poll = (key: string | undefined) =>
    node.call({ type: 'ticket', user: 'queued', waitMs: 600_000 }, null, key)
  const CALLS = API_LIMITS.callsInFlight
  const soon = () => new Promise(resolve => setTimeout(resolve, 1_000, 'it waits'))
  const isRefused = async (call: Promise<unknown>) =>
    expect(await Promise.race([call, soon()])).toMatchObject({ code: 'too_many' })

  it('are not all those of one key, whatever it asks for again and again', async () => {
    await acquire('greedy', 'queued')
    const polls = Array.from({ length: CALLS / 2 }, () => poll('greedy'))
    await isRefused(poll('greedy'))
    expect(await acquire('other')).toMatchObject({ status: 202 })
    const others = Array.from({ length: CALLS / 4 }, () => poll('other'))
    await isRefused(poll('other'))
    await node.call({ type: 'withdraw', user: 'queued' })
    await platform.during(Promise.all([...polls, ...others]))
    await acquire('greedy', 'queued')
    const again = poll('greedy')
    await node.call({ type: 'withdraw', user: 'queued' })
    expect(await platform.during(again)).toMatchObject({ code: 'no_such_ticket' })
  })

  it('hold not all operations of one key, and what makes room is always taken', async () => {
    const ops = [{ put: 'k', value: 'x'.repeat(200_000) }]
    const heavy = (key: string) =>
      node.call(
        { type: 'transact', user: `user-${++users}`, opId: `${users}`, ops, waitMs: 9_000 },
        null,
        key,
      )
    const share = Math.floor(API_LIMITS.callsWeight / 2 / 200_000)
    const waiting = Array.from({ length: share }, () => heavy('greedy'))
    await isRefused(heavy('greedy'))
    const other = heavy('other')
    const withdrawal = { type: 'withdraw', user: 'user-1' } as const
    expect(await node.call(withdrawal, null, 'greedy')).not.toMatchObject({ code: 'too_many' })
    const answers = await platform.during(Promise.all([...waiting, other]))
    for (const answer of answers) expect(answer).not.toMatchObject({ code: 'too_many' })
  })

  it('are all there where there are no keys', async () => {
    await acquire(undefined, 'queued')
    const polls = Array.from({ length: CALLS }, () => poll(undefined))
    await isRefused(poll(undefined))
    await node.call({ type: 'withdraw', user: 'queued' })
    await platform.during(Promise.all(polls))
  })
})

describe('sessions', () => {
  it('are not all for one key', async () => {
    for (let count = 0; count < API_LIMITS.sessionsPerParticipant / 2; count++)
      await node.session(`session-${count}`, 'greedy')
    expect(await node.refusedSession('one-more', 'greedy')).toMatchObject({ code: 'too_many' })
    expect(await node.refusedSession('other', 'second')).toBeNull()
  })
})

it('no more users are remembered than twice the places', () => {
  const places = new Places(4)
  for (let user = 0; user < 100; user++)
    places.take([{ user: 'first' }], user === 0 ? 'other' : `${user}`, 'key')
  const known = Array.from({ length: 100 }, (_, user) => places.clientOf(`${user}`)).filter(Boolean)
  expect(known.length).toBeLessThanOrEqual(8)
})
