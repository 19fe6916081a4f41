/**
 * Every row of the contract: what becomes of a request, which participant is asked, and that the answer is as
 * described.
 */
import { describe, expect, it } from 'vitest'
import { userOfWaiter } from '../../shared/api/ids.ts'
import { PROBLEM_CODES, PROBLEMS } from '../../shared/api/problems.ts'
import { ROUTES, type Route, type RouteId } from '../../shared/api/routes.ts'
import type { Json } from '../../shared/json.ts'
import {
  createHarness,
  DEFAULTS,
  done,
  EXPIRES_AT,
  GRANT_ID,
  problemOf,
  refuse,
  TICKET_ID,
  USER,
} from './fake.ts'

const OPERATION = { opId: 'o-1', ops: [{ put: 'a', value: 1 }] }

/** Row by row: route, method, path, body, status, and the call that the participant hears. */
const ROWS: readonly [RouteId, string, string, unknown, number, object | null][] = [
  ['configure', 'PUT', '/v1/locks/jobs', { ttlMs: 5_000 }, 201, { type: 'configure' }],
  ['status', 'GET', '/v1/locks/jobs', undefined, 200, { type: 'status' }],
  [
    'acquire',
    'POST',
    '/v1/locks/jobs/acquire',
    {},
    200,
    { type: 'acquire', waitMs: 10_000, ttlMs: null, ticket: false, confirm: false },
  ],
  [
    'acquire',
    'POST',
    '/v1/locks/jobs/acquire',
    { waitMs: 0, ttlMs: 1_000, ticket: true, mode: 'exclusive', confirm: true, at: 1 },
    200,
    { type: 'acquire', waitMs: 0, ttlMs: 1_000, ticket: true, confirm: true },
  ],
  [
    'ticket',
    'GET',
    `/v1/locks/jobs/tickets/${TICKET_ID}`,
    undefined,
    200,
    { type: 'ticket', user: USER, waitMs: 0 },
  ],
  [
    'ticket',
    'GET',
    `/v1/locks/jobs/tickets/${TICKET_ID}?waitMs=25000`,
    undefined,
    200,
    { type: 'ticket', user: USER, waitMs: 25_000 },
  ],
  [
    'withdraw',
    'DELETE',
    `/v1/locks/jobs/tickets/${TICKET_ID}`,
    undefined,
    204,
    { type: 'withdraw', user: USER },
  ],
  [
    'withdrawWaiter',
    'DELETE',
    `/v1/locks/jobs/waiters/${USER}`,
    undefined,
    204,
    { type: 'withdraw', user: userOfWaiter(USER), ofWaiter: true },
  ],
  [
    'ops',
    'POST',
    `/v1/locks/jobs/grants/${GRANT_ID}/ops`,
    OPERATION,
    200,
    { type: 'ops', user: USER, fence: 1025, ...OPERATION },
  ],
  [
    'keepalive',
    'POST',
    `/v1/locks/jobs/grants/${GRANT_ID}/keepalive`,
    { ttlMs: 600_000 },
    200,
    { type: 'keepalive', user: USER, fence: 1025, ttlMs: 600_000 },
  ],
  [
    'release',
    'DELETE',
    `/v1/locks/jobs/grants/${GRANT_ID}`,
    undefined,
    204,
    { type: 'release', user: USER, fence: 1025 },
  ],
  [
    'transact',
    'POST',
    '/v1/locks/jobs/transact',
    OPERATION,
    200,
    { type: 'transact', waitMs: 10_000, ...OPERATION },
  ],
  [
    'get',
    'GET',
    '/v1/locks/jobs/state/a',
    undefined,
    200,
    { type: 'get', key: 'a', consistency: 'linearizable' },
  ],
  [
    'get',
    'GET',
    '/v1/locks/jobs/state/a?consistency=local&at=1',
    undefined,
    200,
    { type: 'get', key: 'a', consistency: 'local' },
  ],
  [
    'list',
    'GET',
    '/v1/locks/jobs/state?prefix=p&limit=5&cursor=cHE',
    undefined,
    200,
    { type: 'list', prefix: 'p', limit: 5, after: 'pq', consistency: 'linearizable' },
  ],
  [
    'history',
    'GET',
    '/v1/locks/jobs/history',
    undefined,
    200,
    { type: 'history', limit: 1_000, cursor: null },
  ],
  ['history', 'GET', '/v1/locks/jobs/history?limit=5', undefined, 200, { type: 'history', limit: 5 }],
  ['eject', 'POST', '/v1/locks/jobs/eject', undefined, 200, { type: 'eject', fence: null }],
  ['eject', 'POST', '/v1/locks/jobs/eject', { fence: 7 }, 200, { type: 'eject', fence: 7 }],
  ['health', 'GET', '/healthz', undefined, 200, null],
]

