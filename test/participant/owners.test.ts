/** What clients call themselves, and since when their users wait or hold. */
import { describe, expect, it } from 'vitest'
import type { HistoryEvent } from '../../shared/history/events.ts'
import type { HolderStatus, ParticipantAnswer, ParticipantStatus } from '../../worker/participant/calls.ts'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'

const TTL_MS = 60_000
const user = (name: string) => name.padEnd(22, '-')

function alone() {
  const platform = new MemoryPlatform(1)
  return { platform, node: platform.node(1) }
}

function acquire(node: MemoryNode, name: string, more: object = {}): Promise<ParticipantAnswer> {
  const asked = { waitMs: 0, ttlMs: TTL_MS, ticket: false, confirm: false, owner: name, ...more }
  return node.call({ type: 'acquire', user: user(name), ...asked })
}

async function release(node: MemoryNode, name: string): Promise<void> {
  const { fence } = (await statusOf(node)).holder!
  const answer = await node.call({ type: 'release', user: user(name), fence })
  expect(answer).toMatchObject({ type: 'done', status: 204 })
}

async function statusOf(node: MemoryNode): Promise<ParticipantStatus> {
  const answer = await node.call({ type: 'status' })
  return (answer as Extract<ParticipantAnswer, { type: 'done' }>).body as unknown as ParticipantStatus
}

const ownersIn = ({ rows }: MemoryNode) =>
  [...JSON.stringify([...rows.tables.journal]).matchAll(/\.user\//g)].length

describe('the holder', () => {
  it('is known by the name that it came with, and since when it is inside', async () => {
    const { platform, node } = alone()
    const since = new Date(platform.now).toISOString()
    await acquire(node, 'first')
    await platform.advance(5_000)
    const { holder, now } = await statusOf(node)
    expect(holder).toMatchObject({ participant: 1, owner: 'first', since })
    expect(Date.parse(now!) - Date.parse(since)).toBe(5_000)
    const refused = await acquire(node, 'second')
    expect(refused).toMatchObject({ code: 'locked', more: { holder: { owner: 'first', since } } })
  })

  it('asking again changes neither', async () => {
    const { platform, node } = alone()
    await acquire(node, 'first')
    const before = (await statusOf(node)).holder
    await platform.advance(5_000)
    await acquire(node, 'first', { owner: 'another' })
    expect((await statusOf(node)).holder).toEqual(before)
  })

  it('is the same after a restart', async () => {
    const { platform, node } = alone()
    await acquire(node, 'first')
    const before = (await statusOf(node)).holder
    node.restart()
    await platform.advance(1_000)
    expect((await statusOf(node)).holder).toEqual(before)
  })

  it('has no name if it gave none', async () => {
    const { platform, node } = alone()
    await acquire(node, 'first', { owner: undefined })
    node.restart()
    const holder = (await statusOf(node)).holder as HolderStatus
    expect(holder).toMatchObject({ since: new Date(platform.now).toISOString() })
    expect('owner' in holder).toBe(false)
  })

  it('is forgotten when it has left, and leaves nothing in storage', async () => {
    const { node } = alone()
    for (const name of ['first', 'second']) {
      await acquire(node, name)
      await release(node, name)
    }
    expect((await statusOf(node)).holder).toBeNull()
    await acquire(node, 'first', { owner: 'first, once more' })
    expect((await statusOf(node)).holder).toMatchObject({ owner: 'first, once more' })
    await release(node, 'first')
    node.restart()
    await acquire(node, 'third')
    expect((await statusOf(node)).holder).toMatchObject({ owner: 'third' })
    await release(node, 'third')
    await acquire(node, 'first', { owner: 'first again' })
    expect((await statusOf(node)).holder).toMatchObject({ owner: 'first again' })
  })

  it('costs no row of its own', async () => {
    const written = async (owner: string | undefined) => {
      const { node } = alone()
      await acquire(node, 'born')
      await release(node, 'born')
      let transactions = 0
      const { rows } = node
      const transaction = rows.transaction.bind(rows)
      rows.transaction = run => {
        transactions++
        transaction(run)
      }
      await acquire(node, 'first', { owner })
      await release(node, 'first')
      return transactions
    }
    expect([await written('x'.repeat(128)), await written(undefined)]).toEqual([2, 2])
  })

  it('of a transact is known while it lasts, and is not written', async () => {
    const { node } = alone()
    await acquire(node, 'born')
    await release(node, 'born')
    const before = ownersIn(node)
    const ops = [{ increment: 'n' }]
    await node.call({ type: 'transact', user: 't', opId: 'o', ops, waitMs: 0, owner: 'a transact' })
    expect(ownersIn(node)).toBeLessThanOrEqual(before)
    const answer = await node.call({ type: 'history' })
    const { events } = (answer as { readonly body?: unknown }).body as { events: readonly HistoryEvent[] }
    const owners = events.flatMap(event => (event.type === 'crit' ? [event.owner] : []))
    expect(owners).toEqual(['born', 'a transact'])
  })

  it('of a session is known, and after a restart too', async () => {
    const { platform, node } = alone()
    const socket = await node.session('s')
    node.say(socket, { type: 'try', owner: 'a session' })
    const since = new Date(platform.now).toISOString()
    expect((await statusOf(node)).holder).toMatchObject({ owner: 'a session', since })
    await platform.advance(1_000)
    node.restart()
    expect((await statusOf(node)).holder).toMatchObject({ owner: 'a session', since })
  })
})

describe('those that wait', () => {
  it('say since when the first of them does', async () => {
    const { platform, node } = alone()
    await acquire(node, 'first')
    expect(await statusOf(node)).toMatchObject({ queue: 0, waitingSince: null })
    await platform.advance(2_000)
    const since = new Date(platform.now).toISOString()
    await acquire(node, 'second', { ticket: true })
    await platform.advance(2_000)
    await acquire(node, 'third', { ticket: true })
    expect(await statusOf(node)).toMatchObject({ queue: 2, waitingSince: since })
    node.restart()
    expect(await statusOf(node)).toMatchObject({ queue: 2, waitingSince: since })
  })

  it('keep their names, also through a restart, and are inside since they came in', async () => {
    const { platform, node } = alone()
    await acquire(node, 'first')
    await acquire(node, 'second', { ticket: true })
    node.restart()
    await platform.advance(3_000)
    await release(node, 'first')
    const since = new Date(platform.now).toISOString()
    expect((await statusOf(node)).holder).toMatchObject({ owner: 'second', since })
    expect(await statusOf(node)).toMatchObject({ queue: 0, waitingSince: null })
  })

  it('are forgotten when they give up', async () => {
    const { node } = alone()
    await acquire(node, 'first')
    await acquire(node, 'second', { ticket: true })
    await node.call({ type: 'withdraw', user: user('second'), ofTicket: true })
    expect(await statusOf(node)).toMatchObject({ queue: 0, waitingSince: null })
  })
})
