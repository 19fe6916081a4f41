/** Every mistake is refused by its name, and nothing that a client can send makes a 500. */
import { describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { ROUTE_IDS, ROUTES, type Route } from '../../shared/api/routes.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus } from './lock.ts'

const service = useService()
const STRANGER = 'abcdefghijklmnopqrstuv'

describe('400 bad_request', () => {
  it.each(['', '{', 'null', '[]', '"x"', '1', '{"opId":"x","ops":[{"get":"a"}]', '\u0000'])(
    'for the body %j',
    async body => {
      const { status, body: problem } = await service.lock().send('POST', '/transact', { body })
      expect([status, problem.code]).toEqual([400, 'bad_request'])
      expect(problem.errors.length).toBeGreaterThan(0)
    },
  )

  it('for a body that is not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('{"opId":"'), Buffer.from([0xff]), Buffer.from('","ops":[]}')])
    const answer = await service.lock().send('POST', '/transact', { body: new Uint8Array(bytes) })
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
  })

  it.each([
    [{ opId: 'x' }, ['ops']],
    [{ ops: [{ get: 'a' }] }, ['opId']],
    [{ opId: '', ops: [{ get: 'a' }] }, ['opId']],
    [{ opId: 1, ops: [{ get: 'a' }] }, ['opId']],
    [{ opId: 'x'.repeat(129), ops: [{ get: 'a' }] }, ['opId']],
    [{ opId: 'x', ops: [] }, ['ops']],
    [{ opId: 'x', ops: 'get a' }, ['ops']],
    [{ opId: 'x', ops: [null] }, ['ops.0']],
    [{ opId: 'x', ops: [[]] }, ['ops.0']],
    [{ opId: 'x', ops: [{ get: 'a' }, { put: 'a' }] }, ['ops.1.value']],
    [{ opId: 'x', ops: [{ put: 'a', value: 1, ifRevison: 1 }] }, ['ops.0.ifRevison']],
    [{ opId: 'x', ops: [{ put: 'a', value: 1, ifRevision: -1 }] }, ['ops.0.ifRevision']],
    [{ opId: 'x', ops: [{ get: 1 }] }, ['ops.0.get']],
    [{ opId: 'x', ops: [{ get: '' }] }, ['ops.0.get']],
    [{ opId: 'x', ops: [{ get: '\ud800' }] }, ['ops.0.get']],
    [{ opId: 'x', ops: [{ increment: 'a', by: '1' }] }, ['ops.0.by']],
    [{ opId: 'x', ops: [{ get: 'a' }], waitMs: 'long', at: 0, more: 1 }, ['waitMs', 'at', 'more']],
  ])('for %j, with each path', async (body, paths) => {
    const answer = await service.lock().send('POST', '/transact', { body })
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
    expect(answer.body.errors.map(({ path }) => path)).toEqual(paths)
  })

  it.each(['-a', '.a', '_a', 'a b', 'a%2Fb', 'ü', 'x'.repeat(65), '%00', '%ff'])(
    'for the name %s',
    async name => {
      for (const [method, path] of [
        ['GET', ''],
        ['PUT', ''],
        ['POST', '/acquire'],
        ['GET', '/state'],
      ] as const) {
        const { status, body } = await service.send(method, `/v1/locks/${name}${path}`)
        expect([status, body.code], `${method} ${path}`).toEqual([400, 'bad_request'])
        expect(body.errors[0]!.in).toBe('path')
      }
    },
  )

  it('not for the longest and strangest name that is allowed', async () => {
    for (const name of ['0', `A${'_.-'.repeat(21)}`, `a${'_.:'.repeat(21)}`]) {
      expectStatus(await service.send('PUT', `/v1/locks/${name}`, { body: {} }), 201)
    }
  })
})

describe('404 no_such_route', () => {
  it.each(['/v1', '/v1/locks/', '/v2/locks/a', '/v1/locks/a/b', '/v1/locks/a/acquire/x', '/favicon.ico'])(
    'for %s',
    async path => {
      const { status, body } = await service.send('GET', path)
      expect([status, body.code]).toEqual([404, 'no_such_route'])
    },
  )
})

describe('405 method_not_allowed', () => {
  it.each([
    ['POST', '/v1/locks/a', ['DELETE', 'GET', 'HEAD', 'PUT']],
    ['POST', '/v1/locks', ['GET', 'HEAD']],
    ['GET', '/v1/locks/a/acquire', ['POST']],
    ['PUT', '/v1/locks/a/transact', ['POST']],
    ['POST', `/v1/locks/a/tickets/1-${STRANGER}`, ['DELETE', 'GET', 'HEAD']],
    ['GET', `/v1/locks/a/grants/1-1-${STRANGER}`, ['DELETE']],
    ['DELETE', '/v1/locks/a/state/k', ['GET', 'HEAD']],
    ['POST', '/healthz', ['GET', 'HEAD']],
  ])('%s %s, and Allow says what is', async (method, path, allowed) => {
    const { status, headers, body } = await service.send(method, path)
    expect([status, body.code]).toEqual([405, 'method_not_allowed'])
    expect(headers.get('allow')!.split(', ').sort()).toEqual(allowed)
  })
})

