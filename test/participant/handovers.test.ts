/**
 * Nobody comes back as a ghost: grants that nobody has taken, and acquires that come after their withdrawal.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import { userOfWaiter } from '../../shared/api/ids.ts'
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { ParticipantAnswer, ParticipantCall } from '../../worker/participant/calls.ts'
import { BRIEF_MS } from '../../worker/participant/core/handovers.ts'
import { Storage } from '../../worker/participant/core/storage.ts'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'

const TTL_MS = 60_000
const ROUTERS = 'u'.repeat(22)
const CLIENTS = userOfWaiter('v'.repeat(22))

let platform: MemoryPlatform
let node: MemoryNode

type Acquire = Extract<ParticipantCall, { type: 'acquire' }>

const acquire = (user: string, more: Partial<Acquire> = {}): Promise<ParticipantAnswer> =>
  node.call({
    ...{ type: 'acquire', user, waitMs: 20_000, ttlMs: TTL_MS, ticket: false, confirm: false },
    ...{ handsOver: true, ...more },
  })

const fenceIn = (answer: ParticipantAnswer): number =>
  (answer as unknown as { body: { grant: { fence: number } } }).body.grant.fence

async function holder(): Promise<{ fence: number; expiresAt: string } | null> {
  const answer = await node.call({ type: 'status' })
  return (answer as unknown as { body: { holder: { fence: number; expiresAt: string } | null } }).body.holder
}

/** The user waits until the first holder leaves. */
async function grantAfterWaiting(
  user: string,
  more: Partial<Acquire> = {},
  forMs = BRIEF_MS + 1,
): Promise<ParticipantAnswer> {
  const fence = fenceIn(await acquire('first'))
  const waiting = acquire(user, more)
  await platform.advance(forMs)
  await node.call({ type: 'release', user: 'first', fence })
  return waiting
}

/** What the participant has written. */
const keysFrom = (prefix: string): string[] =>
  new Storage(node.rows, { eventsKept: 0, journalRows: 1_000 }).keysFrom(prefix)

beforeEach(() => {
  platform = new MemoryPlatform(1)
  node = platform.node(1)
})

describe('a grant that was waited for, but for nobody', () => {
  /** The token is elsewhere, and comes after so long. */
  async function grantFromElsewhere(user: string, afterMs: number): Promise<ParticipantAnswer> {
    platform = new MemoryPlatform(3)
    node = platform.node(2)
    const ops = [{ increment: 'n' }] as never
    const first = platform.node(1).call({ type: 'transact', user: 'a', opId: 'a', ops, waitMs: 0 })
    await platform.during(first)
    await platform.advance(5_000)
    const [owner] = [platform.node(1), platform.node(3)].map(other => Object.assign(other, { isAway: true }))
    const waiting = acquire(user)
    await platform.advance(BRIEF_MS)
    owner!.isAway = false
    platform.node(3).isAway = false
    await platform.advance(afterMs)
    return platform.during(waiting)
  }

  it('is answered like one that was given at once, if a lock was born for it', async () => {
    platform = new MemoryPlatform(3)
    node = platform.node(1)
    const answer = await platform.during(acquire(ROUTERS))
    expect(answer).toMatchObject({ type: 'done', status: 200 })
    expect(answer).not.toHaveProperty('isUntaken')
    await platform.advance(API_LIMITS.untakenMs + 1_000)
    expect(await holder()).toMatchObject({ fence: fenceIn(answer) })
  })

  it('is handed over if it came late, because its client may have gone meanwhile', async () => {
    expect(await grantFromElsewhere(ROUTERS, 3_000)).toMatchObject({ type: 'done', isUntaken: true })
  })
})

