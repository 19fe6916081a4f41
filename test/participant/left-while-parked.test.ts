/** A user that gives up while its core is parked: nobody lets it in once the core goes on. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { LockEnvelope } from '../../shared/birth/messages.ts'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import { MESSAGE_FORMAT } from '../../shared/protocols/protocol.ts'
import { LOCK, type MemoryNode, MemoryPlatform } from './memory-platform.ts'

const BALLOT = 514

let platform: MemoryPlatform
let owner: MemoryNode
let other: MemoryNode

/** The owner has begun alone, and lets a user in. */
beforeEach(async () => {
  platform = new MemoryPlatform(3)
  owner = platform.node(firstOwnerOf(LOCK, 3))
  other = platform.nodes.find(node => node !== owner)!
  for (const node of platform.nodes) node.isAway = node !== owner
  expect(await acquire('a', 0)).toMatchObject({ type: 'done' })
})

const acquire = (user: string, waitMs: number, ticket = false, signal: AbortSignal | null = null) =>
  platform.during(
    owner.call({ type: 'acquire', user, waitMs, ttlMs: 20_000, ticket, confirm: false }, signal),
  )

function hear(body: LockEnvelope['body']) {
  const messages = [{ format: MESSAGE_FORMAT, generation: 1, body }]
  return owner.peer({ type: 'messages', from: other.id, messages } as never)
}

const value = () => ({ configuration: platform.defaults(owner.id), startEpoch: 0 })

/** Another one asks it to accept what it has begun with, in a ballot. */
async function park(): Promise<void> {
  await hear({ type: 'prepare', ballot: BALLOT })
  await hear({ type: 'accept', ballot: BALLOT, value: value() })
}

async function goOn(): Promise<void> {
  await hear({ type: 'chosen', value: value() })
  for (const node of platform.nodes) node.isAway = false
  await platform.advance(1_000)
}

async function queue(): Promise<number> {
  const answer = await platform.during(owner.call({ type: 'status' }))
  if (answer.type !== 'done') throw new Error(JSON.stringify(answer))
  return (answer.body as { readonly queue: number }).queue
}

async function withTicket(user: string): Promise<void> {
  expect(await acquire(user, 0, true)).toMatchObject({ status: 202 })
}

describe('a user that gives up while its core is parked waits no more once the core goes on', () => {
  it('one whose client has gone', async () => {
    const client = new AbortController()
    acquire('b', 20_000, false, client.signal).catch(() => {})
    await platform.settle()
    await park()
    client.abort()
    await platform.settle()
    await goOn()
    expect(await queue()).toBe(0)
  })

  it('nor if the instance begins anew before that', async () => {
    acquire('b', 20_000).catch(() => {})
    await platform.settle()
    await park()
    owner.restart()
    await goOn()
    expect(await queue()).toBe(0)
  })

  it('but one that has not given up does', async () => {
    await withTicket('b')
    await park()
    await goOn()
    expect(await queue()).toBe(1)
  })
})
