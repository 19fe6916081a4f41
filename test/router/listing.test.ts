/** What `GET /v1/locks` tells a key: the locks that it may read, in pages, and nothing of the others. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { parseCursor } from '../../shared/api/ids.ts'
import { INDEX_SHARDS, indexName, shardOf } from '../../shared/api/lock-index.ts'
import type { ParticipantCall } from '../../worker/participant/calls.ts'
import { Storage } from '../../worker/participant/core/storage.ts'
import { IndexKeeper } from '../../worker/participant/index/keeper.ts'
import type { Runtime } from '../../worker/participant/runtime.ts'
import { parseKeys } from '../../worker/router/keys.ts'
import { MemoryRows } from '../participant/memory-rows.ts'
import { createHarness, type Harness, problemOf } from './fake.ts'

const AS_KEY = { headers: { authorization: 'Bearer k' } }
const NAMES = [
  'acme-payroll',
  'mine',
  'mine-1',
  'mine-2',
  'mine-20',
  'my-3',
  'other-1',
  'zeta',
  'zeta-merger',
]

/** The objects of one index, which is that of every participant. */
function indexOf(names: readonly string[]): (lock: string, call: ParticipantCall) => Promise<Response> {
  const runtime = { rows: new MemoryRows(), log() {}, abort() {}, now: () => 0 } as unknown as Runtime
  const keepers = Array.from(
    { length: INDEX_SHARDS },
    () => new IndexKeeper(runtime, new Storage(new MemoryRows(), { eventsKept: 0 })),
  )
  const entry = { generation: 1, lock: { protocol: 'wme-2', participants: 3 } }
  for (const name of names) {
    const shard = shardOf(name)
    void keepers[shard]!.peer({ lock: indexName(shard), id: 1 }, { type: 'list-lock', lock: name, entry })
  }
  return async (lock, call) => Response.json(await keepers[Number(lock.slice('.index.'.length))]!.call(call))
}

/** `isOlder`: the objects are of a build that knows no patterns. */
function service(
  locks: readonly string[],
  isOlder = false,
  names = NAMES,
): { harness: Harness; calls: ParticipantCall[] } {
  const index = indexOf(names)
  const calls: ParticipantCall[] = []
  const hash = createHash('sha256').update('k').digest('hex')
  const entries = [
    { name: 'mine', hash, locks, verbs: ['read'] },
    { name: 'writer', hash, locks: ['*'], verbs: ['acquire'] },
  ]
  const participants = {
    async fetch(lock: string, _: unknown, request: Request): Promise<Response> {
      const { call } = (await request.json()) as { call: Extract<ParticipantCall, { type: 'locks' }> }
      calls.push(call)
      const { within: _within, ...older } = call
      return index(lock, isOlder ? older : call)
    },
  }
  return { harness: createHarness({ participants, keys: parseKeys(JSON.stringify(entries)) }), calls }
}

/** All that the pages tell, and where each of them but the last one ends. */
async function pagesOf({ send }: Harness, query: string): Promise<{ names: string[]; cursors: string[] }> {
  const [names, cursors]: string[][] = [[], []]
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/v1/locks?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`
    const answer = await send('GET', path, undefined, AS_KEY)
    expect(answer.status).toBe(200)
    const body = (await answer.json()) as { locks: { lock: string }[]; cursor: string | null }
    names!.push(...body.locks.map(({ lock }) => lock))
    cursor = body.cursor
    if (cursor !== null) cursors!.push(parseCursor(cursor)!)
  }
  return { names: names!, cursors: cursors! }
}

const KEYS: readonly (readonly [locks: string[], prefix: string, told: string[]])[] = [
  [['mine-*'], '', ['mine-1', 'mine-2', 'mine-20']],
  [['mine-*'], 'mi', ['mine-1', 'mine-2', 'mine-20']],
  [['mine-*'], 'mine-2', ['mine-2', 'mine-20']],
  [['mine-*'], 'zeta', []],
  [['mine-2'], '', ['mine-2']],
  [['mine-2'], 'mine-20', []],
  [['mine'], 'm', ['mine']],
  [['zeta', 'mine-2*', 'mine-20', 'mine', 'mine-*'], '', ['mine', 'mine-1', 'mine-2', 'mine-20', 'zeta']],
  [['my-*', 'zeta', 'acme-*', 'no-such'], '', ['acme-payroll', 'my-3', 'zeta']],
  [['zeta-*', '*'], 'z', ['zeta', 'zeta-merger']],
]

describe('a key', () => {
  it.each(KEYS)('of %j asks for the prefix %j, and is told of %j', async (locks, prefix, told) => {
    for (const limit of [1, 2, 3, 100]) {
      const { harness } = service(locks)
      expect((await pagesOf(harness, `limit=${limit}&prefix=${prefix}`)).names).toEqual(told)
    }
  })

  it.each(KEYS)(
    'regression: the cursor of one of %j for %j names only locks of %j',
    async (locks, prefix, told) => {
      for (const limit of [1, 2, 3]) {
        const { harness } = service(locks)
        const { cursors } = await pagesOf(harness, `limit=${limit}&prefix=${prefix}`)
        expect(cursors.filter(name => !told.includes(name))).toEqual([])
      }
    },
  )

  it('asks each object once for a page, however many names its entry has', async () => {
    const { harness, calls } = service([
      'mine-*',
      ...Array.from({ length: 50 }, (_, number) => `my-${number}`),
    ])
    expect((await pagesOf(harness, 'limit=100')).names).toEqual(['mine-1', 'mine-2', 'mine-20', 'my-3'])
    expect(calls).toHaveLength(INDEX_SHARDS * 3)
  })

  it('that may read nothing with the prefix is told so, and nobody is asked', async () => {
    const { harness, calls } = service(['mine-*'])
    expect(await pagesOf(harness, 'prefix=zeta')).toEqual({ names: [], cursors: [] })
    expect(calls).toEqual([])
  })
})

describe('objects of an earlier build, which know no patterns,', () => {
  it.each(KEYS)('for a key of %j and the prefix %j: %j and no other name', async (locks, prefix, told) => {
    const { harness } = service(locks, true)
    expect((await pagesOf(harness, `limit=100&prefix=${prefix}`)).names).toEqual(told)
  })

  it('count as silent with a page that ends at a name that the key may not read', async () => {
    const others = Array.from({ length: 100 }, (_, number) => `other-${number}`)
    const names = others.filter(name => shardOf(name) === shardOf('other-0')).slice(0, 2)
    const { harness } = service(['acme-*', 'zeta'], true, names)
    const answer = await harness.send('GET', '/v1/locks?limit=1', undefined, AS_KEY)
    expect((await problemOf(answer)).code).toBe('no_quorum')
    expect(names).toHaveLength(2)
  })
})
