/** How large a request may be: one at the limit is taken, one beyond it is refused and changes nothing. */
import { describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { Json } from '../../shared/json.ts'
import type { KeyValueOp } from '../../shared/resource/key-value.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus, TestLock } from './lock.ts'

const service = useService()
const L = API_LIMITS

/** Text of this weight: its quotes are two units. */
const heavy = (weight: number): string => 'x'.repeat(weight - 2)
const nested = (depth: number): Json => (depth === 0 ? 1 : [nested(depth - 1)])
const puts = (count: number, value: Json): KeyValueOp[] =>
  Array.from({ length: count }, (_, index) => ({ put: `k${index}`, value }))

describe('413 too_large beyond', () => {
  it.each<[string, KeyValueOp[], KeyValueOp[]]>([
    [
      'the length of a key',
      [{ increment: 'k'.repeat(L.keyLength) }],
      [{ increment: 'k'.repeat(L.keyLength + 1) }],
    ],
    ['the weight of a value', puts(1, heavy(L.valueWeight)), puts(1, heavy(L.valueWeight + 1))],
    ['the nesting of a value', puts(1, nested(L.depth)), puts(1, nested(L.depth + 1))],
    ['the ops of a batch', puts(L.opsPerBatch, 1), puts(L.opsPerBatch + 1, 1)],
    ['the weight of a batch', puts(2, heavy(L.valueWeight - 100)), puts(3, heavy(L.valueWeight - 100))],
  ])('%s', async (_, within, beyond) => {
    const lock = service.lock()
    const refused = await lock.transact(beyond, { opId: 'one' })
    expect([refused.status, refused.body.code]).toEqual([413, 'too_large'])
    const grant = await lock.granted()
    expect((await lock.ops(grant, beyond, 'one')).body.code).toBe('too_large')
    expect((await lock.list('?limit=1')).body.entries).toEqual([])
    // The refused opId is as good as new.
    expect((await lock.applied(grant, within, 'one')).applied).toBe(true)
    await lock.released(grant)
  })

  it('the bytes of a body', async () => {
    const lock = service.lock()
    const body = (bytes: number) => {
      const text = JSON.stringify({ opId: 'one', ops: [{ increment: 'n' }] })
      return text + ' '.repeat(bytes - text.length)
    }
    const send = (bytes: number) => lock.send('POST', '/transact', { body: body(bytes) })
    expect((await send(L.bodyBytes + 1)).body.code).toBe('too_large')
    expectStatus(await send(L.bodyBytes), 200)
    expect(await lock.value('n')).toBe(1)
  })
})

describe('applied false and too_large', () => {
  it('for a list that an append makes too heavy: the list stays', async () => {
    const lock = service.lock()
    await lock.transacted([{ append: 'list', value: heavy(L.valueWeight - 100) }])
    const { applied, results } = await lock.transacted([{ append: 'list', value: heavy(200) }])
    expect([applied, results]).toEqual([false, [{ error: 'too_large' }]])
    expect(await lock.value('list')).toHaveLength(1)
  })

  it('for gets that read too much together', async () => {
    const lock = service.lock()
    await lock.transacted([{ put: 'a', value: heavy(L.valueWeight - 100) }])
    const gets = (count: number): KeyValueOp[] => Array.from({ length: count }, () => ({ get: 'a' }))
    const within = Math.floor(L.readWeight / L.valueWeight)
    expect((await lock.transacted(gets(within))).applied).toBe(true)
    const { applied, results } = await lock.transacted(gets(within + 1))
    expect([applied, results.at(-1)]).toEqual([false, { error: 'too_large' }])
  })
})

describe('400 bad_request beyond', () => {
  it('the length of a name and of an opId', async () => {
    const named = (length: number) => new TestLock('n'.repeat(length), () => service.url)
    expect((await named(L.lockNameLength + 1).status()).body.code).toBe('bad_request')
    expectStatus(await named(L.lockNameLength).configure(), 201)
    const lock = service.lock()
    const opId = 'o'.repeat(L.opIdLength)
    expect((await lock.transact([{ increment: 'n' }], { opId: `${opId}o` })).body.code).toBe('bad_request')
    expectStatus(await lock.transact([{ increment: 'n' }], { opId }), 200)
  })

  it.each([
    ['waitMs', L.waitMs],
    ['ttlMs', L.ttlMs],
  ] as const)('the range of %s', async (field, { least, most }) => {
    const lock = service.lock()
    for (const value of [least - 1, most + 1, 1.5]) {
      expect((await lock.acquire({ [field]: value })).body.code, `${value}`).toBe('bad_request')
    }
    for (const value of [least, most]) await lock.released(await lock.granted({ [field]: value }))
  })
})

itKeepsEveryPromise(service)
