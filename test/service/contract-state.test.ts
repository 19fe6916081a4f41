/** `GET …/state/{key}` and `GET …/state`: reading at each participant, with both consistencies. */
import { describe, expect, it } from 'vitest'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus } from './lock.ts'

const service = useService()
const AT = ['', ...[1, 2, 3].map(at => `at=${at}`)]

describe('a key', () => {
  it.each(AT)('200 with value, revision and sequence, linearizable by default (%s)', async at => {
    const lock = service.lock()
    const { sequence } = await lock.transacted([{ put: 'a', value: { b: [1, 'ü'] } }])
    const later = await lock.transacted([{ increment: 'n' }])
    for (const query of [`?${at}`, `?consistency=linearizable&${at}`]) {
      const { body } = expectStatus(await lock.get('a', query), 200)
      expect(body).toMatchObject({ key: 'a', value: { b: [1, 'ü'] }, revision: sequence })
      expect(body.sequence).toBeGreaterThanOrEqual(later.sequence)
    }
  })

  it.each(AT)('200 with consistency=local: what the participant has, sooner or later (%s)', async at => {
    const lock = service.lock()
    const { sequence } = await lock.transacted([{ put: 'a', value: 1 }])
    const { body } = await eventually(async () =>
      expectStatus(await lock.get('a', `?consistency=local&${at}`), 200),
    )
    expect(body).toMatchObject({ key: 'a', value: 1, revision: sequence })
  })

  it('reads what was written before, at every participant, each time', async () => {
    const lock = service.lock()
    for (let round = 1; round <= 6; round++) {
      await lock.transacted([{ put: 'a', value: round }], { at: (round % 3) + 1 })
      for (const at of [1, 2, 3]) expect(await lock.value('a', `?at=${at}`)).toBe(round)
    }
  })

  it("is read at the holder's own participant at once: local is up to date inside", async () => {
    const lock = service.lock()
    await lock.transacted([{ put: 'a', value: 1 }], { at: 1 })
    const grant = await lock.granted({ at: 2 })
    expect(await lock.value('a', '?consistency=local&at=2')).toBe(1)
    await lock.applied(grant, [{ put: 'a', value: 2 }])
    expect(await lock.value('a', '?consistency=local&at=2')).toBe(2)
    await lock.released(grant)
  })

  it.each(AT)('404 no_such_key (%s)', async at => {
    const lock = service.lock()
    await lock.transacted([{ put: 'a', value: 1 }])
    await lock.transacted([{ delete: 'a' }])
    for (const consistency of ['local', 'linearizable']) {
      await eventually(async () => {
        const { status, body } = await lock.get('a', `?consistency=${consistency}&${at}`)
        expect([status, body.code]).toEqual([404, 'no_such_key'])
      })
    }
  })

  it('has an ETag that begins with its revision, and 304 for who has it already', async () => {
    const lock = service.lock()
    const { sequence } = await lock.transacted([{ put: 'a', value: 1 }])
    const tag = (await lock.get('a')).headers.get('etag')!
    expect(tag).toContain(`"${sequence}-`)
    const ask = (value: string) => lock.send('GET', '/state/a', { headers: { 'if-none-match': value } })
    expect((await ask(tag)).status).toBe(304)
    expect((await ask(`"x", ${tag}`)).status).toBe(304)
    expect((await ask('*')).status).toBe(304)
    await lock.transacted([{ put: 'a', value: 1 }])
    const changed = await ask(tag)
    expect(changed.status).toBe(200)
    expect(changed.headers.get('etag')).not.toBe(tag)
  })

  it('regression: has another ETag than the key of a deleted lock, whose revision it has', async () => {
    const lock = service.lock()
    const first = await lock.transacted([{ put: 'a', value: 1 }])
    const tag = (await lock.get('a')).headers.get('etag')!
    expectStatus(await lock.send('DELETE', ''), 204)
    const second = await lock.transacted([{ put: 'a', value: 2 }])
    const { status, body } = await lock.send('GET', '/state/a', { headers: { 'if-none-match': tag } })
    expect([status, body.value, second.sequence]).toEqual([200, 2, first.sequence])
  })

  // Only `.` and `..` cannot be read in this way: no URL can hold them as a part of its path.
  it.each([
    'a/b',
    'ü 日本 🔑',
    '__proto__',
    'constructor',
    '...',
    'a\nb',
    '%2F',
    '?',
    '#',
    ' ',
    'x'.repeat(512),
  ])('may be named %#', async key => {
    const lock = service.lock()
    await lock.transacted([{ put: key, value: key }])
    const { body } = expectStatus(await lock.get(key), 200)
    expect([body.key, body.value]).toEqual([key, key])
    expect((await lock.list()).body.entries.map(entry => entry.key)).toEqual([key])
  })

  it('413 too_large for a key over its limit, 400 for a wrong query', async () => {
    const lock = await service.lock().created()
    expect((await lock.get('x'.repeat(513))).body.code).toBe('too_large')
    for (const query of ['?consistency=eventual', '?at=0', '?at=x', '?at=1&at=2', '?unknown=1', '?at=9']) {
      expect((await lock.get('a', query)).body.code, query).toBe('bad_request')
    }
  })
})

