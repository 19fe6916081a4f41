/**
 * Users whose connection is gone, with their client or with the instance that had it, keep nobody waiting.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import type { ParticipantAnswer, ParticipantCall, ParticipantStatus } from '../../worker/participant/calls.ts'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'

const ADD = [{ increment: 'n' }] as never

let platform: MemoryPlatform
let node: MemoryNode

beforeEach(async () => {
  platform = new MemoryPlatform(3)
  node = platform.node(1)
  expect(await platform.during(node.call(transact('first')))).toMatchObject({ type: 'done' })
  await platform.settle()
})

function transact(user: string): ParticipantCall {
  return { type: 'transact', user, opId: user, ops: ADD, waitMs: 20_000 }
}

function acquire(user: string, ticket = false): ParticipantCall {
  return { type: 'acquire', user, waitMs: ticket ? 0 : 20_000, ttlMs: 60_000, ticket, confirm: false }
}

const status = async (): Promise<ParticipantStatus> => {
  const answer = (await node.call({ type: 'status' })) as Extract<ParticipantAnswer, { type: 'done' }>
  return answer.body as unknown as ParticipantStatus
}

const others = () => [platform.node(2), platform.node(3)]

const setAway = (isAway: boolean) => {
  for (const other of others()) other.isAway = isAway
}

/** Nobody waits for the answer any more. */
const forget = (answer: Promise<unknown>) => void answer.catch(() => {})

describe('a new instance', () => {
  it('sends whoever waited without a ticket away, and keeps whoever has one', async () => {
    await platform.during(node.call(acquire('holder')))
    for (const user of ['one', 'two']) forget(node.call(acquire(user)))
    forget(node.call(transact('three')))
    await platform.during(node.call(acquire('with a ticket', true)))
    expect((await status()).queue).toBe(4)
    node.restart()
    expect((await status()).queue).toBe(1)
  })

  it('lets a transact go whose operation is settled only now', async () => {
    setAway(true)
    forget(node.call(transact('slow')))
    await platform.settle()
    node.restart()
    expect((await status()).holder).not.toBeNull()
    setAway(false)
    await platform.advance(10_000)
    expect(await status()).toMatchObject({ holder: null, sequence: 4 })
  })
})

it('a transact that was told that its outcome is unknown does not keep the lock', async () => {
  // With this protocol the release is a step of its own, after the outcome.
  platform = new MemoryPlatform(3, 'wme-consensus')
  node = platform.node(1)
  await platform.during(node.call(transact('first')))
  let isCut = true
  for (const other of others()) {
    const receive = other.peer.bind(other)
    other.peer = async request => {
      if (isCut && JSON.stringify(request).includes('in doubt')) throw new Error('unreachable')
      return receive(request)
    }
  }
  const call = { ...transact('slow'), opId: 'in doubt', waitMs: 0 }
  expect(await platform.during(node.call(call))).toMatchObject({ outcome: 'unknown' })
  isCut = false
  await platform.advance(10_000)
  expect(await status()).toMatchObject({ holder: null })
})

describe('a client that goes away', () => {
  const calls: { readonly [name: string]: ParticipantCall } = {
    acquire: acquire('gone'),
    transact: transact('gone'),
  }

  it.each(Object.keys(calls))('while its %s waits does not wait any longer', async name => {
    await platform.during(node.call(acquire('holder')))
    const gone = new AbortController()
    forget(node.call(calls[name]!, gone.signal))
    await platform.settle()
    expect((await status()).queue).toBe(1)
    gone.abort()
    expect((await status()).queue).toBe(0)
  })

  it.each(Object.keys(calls))('before its %s begins holds nothing', async name => {
    const gone = new AbortController()
    gone.abort()
    await platform.during(node.call(calls[name]!, gone.signal))
    expect(await status()).toMatchObject({ queue: 0, holder: null })
  })

  it('with its session leaves at once, inside or waiting', async () => {
    const [inside, waiting] = [await node.session('inside'), await node.session('waiting')]
    for (const socket of [inside, waiting]) node.say(socket, { type: 'try' })
    await platform.settle()
    expect(inside.sent.at(-1)).toMatchObject({ type: 'crit' })
    expect((await status()).queue).toBe(1)
    node.close(waiting)
    expect((await status()).queue).toBe(0)
    node.close(inside)
    expect((await status()).holder).toBeNull()
  })

  it('while its operation is on its way leaves when that is settled', async () => {
    setAway(true)
    const gone = new AbortController()
    forget(node.call(transact('gone'), gone.signal))
    await platform.settle()
    gone.abort()
    setAway(false)
    await platform.advance(5_000)
    expect(await status()).toMatchObject({ holder: null, sequence: 4 })
  })
})
