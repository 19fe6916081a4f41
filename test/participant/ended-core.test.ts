/**
 * A participant that was away when its lock was deleted may hear of that from the first message of the next
 * lock of the name: then one step ends the one and does something to the other.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { HistoryEvent } from '../../shared/history/events.ts'
import { judge } from '../../shared/history/judge.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import type { Sink } from '../../worker/participant/runtime.ts'
import { LOCK, type MemoryNode, MemoryPlatform } from './memory-platform.ts'

const PARTICIPANTS = 3

let platform: MemoryPlatform
/** The one that begins a lock. */
let owner: MemoryNode
let other: MemoryNode

beforeEach(() => {
  platform = new MemoryPlatform(PARTICIPANTS)
  const defaults = platform.defaults.bind(platform)
  // A participant that gets an operation knows that two of three have it, and applies it at once.
  platform.defaults = id => ({ ...defaults(id), protocol: 'wme-1' })
  const first = firstOwnerOf(LOCK, PARTICIPANTS)
  owner = platform.node(first)
  other = platform.nodes.findLast(({ id }) => id !== first)!
})

async function add(node: MemoryNode, opId: string): Promise<number> {
  const ops = [{ increment: opId }] as never
  const call = { type: 'transact', user: `user-${opId}`, opId, ops, waitMs: 5_000 } as const
  const answer = await platform.during(node.call(call))
  if (answer.type !== 'done') throw new Error(JSON.stringify(answer))
  return (answer.body as { sequence: number }).sequence
}

async function historyOf(node: MemoryNode): Promise<readonly HistoryEvent[]> {
  const answer = await platform.during(node.call({ type: 'history' }))
  if (answer.type !== 'done') throw new Error(JSON.stringify(answer))
  return (answer.body as { events: HistoryEvent[] }).events
}

const invoked = (events: readonly HistoryEvent[]) =>
  events.flatMap(event => (event.type === 'invoke' ? [event.opId] : []))

/** From now on the other one exchanges nothing but messages of the next lock, and with its owner alone. */
function cutOff(): void {
  for (const receiver of platform.nodes) {
    const peer = receiver.peer.bind(receiver)
    receiver.peer = async request => {
      if (request.type !== 'messages') return peer(request)
      const ends = [request.from, receiver.id]
      if (!ends.includes(other.id)) return peer(request)
      const messages = request.messages.filter(
        ({ generation, body }) => generation > 1 && body.type === 'core',
      )
      if (messages.length === 0 || !ends.includes(owner.id)) throw new Error('unreachable')
      return peer({ ...request, messages })
    }
  }
}

/** Its holder has the lock when that is deleted, and it hears of the next one first. */
async function hearOfTheNextLock(): Promise<void> {
  await add(owner, 'old')
  const acquire = { type: 'acquire', user: 'holder', waitMs: 1_000, ttlMs: null, ticket: false } as const
  const held = await platform.during(other.call({ ...acquire, confirm: true }))
  expect(held).toMatchObject({ type: 'done' })
  expect(invoked(await historyOf(other))).toEqual(['old'])
  cutOff()
  const deleted = owner.call({ type: 'delete', user: 'operator', force: true, generation: null })
  expect(await platform.during(deleted)).toMatchObject({ type: 'done', status: 204 })
  expect(invoked(await historyOf(other))).toEqual(['old'])
  await add(owner, 'first')
  await add(owner, 'second')
  await platform.advance(5_000)
}

describe('a step that ends a lock and begins the next one', () => {
  it('has in its history what it did to the next one, and nothing of the one that is over', async () => {
    await hearOfTheNextLock()
    const events = await historyOf(other)
    expect(invoked(events)).toEqual(['first', 'second'])
    expect(events.map(({ type }) => type)).not.toContain('ejected')
    other.restart()
    expect(await historyOf(other)).toEqual(events)
  })

  it('leaves histories that the checker accepts', async () => {
    await hearOfTheNextLock()
    const all = await Promise.all(platform.nodes.map(historyOf))
    const events = all.flat().toSorted((a, b) => a.at - b.at)
    const header = {
      format: 1,
      protocol: 'wme-1',
      participants: PARTICIPANTS,
      resource: 'key-value',
      resultsKept: 1_000,
    } as const
    const { properties } = judge({ header, events }, keyValue)
    expect(properties.filter(({ verdict }) => verdict === 'invalid')).toEqual([])
  })

  it('tells a watcher that resumes of it', async () => {
    await hearOfTheNextLock()
    const heard: string[] = []
    const sink: Sink = { write: text => heard.push(text), fail: () => {}, unreadBytes: () => 0 }
    expect(await other.watch(sink, 0)).toBeNull()
    await platform.settle()
    const operations = [...heard.join('').matchAll(/"opId":"([a-z-]+)"/g)].map(([, opId]) => opId)
    expect(operations).toEqual(['first', 'second'])
  })
})
