/** What the router refuses by itself, before it asks a participant. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { createHarness, GRANT_ID, problemOf, TICKET_ID, USER } from './fake.ts'
import { refusal } from './refusal.ts'

const OPS = `/v1/locks/jobs/grants/${GRANT_ID}/ops`
const many = (count: number, item: unknown) => Array.from({ length: count }, () => item)

describe('400 bad_request, with each path', () => {
  it.each<[string, string, unknown, string[]]>([
    ['POST', '/v1/locks/jobs/acquire', { waitms: 1 }, ['waitms']],
    [
      'POST',
      '/v1/locks/jobs/acquire',
      { waitMs: 25_001, ttlMs: 999, ticket: 1, at: 4_096 },
      ['at', 'ticket', 'ttlMs', 'waitMs'],
    ],
    ['POST', '/v1/locks/jobs/acquire', { waitMs: -1 }, ['waitMs']],
    ['POST', '/v1/locks/jobs/acquire', { waitMs: 1.5 }, ['waitMs']],
    ['POST', '/v1/locks/jobs/acquire', { waitMs: '1' }, ['waitMs']],
    ['POST', '/v1/locks/jobs/acquire', { waitMs: null }, ['waitMs']],
    ['POST', '/v1/locks/jobs/acquire', { ttlMs: 600_001 }, ['ttlMs']],
    ['POST', '/v1/locks/jobs/acquire', { at: 0 }, ['at']],
    ['POST', '/v1/locks/jobs/acquire', { mode: 'both' }, ['mode']],
    ['POST', '/v1/locks/jobs/acquire', [], ['']],
    ['POST', '/v1/locks/jobs/acquire', 'null', ['']],
    ['POST', '/v1/locks/jobs/acquire', '{"__proto__": {"waitMs": 1}}', ['__proto__']],
    ['PUT', '/v1/locks/jobs', { protocol: 'paxos' }, ['protocol']],
    ['PUT', '/v1/locks/jobs', { participants: [] }, ['participants']],
    ['PUT', '/v1/locks/jobs', { participants: many(14, {}) }, ['participants']],
    [
      'PUT',
      '/v1/locks/jobs',
      { participants: [{ location: 'moon' }, { url: 'x' }] },
      ['participants.0.location', 'participants.1.url'],
    ],
    [
      'PUT',
      '/v1/locks/jobs',
      { detector: { heartbeatMs: 1, timeout: 1 } },
      ['detector.heartbeatMs', 'detector.timeout'],
    ],
    ['PUT', '/v1/locks/jobs', { detector: { heartbeatMs: 2_000 } }, ['detector.timeoutMs']],
    ['PUT', '/v1/locks/jobs', { resource: 'mine' }, ['resource']],
    ['POST', OPS, {}, ['opId', 'ops']],
    ['POST', OPS, undefined, ['opId', 'ops']],
    ['POST', OPS, { opId: '', ops: [] }, ['opId', 'ops']],
    ['POST', OPS, { opId: 'x'.repeat(129), ops: [{ get: 'a' }] }, ['opId']],
    ['POST', OPS, { opId: '\ud800', ops: [{ get: 'a' }] }, ['opId']],
    ['POST', OPS, { opId: 1, ops: { get: 'a' } }, ['opId', 'ops']],
    ['POST', OPS, { opId: 'a', ops: [{ get: 'a' }, 1, { get: '' }] }, ['ops.1', 'ops.2.get']],
    ['POST', OPS, { opId: 'a', ops: [{ put: 'a' }] }, ['ops.0.value']],
    ['POST', OPS, { opId: 'a', ops: [{ put: 'a', value: 1, ifRevison: 1 }] }, ['ops.0.ifRevison']],
    [
      'POST',
      OPS,
      { opId: 'a', ops: [{ put: 1, value: 1, ifRevision: -1 }] },
      ['ops.0.ifRevision', 'ops.0.put'],
    ],
    ['POST', OPS, { opId: 'a', ops: [{ append: 5 }] }, ['ops.0.append', 'ops.0.value']],
    ['POST', OPS, { opId: 'a', ops: [{ increment: 'a', by: '1' }] }, ['ops.0.by']],
    ['POST', OPS, { opId: 'a', ops: [{ delete: 'a', get: 'a' }] }, ['ops.0']],
    ['POST', OPS, { opId: 'a', ops: [{ get: '\udfff' }] }, ['ops.0.get']],
    ['POST', '/v1/locks/jobs/transact', { opId: 'a', ops: [{ get: 'a' }], ttlMs: 1_000 }, ['ttlMs']],
    ['POST', `/v1/locks/jobs/grants/${GRANT_ID}/keepalive`, { ttlMs: 1 }, ['ttlMs']],
    ['POST', '/v1/locks/jobs/eject', { force: true }, ['force']],
    ['POST', '/v1/locks/jobs/participants', { remove: 0 }, ['remove']],
    ['POST', '/v1/locks/jobs/participants', { add: {}, remove: 1 }, ['']],
    ['POST', '/v1/locks/jobs/participants', { remove: 1, location: 'oc' }, ['location']],
  ])('%s %s %j', async (method, path, body, paths) => {
    const { code, errors } = await refusal(400, method, path, body)
    expect(code).toBe('bad_request')
    expect(errors.map(error => error.path).sort()).toEqual(paths)
    for (const error of errors)
      expect(error).toMatchObject({ in: 'body', message: expect.stringMatching(/.+/) })
  })

  it.each([
    ['/v1/locks/jobs/state/a?at=x', ['at']],
    ['/v1/locks/jobs/state/a?at=1.0', ['at']],
    ['/v1/locks/jobs/state/a?at=', ['at']],
    ['/v1/locks/jobs/state/a?at=1&at=2', ['at']],
    ['/v1/locks/jobs/state/a?consistency=eventual&when=now', ['consistency', 'when']],
    ['/v1/locks/jobs/state?limit=0', ['limit']],
    ['/v1/locks/jobs/state?limit=1001', ['limit']],
    ['/v1/locks/jobs/state?cursor=!', ['cursor']],
    [`/v1/locks/jobs/state?prefix=${'x'.repeat(513)}`, ['prefix']],
    [`/v1/locks/jobs/tickets/${TICKET_ID}?waitMs=25001`, ['waitMs']],
    [`/v1/locks/jobs/tickets/${TICKET_ID}?waitMs=0x10`, ['waitMs']],
    ['/v1/locks/jobs/watch?since=-1', ['since']],
    ['/v1/locks/jobs/watch?since=99999999999999999', ['since']],
    ['/v1/locks/jobs?verbose=1', ['verbose']],
    ['/healthz?deep=1', ['deep']],
  ])('in the query: %s', async (path, paths) => {
    const { errors } = await refusal(400, 'GET', path)
    expect(errors.map(error => [error.in, error.path])).toEqual(paths.map(one => ['query', one]))
  })

  it.each(['-a', '.a', '_', 'a'.repeat(65), 'a b', 'é', 'a/b', 'a%', 'a\n', '😀'])(
    'for the lock name %j',
    async name => {
      const { errors } = await refusal(400, 'POST', `/v1/locks/${encodeURIComponent(name)}/acquire`)
      expect(errors).toMatchObject([{ in: 'path', path: 'lock' }])
    },
  )

  it.each(['a', 'A'.repeat(64), '0_.-'])('but not for the lock name %j', async name => {
    const { send } = createHarness()
    expect((await send('POST', `/v1/locks/${name}/acquire`)).status).toBe(200)
  })

  it.each(['nonsense', `1-${USER}`, `1-9007199254740993-${USER}`, `0-1-${USER}`])(
    'for the grant %s',
    async id => {
      for (const [method, path] of [
        ['POST', '/ops'],
        ['POST', '/keepalive'],
        ['DELETE', ''],
      ] as const) {
        const { errors } = await refusal(400, method, `/v1/locks/jobs/grants/${id}${path}`, {
          opId: 'a',
          ops: [{ get: 'a' }],
        })
        expect(errors).toMatchObject([{ in: 'path', path: 'id' }])
      }
    },
  )

  it.each(['{', ' ', '{"a":1,}', "{'a':1}", '\ufeff\ufeff{}', 'undefined'])(
    'for malformed JSON: %j',
    async text => {
      expect(await refusal(400, 'POST', '/v1/locks/jobs/acquire', text)).toMatchObject({
        code: 'bad_request',
      })
    },
  )

  it('for a body that is not UTF-8', async () => {
    await refusal(400, 'POST', '/v1/locks/jobs/acquire', new Uint8Array([0x22, 0xff, 0x22]))
  })

  it('for a path that is not percent-encoded UTF-8', async () => {
    expect(await refusal(400, 'GET', '/v1/locks/jobs/state/%A4')).toMatchObject({
      errors: [{ in: 'path' }],
    })
    await refusal(400, 'GET', '/v1/locks/jobs/state/%')
  })

  it.each(['prefix=%ED%A0%80', 'prefix=%A4', '%A4=1', 'cursor=%'])(
    'for a query that is not percent-encoded UTF-8: %s',
    async query => {
      expect(await refusal(400, 'GET', `/v1/locks/jobs/state?${query}`)).toMatchObject({
        errors: [{ in: 'query' }],
      })
    },
  )

  it.each(['__proto__=1', '__proto__=1&__proto__=2', 'constructor=1', 'toString=1'])(
    'for a query that nobody knows, though every object does: %s',
    async query => {
      const [name] = query.split('=')
      const { errors } = await refusal(400, 'GET', `/v1/locks/jobs/state?${query}`)
      expect(errors).toContainEqual({ in: 'query', path: name, message: 'is not a known field' })
    },
  )

  it('lists no more than a few of very many', async () => {
    const { errors } = await refusal(400, 'POST', OPS, { opId: 'a', ops: many(1_000, { put: 1 }) })
    expect(errors).toHaveLength(API_LIMITS.errorsListed)
  })
})

describe('404', () => {
  it.each(['nonsense', '1-short', GRANT_ID, `99-${USER}x`])('no_such_ticket for the ticket %s', async id => {
    for (const method of ['GET', 'DELETE']) {
      expect(await refusal(404, method, `/v1/locks/jobs/tickets/${id}`)).toMatchObject({
        code: 'no_such_ticket',
      })
    }
  })

  it.each([
    '/v1',
    '/v1/lock',
    '/v1/locks/',
    '/v1/locks/jobs/',
    '/v1/locks/jobs/nonsense',
    '/v1/locks/jobs/state/',
    '/v1/locks/jobs/grants',
    '/v2/locks/jobs',
    '/call',
    '/peer',
    '/participant/call',
    '/participant/peer',
    '/session',
    '/watch',
  ])('no_such_route for %s', async path => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      expect(await refusal(404, method, path)).toMatchObject({ code: 'no_such_route' })
    }
  })
})

describe('405', () => {
  it.each([
    ['POST', '/v1/locks/jobs', 'GET, HEAD, PUT, DELETE'],
    ['DELETE', '/v1/locks/jobs/state', 'GET, HEAD'],
    ['GET', '/v1/locks/jobs/acquire', 'POST'],
    ['OPTIONS', '/v1/locks/jobs/acquire', 'POST'],
    ['POST', `/v1/locks/jobs/tickets/${TICKET_ID}`, 'GET, HEAD, DELETE'],
    ['GET', `/v1/locks/jobs/grants/${GRANT_ID}`, 'DELETE'],
    ['PUT', '/v1/locks/jobs/state/a', 'GET, HEAD'],
    ['POST', '/v1/locks/jobs/watch', 'GET'],
    ['HEAD', '/v1/locks/jobs/watch', 'GET'],
    ['HEAD', '/v1/locks/jobs/session', 'GET'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['POST', '/metrics', 'GET, HEAD'],
  ])('%s %s', async (method, path, allow) => {
    const { send, participants } = createHarness()
    const response = await send(method, path)
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe(allow)
    if (method !== 'HEAD') expect((await problemOf(response)).code).toBe('method_not_allowed')
    expect([participants.asked, participants.opened]).toEqual([[], []])
  })

  it('HEAD is answered where GET is', async () => {
    const { send } = createHarness()
    const response = await send('HEAD', '/v1/locks/jobs/state/a')
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect(response.headers.get('etag')).toContain('"2-')
  })
})

describe('500 internal', () => {
  it('says nothing of what happened; the log does', async () => {
    const secret = 'the password is hunter2'
    const { send, log } = createHarness({
      defaults: () => {
        throw new Error(secret)
      },
    })
    const response = await send('POST', '/v1/locks/jobs/transact', { opId: 'a', ops: [{ get: 'a' }] })
    expect(response.status).toBe(500)
    const text = await response.text()
    expect(text).not.toContain(secret)
    expect(text).not.toMatch(/\.ts|at /)
    const requestId = response.headers.get('x-request-id')
    expect(JSON.parse(text)).toMatchObject({ code: 'internal', retryable: false, requestId })
    expect(log).toMatchObject([
      { level: 'error', event: 'defect', detail: secret, requestId, stack: expect.stringContaining('.ts') },
    ])
  })

  it('leaves the outcome of an operation unknown', async () => {
    const { send } = createHarness({
      randomBytes: () => {
        throw 'not even an error'
      },
    })
    const response = await send('POST', '/v1/locks/jobs/transact', { opId: 'a', ops: [{ get: 'a' }] })
    expect(await problemOf(response)).toMatchObject({ code: 'internal', outcome: 'unknown' })
  })
})

it('whatever JSON a body is, it is answered and never a defect', async () => {
  const { send } = createHarness()
  const paths = [
    'acquire',
    'transact',
    `grants/${GRANT_ID}/ops`,
    `grants/${GRANT_ID}/keepalive`,
    'eject',
    'participants',
  ]
  const op = fc.dictionary(
    fc.constantFrom('put', 'get', 'append', 'value', 'by', 'ifRevision', '__proto__'),
    fc.jsonValue(),
  )
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({ opId: fc.string(), ops: fc.array(fc.oneof(op, fc.jsonValue())) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), body, async (path, value) => {
      const { status } = await send('POST', `/v1/locks/jobs/${path}`, JSON.stringify(value))
      expect([200, 400, 413, 501]).toContain(status)
    }),
    { numRuns: 500 },
  )
})