describe.each(ROWS)('%s: %s %s %j', (id, method, path, body, status, call) => {
  it(`answers ${status} as described, and asks the participant what it should`, async () => {
    const { send, participants, log } = createHarness()
    const response = await send(method, path, body)
    expect(response.status).toBe(status)
    const route: Route = ROUTES[id]
    const schema = route.answers[status]?.schema
    if (schema === undefined) expect(await response.text()).toBe('')
    else expect(schema.safeParse(await response.json()).error).toBeUndefined()
    if (call === null) expect(participants.asked).toEqual([])
    else expect(participants.asked.map(asked => asked.call)).toContainEqual(expect.objectContaining(call))
    expect(log).toEqual([])
  })
})

it('the rows are all routes but those with a test of their own', () => {
  const elsewhere = ['watch', 'session', 'participants', 'metrics', 'openapi', 'docs', 'home']
  // ends.test.ts, and on workerd.
  elsewhere.push('delete', 'locks', 'exportLock', 'importLock')
  expect(new Set([...ROWS.map(([id]) => id), ...elsewhere])).toEqual(new Set(Object.keys(ROUTES)))
})

describe('every request to a participant', () => {
  it('says which lock and which participant is meant', async () => {
    const { send, participants } = createHarness()
    await send('POST', '/v1/locks/jobs/acquire', { at: 3 })
    const [{ lock, participant, headers }] = participants.asked as [(typeof participants.asked)[number]]
    expect([lock, participant]).toEqual(['jobs', 3])
    expect(headers.get('x-baton-lock')).toBe('jobs')
    expect(headers.get('x-baton-participant')).toBe('3')
  })

  it('of a new user has a name that is new', async () => {
    const { send, participants } = createHarness()
    for (const call of ['acquire', 'acquire', 'transact'])
      await send('POST', `/v1/locks/jobs/${call}`, OPERATION)
    await send('POST', '/v1/locks/jobs/acquire')
    await send('POST', '/v1/locks/jobs/transact', OPERATION)
    const users = participants.asked.map(({ call }) => (call as { user: string }).user)
    expect(new Set(users).size).toBe(users.length)
    expect(users.length).toBeGreaterThan(1)
    for (const user of users) expect(user).toMatch(/^[A-Za-z0-9_-]{22}$/)
  })
})

describe('what a participant refuses', () => {
  // What is no lock has no grants: see life.test.ts.
  const asTheyAre = PROBLEM_CODES.filter(code => code !== 'no_quorum' && code !== 'no_such_lock')
  it.each(asTheyAre)('is passed on as it is: %s', async code => {
    const { send, participants } = createHarness()
    participants.onAll(() => refuse(code, { outcome: 'unknown' }))
    const response = await send('POST', `/v1/locks/jobs/grants/${GRANT_ID}/ops`, OPERATION)
    expect(response.status).toBe(PROBLEMS[code].status)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    const body = await problemOf(response)
    expect(body).toMatchObject({
      type: `urn:baton:problem:${code}`,
      title: PROBLEMS[code].title,
      status: PROBLEMS[code].status,
      detail: `it is ${code}`,
      code,
      retryable: PROBLEMS[code].retryable,
      outcome: 'unknown',
      requestId: response.headers.get('x-request-id'),
    })
    expect(participants.order()).toEqual([1])
  })

  it('locked: names the holder', async () => {
    const { send, participants } = createHarness()
    const holder = { participant: 2, fence: 1030, expiresAt: EXPIRES_AT }
    participants.on(1, () => refuse('locked', { more: { holder, code: 'mine', status: 1 } }))
    const response = await send('POST', '/v1/locks/jobs/acquire', { waitMs: 0 })
    expect(response.status).toBe(409)
    expect(await problemOf(response)).toMatchObject({ code: 'locked', status: 409, retryable: true, holder })
  })

  it.each([
    ['too_many', 429, 7, '7'],
    ['too_many', 429, undefined, '1'],
    ['no_quorum', 503, 0.2, '1'],
    ['no_quorum', 503, 2.5, '3'],
  ] as const)('%s (%i) after %s s has Retry-After: %s', async (code, status, retryAfterSeconds, header) => {
    const { send, participants } = createHarness()
    participants.onAll(() => refuse(code, { retryAfterSeconds }))
    const response = await send('POST', '/v1/locks/jobs/acquire')
    expect(response.status).toBe(status)
    expect(response.headers.get('retry-after')).toBe(header)
  })

  it('a ticket is answered with 202', async () => {
    const { send, participants } = createHarness()
    const ticket = { id: TICKET_ID, position: 1, expiresAt: EXPIRES_AT }
    participants.on(1, () => done(202, { ticket }))
    const response = await send('POST', '/v1/locks/jobs/acquire', { ticket: true, waitMs: 0 })
    expect(response.status).toBe(202)
    expect(await response.json()).toEqual({ ticket })
  })
})

