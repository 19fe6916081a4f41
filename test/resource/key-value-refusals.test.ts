import { describe, expect, it } from 'vitest'
import type { Json } from '../../shared/json.ts'
import { KEY_VALUE_LIMITS, type KeyValueOp } from '../../shared/resource/key-value.ts'
import { NOT_APPLIED, refused, Store, storeWith } from './store.ts'

describe('malformed operations', () => {
  it.each([null, true, 7, 'put', {}, { put: 'a', value: 1 }] as Json[])('%j is not a batch', operation => {
    expect(new Store().run(operation)).toEqual(refused({ error: 'malformed', detail: 'not a list of ops' }))
  })

  it.each([
    [null, 'an op is an object'],
    [[], 'an op is an object'],
    ['get', 'an op is an object'],
    [{}, 'an op is put, delete, get, increment or append'],
    [{ rename: 'a' }, 'an op is put, delete, get, increment or append'],
    [{ get: 1 }, 'a key is a string'],
    [{ get: null }, 'a key is a string'],
    [{ get: '\ud800' }, 'a key is well-formed Unicode'],
    [{ put: 'a' }, 'value is missing'],
    [{ append: 'a' }, 'value is missing'],
    [{ put: 'a', value: 1, ifRevison: 3 }, 'unknown field'],
    [{ put: 'a', value: 1, delete: 'a' }, 'unknown field'],
    [{ append: 'a', value: 1, ifRevision: 0 }, 'unknown field'],
    [{ get: 'a', ifRevision: 1 }, 'unknown field'],
    [{ delete: 'a', value: 1 }, 'unknown field'],
    [{ put: 'a', value: 1, ifRevision: null }, 'ifRevision is a revision or 0'],
    [{ put: 'a', value: 1, ifRevision: '1' }, 'ifRevision is a revision or 0'],
    [{ delete: 'a', ifRevision: -1 }, 'ifRevision is a revision or 0'],
    [{ delete: 'a', ifRevision: 1.5 }, 'ifRevision is a revision or 0'],
    [{ increment: 'a', by: '1' }, 'by is a number'],
    [{ increment: 'a', by: null }, 'by is a number'],
  ] as [Json, string][])('%j: %s', (op, detail) => {
    const results = new Store().run([{ put: 'b', value: 1 }, op])
    expect(results).toEqual(refused(NOT_APPLIED, { error: 'malformed', detail }))
  })
})

describe('limits', () => {
  const TOO_LARGE = { error: 'too_large' }
  /** How much a row of the storage holds. */
  const ROW_BYTES = 2_000_000

  it('the ops of a batch and the characters of a key are limited', () => {
    const batch = Array.from({ length: KEY_VALUE_LIMITS.opsPerBatch }, () => ({ increment: 'n' }))
    expect(new Store().run(batch)).toMatchObject({ applied: true })
    expect(new Store().run([...batch, { get: 'n' }])).toEqual(refused(TOO_LARGE))
    const key = 'k'.repeat(KEY_VALUE_LIMITS.keyLength)
    expect(new Store().run([{ put: key, value: 1 }])).toMatchObject({ applied: true })
    expect(new Store().run([{ put: `${key}k`, value: 1 }])).toEqual(refused(TOO_LARGE))
  })

  it('the heaviest value is refused by put and by append, and what is nested too deeply too', () => {
    const heaviest = '\u0001'.repeat(KEY_VALUE_LIMITS.valueWeight - 2)
    const store = storeWith([{ put: 'a', value: heaviest }])
    expect(store.run([{ put: 'a', value: `${heaviest}x` }])).toEqual(refused(TOO_LARGE))
    expect(store.run([{ append: 'b', value: heaviest }])).toEqual(refused(TOO_LARGE))
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
    expect(store.run([{ put: 'a', value: deep }])).toEqual(refused(TOO_LARGE))
    expect(store.run([{ append: 'b', value: deep }])).toEqual(refused(TOO_LARGE))
  })

  it('a list stops growing before it fills a row', () => {
    const store = new Store()
    const item = '\u0001'.repeat(1_000)
    let appends = 0
    while (store.run([{ append: 'list', value: item }]).applied) appends++
    expect(appends).toBeGreaterThan(100)
    expect(store.run([{ append: 'list', value: item }])).toEqual(refused(TOO_LARGE))
    expect(Buffer.byteLength(JSON.stringify(store.read('list')))).toBeLessThan(ROW_BYTES)
  })

  it('the result of the most that can be read fits into a row', () => {
    const heaviest = '\u0001'.repeat(KEY_VALUE_LIMITS.valueWeight - 2)
    const store = storeWith([{ put: 'a', value: heaviest }])
    const batch: KeyValueOp[] = Array.from({ length: KEY_VALUE_LIMITS.opsPerBatch - 2 }, () => ({
      increment: 'n',
    }))
    const most = store.run([...batch, { get: 'a' }, { get: 'a' }])
    expect(most.applied).toBe(true)
    expect(Buffer.byteLength(JSON.stringify(most))).toBeLessThan(ROW_BYTES)
    expect(store.run([{ get: 'a' }, { get: 'a' }, { get: 'b' }])).toEqual(
      refused(NOT_APPLIED, NOT_APPLIED, TOO_LARGE),
    )
  })
})