describe('a grant that was given after waiting', () => {
  it('briefly is answered like one that was given at once, whoever had the lock', async () => {
    const answer = await grantAfterWaiting(ROUTERS, {}, BRIEF_MS - 1)
    expect(answer).toMatchObject({ type: 'done', status: 200 })
    expect(answer).not.toHaveProperty('isUntaken')
  })

  const forRouter = { type: 'done', status: 200, isUntaken: true }
  const forClient = { type: 'done', status: 200, body: { grant: { confirmMs: API_LIMITS.untakenMs } } }

  it.each([
    ['that the router named', ROUTERS, forRouter, forClient],
    ['that the client named', CLIENTS, forClient, forRouter],
  ])('ends soon if nobody takes it, of a user %s', async (_, user, expected, other) => {
    const answer = await grantAfterWaiting(user)
    expect(answer).toMatchObject(expected)
    expect(answer).not.toMatchObject(other)
    await platform.advance(API_LIMITS.untakenMs - 100)
    expect(await holder()).toMatchObject({ fence: fenceIn(answer) })
    await platform.advance(200)
    expect(await holder()).toBeNull()
    const late = await node.call({ type: 'keepalive', user, fence: fenceIn(answer), ttlMs: null })
    expect(late).toMatchObject({ type: 'problem', code: 'expired' })
  })

  it.each<[string, (user: string, fence: number) => ParticipantCall]>([
    ['the router confirms', user => ({ type: 'confirm', user })],
    ['a keep-alive comes', (user, fence) => ({ type: 'keepalive', user, fence, ttlMs: null })],
    ['an operation comes', (user, fence) => ({ type: 'ops', user, fence, opId: 'a', ops: [{ get: 'a' }] })],
  ])('lasts for its time to live once %s', async (_, use) => {
    const answer = await grantAfterWaiting(ROUTERS)
    const { expiresAt } = (await holder())!
    expect(Date.parse(expiresAt) - platform.now).toBe(TTL_MS)
    await node.call(use(ROUTERS, fenceIn(answer)))
    await platform.advance(TTL_MS - 100)
    expect(await holder()).not.toBeNull()
    await platform.advance(200)
    expect(await holder()).toBeNull()
  })

  it('ends soon although the instance begins anew meanwhile', async () => {
    await grantAfterWaiting(ROUTERS)
    node.restart()
    expect(await holder()).not.toBeNull()
    await platform.advance(API_LIMITS.untakenMs + 100)
    expect(await holder()).toBeNull()
    expect(keysFrom('.untaken/')).toEqual([])
  })

  it('leaves the next user alone that comes after it was released', async () => {
    const answer = await grantAfterWaiting(ROUTERS)
    const next = acquire('next')
    await platform.settle()
    await node.call({ type: 'release', user: ROUTERS, fence: fenceIn(answer) })
    await node.call({ type: 'confirm', user: 'next' })
    const { fence } = (await holder())!
    expect(fence).toBe(fenceIn(await next))
    await platform.advance(2 * API_LIMITS.untakenMs)
    expect(await holder()).toMatchObject({ fence })
  })

  it('is left alone if its router is one of before, that knows of no confirmation', async () => {
    const call = { type: 'acquire', user: ROUTERS, waitMs: 20_000, ttlMs: TTL_MS } as const
    const { fence } = { fence: fenceIn(await acquire('first')) }
    const waiting = node.call({ ...call, ticket: false, confirm: false })
    await platform.settle()
    await node.call({ type: 'release', user: 'first', fence })
    expect(await waiting).not.toHaveProperty('isUntaken')
    await platform.advance(2 * API_LIMITS.untakenMs)
    expect(await holder()).not.toBeNull()
  })
})

describe('a grant that was given at once', () => {
  it.each([ROUTERS, CLIENTS])('lasts for its time to live (%s)', async user => {
    const answer = await acquire(user)
    expect(answer).not.toHaveProperty('isUntaken')
    expect(answer).not.toHaveProperty('body.grant.confirmMs')
    await platform.advance(TTL_MS - 100)
    expect(await holder()).not.toBeNull()
  })
})