describe('413 too_large', () => {
  const put = (value: unknown) => [{ put: 'a', value }]
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])

  it.each([
    ['a body', { opId: 'x', ops: put('x'.repeat(API_LIMITS.bodyBytes)) }],
    ['a value', { opId: 'x', ops: put('x'.repeat(API_LIMITS.valueWeight + 1)) }],
    [
      'an appended value',
      { opId: 'x', ops: [{ append: 'a', value: 'x'.repeat(API_LIMITS.valueWeight + 1) }] },
    ],
    ['the depth of a value', { opId: 'x', ops: put(nested(API_LIMITS.depth + 2)) }],
    ['a key', { opId: 'x', ops: [{ get: 'k'.repeat(API_LIMITS.keyLength + 1) }] }],
    ['the number of ops', { opId: 'x', ops: Array(API_LIMITS.opsPerBatch + 1).fill({ get: 'a' }) }],
    ['a batch', { opId: 'x', ops: Array(4).fill(put('x'.repeat(API_LIMITS.batchWeight / 3))[0]) }],
  ])('%s over its limit', async (_, body) => {
    const lock = service.lock()
    const grant = await lock.granted()
    for (const path of ['/transact', `/grants/${grant.id}/ops`]) {
      const answer = await lock.send('POST', path, { body })
      expect([answer.status, answer.body.code], path).toEqual([413, 'too_large'])
    }
    await lock.released(grant)
  })

  it('not for what is just within its limit', async () => {
    const lock = service.lock()
    await lock.transacted([
      { put: 'k'.repeat(API_LIMITS.keyLength), value: 'x'.repeat(API_LIMITS.valueWeight - 10) },
    ])
    await lock.transacted(Array(API_LIMITS.opsPerBatch).fill({ increment: 'n' }))
    expect(await lock.value('n')).toBe(API_LIMITS.opsPerBatch)
    await lock.transacted([{ get: 'n' }], { opId: 'o'.repeat(API_LIMITS.opIdLength) })
  })

  it('a list that grows beyond the limit of a value: 200, and nothing applied', async () => {
    const lock = service.lock()
    const half = 'x'.repeat(API_LIMITS.valueWeight / 2)
    await lock.transacted([{ append: 'list', value: half }])
    const { applied, results } = await lock.transacted([{ append: 'list', value: half }])
    expect([applied, results]).toEqual([false, [{ error: 'too_large' }]])
    expect(await lock.value('list')).toHaveLength(1)
  })
})

describe('415 unsupported_media_type', () => {
  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream', 'json', ''])(
    'for %j',
    async type => {
      const body = '{"opId":"x","ops":[{"get":"a"}]}'
      const answer = await service
        .lock()
        .send('POST', '/transact', { body, headers: { 'content-type': type } })
      expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type'])
    },
  )

  it.each(['application/json; charset=utf-8', 'Application/JSON', 'application/vnd.baton+json'])(
    'not for %s',
    async type => {
      const body = '{"opId":"x","ops":[{"get":"a"}]}'
      const options = { body, headers: { 'content-type': type } }
      expectStatus(await service.lock().send('POST', '/transact', options), 200)
    },
  )
})

describe('nothing that a client sends is a 500', () => {
  const bodies = [
    'null',
    '[]',
    '0',
    '{}',
    '{"__proto__":{}}',
    '{"ops":{}}',
    '{"ops":[[]]}',
    '{"opId":{},"ops":[]}',
  ]
  const queries = [
    '',
    '?at=',
    '?at=999999999999999999999',
    '?since=-1',
    '?limit=1e3',
    '?cursor=%00',
    '?%00=%00',
  ]

  it.each(ROUTE_IDS.map(id => [id]))('%s', async id => {
    const route: Route = ROUTES[id]
    const parameters = ['a', '%00', '%ff', '..%2f', `1-${STRANGER}`, `99-99999999999999999-${STRANGER}`]
    for (const parameter of parameters) {
      const path = route.path.replace('{lock}', 'no-500').replaceAll(/\{\w+\}/g, parameter)
      for (const query of id === 'watch' ? queries.slice(1) : queries) {
        const options = route.body === null ? [{}] : bodies.map(body => ({ body }))
        // The helper refuses every answer that the contract does not know, a 500 first of all.
        await Promise.all(
          options.map(option => service.send(route.method.toUpperCase(), `${path}${query}`, option)),
        )
      }
      if (!/\{(id|key)\}/.test(route.path)) break
    }
  })
})

itKeepsEveryPromise(service)