describe('a listing', () => {
  const keys = ['a', 'b/1', 'b/2', 'b/3', 'c', 'é', '日本']

  async function filled() {
    const lock = service.lock()
    const { sequence } = await lock.transacted(keys.map(key => ({ put: key, value: { key } })))
    return { lock, sequence }
  }

  it.each(AT)('200 with all entries in order (%s)', async at => {
    const { lock, sequence } = await filled()
    const { body } = expectStatus(await lock.list(`?${at}`), 200)
    expect(body.entries).toEqual(keys.map(key => ({ key, value: { key }, revision: sequence })))
    expect(body.cursor).toBeNull()
    expect(body.sequence).toBeGreaterThanOrEqual(sequence)
    await eventually(async () => {
      expect((await lock.list(`?consistency=local&${at}`)).body.entries).toHaveLength(keys.length)
    })
  })

  it('of a prefix', async () => {
    const { lock } = await filled()
    const listed = async (prefix: string) =>
      (await lock.list(`?prefix=${encodeURIComponent(prefix)}`)).body.entries.map(({ key }) => key)
    expect(await listed('b/')).toEqual(['b/1', 'b/2', 'b/3'])
    expect(await listed('é')).toEqual(['é'])
    expect(await listed('nothing')).toEqual([])
  })

  it.each([1, 2, 3, 7, 100])('page by page with limit=%i and the cursor', async limit => {
    const { lock } = await filled()
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const next: string = cursor === null ? '' : `&cursor=${cursor}`
      const { body } = expectStatus(await lock.list(`?limit=${limit}${next}`), 200)
      expect(body.entries.length).toBeLessThanOrEqual(limit)
      seen.push(...body.entries.map(({ key }) => key))
      cursor = body.cursor
    } while (cursor !== null)
    expect(seen).toEqual(keys)
  })

  it('page by page of a prefix, while keys come and go', async () => {
    const { lock } = await filled()
    const first = (await lock.list('?prefix=b/&limit=1')).body
    await lock.transacted([{ delete: 'b/1' }, { put: 'b/0', value: 0 }, { put: 'b/21', value: 0 }])
    const rest = (await lock.list(`?prefix=b/&cursor=${first.cursor}`)).body
    expect(rest.entries.map(({ key }) => key)).toEqual(['b/2', 'b/21', 'b/3'])
  })

  it('200 and empty for a lock that has no keys', async () => {
    const { body } = expectStatus(await (await service.lock().created()).list(), 200)
    expect([body.entries, body.cursor]).toEqual([[], null])
  })

  it('400 for a wrong query', async () => {
    const lock = await service.lock().created()
    for (const query of ['?limit=0', '?limit=1001', '?cursor=!', '?prefix=a&prefix=b', '?since=1', '?at=9']) {
      expect((await lock.list(query)).body.code, query).toBe('bad_request')
    }
  })
})

itKeepsEveryPromise(service)