describe('the grant of a ticket', () => {
  const waitWithTicket = async (user: string): Promise<number> => {
    const fence = fenceIn(await acquire('first'))
    expect(await acquire(user, { ticket: true, waitMs: 0 })).toMatchObject({ status: 202 })
    await platform.advance(BRIEF_MS + 1)
    await node.call({ type: 'release', user: 'first', fence })
    return (await holder())!.fence
  }

  it('waits for its client, which comes back when it likes', async () => {
    const fence = await waitWithTicket(ROUTERS)
    await platform.advance(2 * API_LIMITS.untakenMs)
    const answer = await node.call({ type: 'ticket', user: ROUTERS, waitMs: 0 })
    expect(fenceIn(answer)).toBe(fence)
    expect(answer).not.toHaveProperty('isUntaken')
  })

  it('ends soon if the client named its waiter, and asks no more', async () => {
    await waitWithTicket(CLIENTS)
    await platform.advance(API_LIMITS.untakenMs + 100)
    expect(await holder()).toBeNull()
  })

  it('is handed over by the next question otherwise', async () => {
    await waitWithTicket(CLIENTS)
    await platform.advance(API_LIMITS.untakenMs - 100)
    const answer = await node.call({ type: 'ticket', user: CLIENTS, waitMs: 0 })
    expect(answer).toMatchObject({ status: 200, body: { grant: { confirmMs: API_LIMITS.untakenMs } } })
    await node.call({ type: 'keepalive', user: CLIENTS, fence: fenceIn(answer), ttlMs: null })
    await platform.advance(2 * API_LIMITS.untakenMs)
    expect(await holder()).not.toBeNull()
  })
})

describe('a withdrawal', () => {
  const withdraw = (user: string) => node.call({ type: 'withdraw', user })
  const deleted = async () => {
    const end = { type: 'delete', user: 'operator', force: true, generation: null } as const
    expect(await platform.during(node.call(end))).toMatchObject({ status: 204 })
  }

  it('ends the wait, and the grant if there is one', async () => {
    const fence = fenceIn(await acquire('first'))
    const waiting = acquire(CLIENTS)
    await platform.settle()
    expect(await withdraw(CLIENTS)).toMatchObject({ status: 204 })
    expect(await waiting).toMatchObject({ code: 'locked' })
    await node.call({ type: 'release', user: 'first', fence })
    expect(await holder()).toBeNull()
    const other = userOfWaiter('x'.repeat(22))
    await acquire(other)
    await withdraw(other)
    expect(await holder()).toBeNull()
  })

  it.each([
    ['', () => {}],
    [', also after the instance began anew', () => node.restart()],
  ])('works before the acquire comes%s', async (_, meanwhile) => {
    await withdraw(CLIENTS)
    meanwhile()
    expect(await acquire(CLIENTS)).toMatchObject({ type: 'problem', code: 'conflict' })
    expect(await holder()).toBeNull()
  })

  it.each([
    ['', () => {}],
    [', also after the instance began anew', () => node.restart()],
  ])('regression: keeps it out of the next lock of the name, too%s', async (_, meanwhile) => {
    await acquire('first')
    await withdraw(CLIENTS)
    await deleted()
    meanwhile()
    expect(await platform.during(acquire(CLIENTS))).toMatchObject({ type: 'problem', code: 'conflict' })
    expect(keysFrom('.withdrawn/')).toHaveLength(1)
  })

  it('leaves nothing behind when the lock is deleted later', async () => {
    await acquire('first')
    await withdraw(CLIENTS)
    await platform.advance(API_LIMITS.withdrawnMs)
    await deleted()
    expect(keysFrom('.withdrawn/')).toEqual([])
  })

  it('is remembered for as long as a request can be on its way, and no longer', async () => {
    await withdraw(CLIENTS)
    await platform.advance(API_LIMITS.withdrawnMs - 1)
    expect(await acquire(CLIENTS)).toMatchObject({ code: 'conflict' })
    await platform.advance(1)
    expect(await acquire(CLIENTS)).toMatchObject({ status: 200 })
  })

  it('is one of a bounded number: the oldest is forgotten', async () => {
    const nameOf = (count: number) => userOfWaiter(String(count).padStart(22, 'w'))
    for (let count = 0; count <= API_LIMITS.withdrawals; count++) await withdraw(nameOf(count))
    expect(keysFrom('.withdrawn/')).toHaveLength(API_LIMITS.withdrawals)
    expect(await acquire(nameOf(API_LIMITS.withdrawals))).toMatchObject({ code: 'conflict' })
    expect(await acquire(nameOf(0))).toMatchObject({ status: 200 })
  })
})
