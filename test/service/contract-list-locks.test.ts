/** `GET /v1/locks`: which locks there are. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createBaton } from '../../client/index.ts'
import { eventually } from './eventually.ts'
import { useService } from './harness.ts'
import { expectStatus, TestLock } from './lock.ts'

const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex')

const KEYS = [
  { name: 'all', hash: hashKey('all'), locks: ['*'], verbs: ['*'] },
  { name: 'some', hash: hashKey('some'), locks: ['shop-*', 'other-1'], verbs: ['read'] },
  { name: 'writer', hash: hashKey('writer'), locks: ['*'], verbs: ['acquire'] },
]
const service = useService({ BATON_OPEN: 'false', BATON_KEYS: JSON.stringify(KEYS) })

const baton = (key = 'all') => createBaton({ url: service.url, key })
const headers = { authorization: 'Bearer all' }
const use = (name: string) =>
  baton()
    .lock(name)
    .transact([{ increment: 'n' }])
const list = (query = '', key = 'all') =>
  service.send('GET', `/v1/locks${query}`, { headers: { authorization: `Bearer ${key}` } })

async function names(query = '', key = 'all'): Promise<string[]> {
  const { body } = expectStatus(await list(query, key), 200)
  const { locks } = body as unknown as { readonly locks: readonly { readonly lock: string }[] }
  return locks.map(({ lock }) => lock)
}

const untilListed = (query: string, expected: readonly string[]) =>
  eventually(async () => expect(await names(query)).toEqual(expected))

describe('the list of locks', () => {
  it('has a lock as soon as it is told of it, with what it is made of', async () => {
    await use('first-1')
    const lock = new TestLock('first-2', () => service.url)
    expectStatus(
      await lock.send('PUT', '', { body: { protocol: 'maekawa', participants: [{}] }, headers }),
      201,
    )
    await untilListed('?prefix=first-', ['first-1', 'first-2'])
    expect((await list('?prefix=first-')).body).toEqual({
      locks: [
        { lock: 'first-1', protocol: 'wme-2', participants: 3, generation: 1 },
        { lock: 'first-2', protocol: 'maekawa', participants: 1, generation: 1 },
      ],
      cursor: null,
    })
  })

  it('has none that was only looked at', async () => {
    expect((await service.send('GET', '/v1/locks/looked-at', { headers })).status).toBe(404)
    await use('looked-after')
    await untilListed('?prefix=looked', ['looked-after'])
  })

  it('does not have a lock that was deleted, and has it again when it is created anew', async () => {
    await use('gone')
    await untilListed('?prefix=gone', ['gone'])
    await baton().lock('gone').delete()
    await untilListed('?prefix=gone', [])
    await use('gone')
    await untilListed('?prefix=gone', ['gone'])
    expect((await baton().listLocks({ prefix: 'gone' })).locks).toMatchObject([{ generation: 2 }])
  })

  it('comes in pages, in the order of the names, whatever their shards are', async () => {
    const wanted = Array.from({ length: 23 }, (_, index) => `page-${String(index).padStart(2, '0')}`)
    await Promise.all([...wanted].reverse().map(use))
    await untilListed('?prefix=page-&limit=1000', wanted)
    for (const limit of [1, 2, 5, 22, 23, 1_000]) {
      const found: string[] = []
      for await (const { lock } of baton().eachLock({ prefix: 'page-', limit })) found.push(lock)
      expect(found, `limit ${limit}`).toEqual(wanted)
    }
    expect((await baton().listLocks({ prefix: 'page-', limit: 5 })).locks.length).toBeLessThanOrEqual(5)
  })

  it('shows a key only the locks that it may read', async () => {
    for (const name of ['shop-1', 'shop-2', 'other-1', 'other-2']) await use(name)
    await untilListed('?prefix=shop-', ['shop-1', 'shop-2'])
    await untilListed('?prefix=other-', ['other-1', 'other-2'])
    expect(await names('', 'some')).toEqual(['other-1', 'shop-1', 'shop-2'])
    expect((await list('', 'writer')).body.code).toBe('forbidden')
    expect((await service.send('GET', '/v1/locks')).body.code).toBe('unauthenticated')
  })

  it.each(['?limit=0', '?limit=1001', '?cursor=%C3', '?what=1', `?prefix=${'x'.repeat(65)}`])(
    '400 for %s',
    async query => {
      expect((await list(query)).body.code).toBe('bad_request')
    },
  )
})
