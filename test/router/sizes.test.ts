/** A request that is too large, or not JSON, is refused before a participant is asked. */
import { describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { createHarness, GRANT_ID } from './fake.ts'
import { refusal } from './refusal.ts'

const OPS = `/v1/locks/jobs/grants/${GRANT_ID}/ops`
const many = (count: number, item: unknown) => Array.from({ length: count }, () => item)

describe('413 too_large', () => {
  const deep = (depth: number): unknown => (depth === 0 ? 1 : [deep(depth - 1)])
  const key = 'k'.repeat(API_LIMITS.keyLength + 1)

  it.each<[string, unknown, string[]]>([
    ['a batch', many(API_LIMITS.opsPerBatch + 1, { get: 'a' }), ['ops']],
    ['a key', [{ get: key }, { put: key, value: 1 }], ['ops.0.get', 'ops.1.put']],
    ['a value', [{ put: 'a', value: 'x'.repeat(API_LIMITS.valueWeight) }], ['ops.0.value']],
    ['a value that is deep', [{ append: 'a', value: deep(API_LIMITS.depth + 1) }], ['ops.0.value']],
    ['a value that is very deep', [{ put: 'a', value: deep(2_000) }], ['ops.0.value']],
    ['all values together', many(3, { put: 'a', value: 'x'.repeat(100_000) }), ['ops']],
    ['something malformed too', [{ put: key, valu: 1 }], ['ops.0.put']],
  ])('%s over the limit', async (_, ops, paths) => {
    for (const path of [OPS, '/v1/locks/jobs/transact']) {
      const { code, errors } = await refusal(413, 'POST', path, { opId: 'a', ops })
      expect(code).toBe('too_large')
      expect(errors.map(error => error.path)).toEqual(paths)
    }
  })

  it('what is just within the limits passes', async () => {
    const { send } = createHarness()
    const edges = [
      many(API_LIMITS.opsPerBatch, { get: 'a' }),
      [{ get: 'k'.repeat(API_LIMITS.keyLength) }],
      [{ put: 'a', value: 'x'.repeat(API_LIMITS.valueWeight - 2) }],
      [{ put: 'a', value: deep(API_LIMITS.depth) }],
    ]
    for (const ops of edges) expect((await send('POST', OPS, { opId: 'a', ops })).status).toBe(200)
  })

  it('a body, whether or not it says how long it is', async () => {
    const body = `{"opId": "a", "ops": [{"get": "a"}]${' '.repeat(API_LIMITS.bodyBytes)}}`
    await refusal(413, 'POST', OPS, body)
    await refusal(413, 'POST', OPS, body, { 'content-length': String(body.length) })
    await refusal(413, 'PUT', '/v1/locks/jobs', body)
  })

  it('a key in the path', async () => {
    expect(await refusal(413, 'GET', `/v1/locks/jobs/state/${key}`)).toMatchObject({ code: 'too_large' })
  })
})

describe('415', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/x-ndjson',
    'multipart/form-data',
  ])('for %s', async type => {
    const body = '{"opId": "a", "ops": [{"get": "a"}]}'
    const refused = await refusal(415, 'POST', OPS, body, { 'content-type': type })
    expect(refused.code).toBe('unsupported_media_type')
  })

  it.each(['application/json', 'Application/JSON; charset=utf-8', 'application/vnd.api+json'])(
    'not for %s',
    async type => {
      const { send } = createHarness()
      const response = await send('POST', '/v1/locks/jobs/acquire', '{}', {
        headers: { 'content-type': type },
      })
      expect(response.status).toBe(200)
    },
  )

  it('not where there is no body and none is needed', async () => {
    const { send } = createHarness()
    for (const call of ['acquire', 'eject', `grants/${GRANT_ID}/keepalive`]) {
      expect((await send('POST', `/v1/locks/jobs/${call}`)).status).toBe(200)
    }
  })
})
