/** The index of locks: what its objects know, and how participants tell them. */
import { describe, expect, it } from 'vitest'
import {
  INDEX_LIMIT,
  INDEX_SHARDS,
  type IndexEntry,
  type IndexPage,
  indexName,
  isIndexName,
  mergePages,
  shardOf,
} from '../../shared/api/lock-index.ts'
import { Storage } from '../../worker/participant/core/storage.ts'
import { IndexKeeper, isIndex } from '../../worker/participant/index/keeper.ts'
import type { Runtime } from '../../worker/participant/runtime.ts'
import { MemoryPlatform } from './memory-platform.ts'
import { MemoryRows } from './memory-rows.ts'

const there = (generation = 1): IndexEntry => ({ generation, lock: { protocol: 'wme-2', participants: 3 } })
const gone = (generation: number): IndexEntry => ({ generation, lock: null })
const page = (isLast: boolean, ...entries: [string, IndexEntry][]): IndexPage => ({ entries, isLast })
const namesOf = ({ locks }: { readonly locks: readonly { readonly name: string }[] }) =>
  locks.map(({ name }) => name)

describe('pages of several objects', () => {
  it('are put together in the order of the names', () => {
    const merged = mergePages([page(true, ['b', there()], ['d', there()]), page(true, ['a', there()])], 10)
    expect([namesOf(merged), merged.through]).toEqual([['a', 'b', 'd'], null])
  })

  it('of what is said about one name, the latest generation counts, whoever says it', () => {
    const late = page(true, ['a', there(1)], ['b', there(1)], ['c', there(3)])
    const early = page(true, ['a', gone(2)], ['b', gone(2)], ['c', gone(3)])
    for (const pages of [
      [late, early],
      [early, late],
    ])
      expect(namesOf(mergePages(pages, 10))).toEqual(['c'])
  })

  it('end where the first of them does that is not the last: what comes after it is not known', () => {
    const merged = mergePages(
      [page(false, ['a', there()], ['c', there()]), page(true, ['b', there()], ['d', there()])],
      9,
    )
    expect([namesOf(merged), merged.through]).toEqual([['a', 'b', 'c'], 'c'])
  })

  it('end where there are enough, and say so', () => {
    const merged = mergePages([page(true, ['a', there()], ['b', gone(2)], ['c', there()], ['d', there()])], 2)
    expect([namesOf(merged), merged.through]).toEqual([['a', 'c'], 'c'])
  })

  it('a page of deleted locks alone has a cursor and no lock', () => {
    const merged = mergePages([page(false, ['a', gone(2)], ['b', gone(3)])], 2)
    expect([namesOf(merged), merged.through]).toEqual([[], 'b'])
  })
})

describe('the names of its objects', () => {
  it('are those that shards have, and no lock has one', () => {
    const shards = new Set(Array.from({ length: 200 }, (_, index) => shardOf(`lock-${index}`)))
    expect(shards.size).toBe(INDEX_SHARDS)
    for (const shard of shards) expect(isIndexName(indexName(shard))).toBe(true)
    for (const name of ['.index.', '.index.8', '.index.01', '.index.-1', '.ledger', 'index.1'])
      expect(isIndexName(name), name).toBe(false)
  })
})

describe('an object of the index', () => {
  const address = { lock: indexName(1), id: 2 }
  const open = (rows: MemoryRows) => {
    const storage = new Storage(rows, { eventsKept: 0 })
    const runtime = { rows, log() {}, abort() {}, now: () => 0 } as unknown as Runtime
    const keeper = new IndexKeeper(runtime, storage)
    const tell = (lock: string, entry: IndexEntry) => keeper.peer(address, { type: 'list-lock', lock, entry })
    const list = async (prefix = '', after = '', limit = 100) => {
      const answer = await keeper.call({ type: 'locks', prefix, after, limit })
      return (answer as unknown as { readonly body: IndexPage }).body
    }
    return { storage, tell, list }
  }

  it('remembers what it was told, and writes only what is news', async () => {
    const rows = new MemoryRows()
    const first = open(rows)
    await first.tell('b', there())
    await first.tell('a', there())
    const { writes } = rows
    await first.tell('a', there())
    expect(rows.writes).toBe(writes)
    const again = open(rows)
    expect(isIndex(again.storage)).toBe(true)
    expect(await again.list()).toEqual(page(true, ['a', there()], ['b', there()]))
  })

  it('does not bring back what was deleted because it is told late of it', async () => {
    const { tell, list } = open(new MemoryRows())
    await tell('a', gone(2))
    await tell('a', there(1))
    expect(await list()).toEqual(page(true, ['a', gone(2)]))
    await tell('a', there(2))
    await tell('a', gone(2))
    expect(await list()).toEqual(page(true, ['a', there(2)]))
  })

  it('gives pages of names that begin with something', async () => {
    const { tell, list } = open(new MemoryRows())
    for (const name of ['x-3', 'y-1', 'x-1', 'w-1', 'x-2']) await tell(name, there())
    expect(await list('x-', '', 2)).toEqual(page(false, ['x-1', there()], ['x-2', there()]))
    expect(await list('x-', 'x-2', 2)).toEqual(page(true, ['x-3', there()]))
    expect(await list('x-', 'y', 2)).toEqual(page(true))
    expect(await list('', 'x-3', 9)).toEqual(page(true, ['y-1', there()]))
  })

  it('is limited: locks that are gone make room', async () => {
    const { tell, list } = open(new MemoryRows())
    for (let count = 0; count < INDEX_LIMIT - 1; count++) await tell(`l${count}`, there())
    await tell('old', gone(2))
    await tell('new', there())
    await tell('one too many', there())
    expect((await list('old')).entries).toEqual([])
    expect((await list('new')).entries).toHaveLength(1)
    expect((await list('one')).entries).toEqual([])
  }, 60_000)
})

describe('a participant', () => {
  it('tells the index once, after the lock was of use, and again until it is heard', async () => {
    const platform = new MemoryPlatform(3)
    const told: string[] = []
    let isDown = true
    platform.tellIndex = ({ lock, entry }) => {
      told.push(`${lock} ${entry.generation}`)
      if (isDown) throw new Error('unreachable')
      return { type: 'taken' }
    }
    const transact = (opId: string) => {
      const call = { type: 'transact', user: opId, opId, ops: [{ increment: 'n' }], waitMs: 1_000 } as const
      return platform.during(platform.node(1).call(call))
    }
    expect(await transact('first')).toMatchObject({ type: 'done' })
    await platform.advance(1_000)
    const first = told.length
    expect(first).toBeGreaterThan(0)
    expect(await transact('second')).toMatchObject({ type: 'done' })
    expect(told).toHaveLength(first)
    isDown = false
    await platform.advance(60_000)
    expect(told.length).toBeGreaterThan(first)
    const heard = told.length
    expect(await transact('third')).toMatchObject({ type: 'done' })
    await platform.advance(60_000)
    expect(told).toHaveLength(heard)
  })
})