describe('other participants', () => {
  it.each([
    { add: { location: 'weur' } },
    { add: {} },
    { remove: 2 },
    { replace: 2, location: 'oc', configuration: 4 },
    { participants: [{ id: 1 }, { location: 'oc' }, {}] },
  ])('are asked for as they are: %j', async change => {
    const { send, participants } = createHarness()
    const response = await send('POST', '/v1/locks/jobs/participants', change)
    expect(response.status).toBe(200)
    expect(participants.asked.map(({ call }) => call)).toEqual([{ type: 'members', change }])
    const { participants: places } = (await response.json()) as { participants: unknown }
    expect(places).toEqual([1, 2, 3].map(id => ({ id, location: expect.anything() })))
  })

  it('that take long are looked for at the lock', async () => {
    const harness = createHarness()
    const configuration = DEFAULTS as unknown as Json
    harness.participants.onAll(() => done(202, { configuration }))
    const response = await harness.send('POST', '/v1/locks/jobs/participants', { add: {} })
    expect([response.status, response.headers.get('location')]).toEqual([202, '/v1/locks/jobs'])
  })
})

describe('reading a key', () => {
  it.each([
    'a/b',
    'a b',
    '100%',
    '%2F',
    'é',
    '日本',
    'a?b#c',
    'a\nb',
    '"',
    '..a',
    '+',
    'a&b=c',
    'x'.repeat(512),
  ])('takes the key %j percent-encoded', async key => {
    const { send, participants } = createHarness()
    const response = await send('GET', `/v1/locks/jobs/state/${encodeURIComponent(key)}`)
    expect(response.status).toBe(200)
    expect(participants.asked[0]?.call).toMatchObject({ type: 'get', key })
  })

  it('takes a slash also as it is', async () => {
    const { send, participants } = createHarness()
    await send('GET', '/v1/locks/jobs/state/users/7/name')
    expect(participants.asked[0]?.call).toMatchObject({ key: 'users/7/name' })
  })

  it('answers with the revision and a digest as ETag, and 304 to whoever has it', async () => {
    const { send } = createHarness()
    const first = await send('GET', '/v1/locks/jobs/state/a')
    const etag = first.headers.get('etag')!
    expect(etag).toMatch(/^W\/"2-[0-9a-f]{32}"$/)
    for (const known of [etag, etag.slice(2), `"1", ${etag}`, '*']) {
      const again = await send('GET', '/v1/locks/jobs/state/a', undefined, {
        headers: { 'if-none-match': known },
      })
      expect(again.status).toBe(304)
      expect(await again.text()).toBe('')
      expect(again.headers.get('etag')).toBe(etag)
    }
    for (const other of ['"1"', '"2"', etag.replace('2-', '1-')]) {
      const headers = { 'if-none-match': other }
      expect((await send('GET', '/v1/locks/jobs/state/a', undefined, { headers })).status).toBe(200)
    }
  })

  it('regression: the same revision of a later lock of this name is another answer', async () => {
    const { send, participants } = createHarness()
    const ask = async (value: Json, headers = {}, revision = 2) => {
      participants.onAll(() => done(200, { key: 'a', value, revision, sequence: 3 }))
      return send('GET', '/v1/locks/jobs/state/a', undefined, { headers })
    }
    const headers = { 'if-none-match': (await ask({ a: 1, b: 2 })).headers.get('etag')! }
    expect((await ask({ b: 2, a: 1 }, headers)).status).toBe(304)
    expect((await ask({ a: 1, b: 2 }, headers, 3)).status).toBe(200)
    expect(await (await ask({ a: 1, b: 3 }, headers)).json()).toMatchObject({ value: { a: 1, b: 3 } })
  })

  it('that does not exist: 404 no_such_key', async () => {
    const { send, participants } = createHarness()
    participants.onAll(() => refuse('no_such_key'))
    const response = await send('GET', '/v1/locks/jobs/state/a')
    expect(response.status).toBe(404)
    expect((await problemOf(response)).code).toBe('no_such_key')
  })
})

describe('listing', () => {
  it('goes on where the page before ended', async () => {
    const { send, participants } = createHarness()
    participants.onAll(call => {
      if (call.type !== 'list') throw new Error(call.type)
      const cursor = call.after === null ? 'é/1' : null
      return done(200, { entries: [{ key: 'é/1', value: 1, revision: 2 }], cursor, sequence: 7 })
    })
    const first = (await (await send('GET', '/v1/locks/jobs/state')).json()) as { cursor: string }
    const second = await send('GET', `/v1/locks/jobs/state?cursor=${first.cursor}`)
    expect(participants.asked.map(({ call }) => (call as { after: string | null }).after)).toEqual([
      null,
      'é/1',
    ])
    expect(await second.json()).toMatchObject({ cursor: null })
  })
})
