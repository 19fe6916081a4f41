/** Who may do what: every route, with every kind of key. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ROUTES, type Route, VERBS } from '../../shared/api/routes.ts'
import { createHarness, GRANT_ID, problemOf, TICKET_ID, USER, upgraded } from './fake.ts'

const hash = (key: string) => createHash('sha256').update(key).digest('hex')
const entry = (key: string, locks: string[], verbs: string[]) => ({
  name: `the ${key}`,
  hash: hash(key),
  locks,
  verbs,
})
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

const OPERATION = { opId: 'a', ops: [{ get: 'a' }] }
const BODIES: { readonly [id: string]: unknown } = {
  ops: OPERATION,
  transact: OPERATION,
  participants: { remove: 1 },
}
const IDS: { readonly [id: string]: string } = { ticket: TICKET_ID, withdraw: TICKET_ID }

const ROUTE_LIST = Object.entries(ROUTES).map(([id, route]: [string, Route]) => {
  const path = route.path
    .replace('{lock}', 'orders')
    .replace('{id}', IDS[id] ?? GRANT_ID)
    .replace('{key}', 'a')
    .replace('{waiter}', USER)
  return { id, path, method: route.method.toUpperCase(), verb: route.verb, body: BODIES[id] }
})

describe.each(ROUTE_LIST)('$method $path', ({ path, method, verb, body }) => {
  const keys = JSON.stringify([
    entry('master', ['*'], ['*']),
    entry('other-lock', ['other'], ['*']),
    ...VERBS.map(one => entry(one, ['ord*'], [one])),
  ])
  const statusWith = async (options: Parameters<typeof createHarness>[0], headers = {}) => {
    const { send, participants } = createHarness(options)
    const response = await send(method, path, body, { headers })
    if (response.status === 401 || response.status === 403) {
      expect(participants.asked).toEqual([])
      expect(participants.opened).toEqual([])
    }
    return response.status
  }
  /** What it answers to a caller that may do everything: not always success, but never 401 or 403. */
  const usual = () => statusWith({ open: true })

  it('with no keys configured: refused, unless it is open to all', async () => {
    const expected = verb === null ? await usual() : 401
    for (const none of [undefined, '', '[]', 'nonsense']) {
      expect(await statusWith({ keys: none })).toBe(expected)
      expect(await statusWith({ keys: none }, bearer('master'))).toBe(expected)
    }
    expect(await usual()).not.toBe(401)
  })

  it('without a key, or with a wrong one: 401', async () => {
    const expected = verb === null ? await usual() : 401
    const wrong = [
      {},
      bearer('nobody'),
      bearer(hash('master')),
      { authorization: 'master' },
      { authorization: 'Basic bWFzdGVy' },
    ]
    for (const headers of [
      ...wrong,
      { authorization: 'Bearer ' },
      { 'sec-websocket-protocol': 'baton.key.master' },
    ]) {
      expect(await statusWith({ keys }, headers)).toBe(expected)
    }
  })

  it('with a key for everything', async () => {
    expect(await statusWith({ keys }, bearer('master'))).toBe(await usual())
    expect(await statusWith({ keys }, { authorization: 'bearer master' })).toBe(await usual())
  })

  it('with a key for one verb', async () => {
    for (const one of VERBS) {
      const isAllowed = verb === null || verb === one
      expect(await statusWith({ keys }, bearer(one))).toBe(isAllowed ? await usual() : 403)
    }
  })

  it('with a key for another lock', async () => {
    // The list of locks shows a key those that it may read.
    const isAllowed = verb === null || verb === 'metrics' || path === '/v1/locks'
    expect(await statusWith({ keys }, bearer('other-lock'))).toBe(isAllowed ? await usual() : 403)
  })
})

describe('a refusal', () => {
  const keys = JSON.stringify([entry('reader', ['orders'], ['read'])])

  it('401 says how to do it, and what to do if there are no keys', async () => {
    const response = await createHarness({ keys }).send('POST', '/v1/locks/orders/acquire')
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(response.headers.get('x-request-id')).not.toBeNull()
    expect(await problemOf(response)).toMatchObject({
      code: 'unauthenticated',
      status: 401,
      retryable: false,
    })
    const closed = await createHarness({ keys: undefined }).send('POST', '/v1/locks/orders/acquire')
    expect((await problemOf(closed)).detail).toMatch(/wrangler secret put BATON_KEYS/)
  })

  it('403 says what is missing', async () => {
    const response = await createHarness({ keys }).send(
      'POST',
      '/v1/locks/orders/acquire',
      {},
      { headers: bearer('reader') },
    )
    const problem = await problemOf(response)
    expect(problem).toMatchObject({ code: 'forbidden', status: 403, retryable: false })
    expect(problem.detail).toBe('The key the reader does not allow acquire on the lock orders.')
  })

  it('comes before anything is read of the request', async () => {
    const { send } = createHarness({ keys })
    expect((await send('POST', '/v1/locks/!/acquire', 'nonsense')).status).toBe(401)
    expect(
      (await send('POST', '/v1/locks/orders/acquire', 'nonsense', { headers: bearer('reader') })).status,
    ).toBe(403)
    expect(
      (await send('POST', '/v1/locks/!/acquire', 'nonsense', { headers: bearer('reader') })).status,
    ).toBe(400)
  })
})

describe('rotation', () => {
  it('the old and the new key are both valid, until the old one is removed', async () => {
    const [old, fresh] = [entry('old', ['*'], ['*']), entry('fresh', ['*'], ['*'])]
    const statuses = async (entries: object[]) => {
      const { send } = createHarness({ keys: JSON.stringify(entries) })
      const ask = async (key: string) =>
        (await send('GET', '/v1/locks/orders', undefined, { headers: bearer(key) })).status
      return [await ask('old'), await ask('fresh')]
    }
    expect(await statuses([old])).toEqual([200, 401])
    expect(await statuses([old, fresh])).toEqual([200, 200])
    expect(await statuses([fresh])).toEqual([401, 200])
  })
})

describe('a browser’s WebSocket', () => {
  const keys = JSON.stringify([entry('k-1_x', ['*'], ['acquire']), entry('reader', ['*'], ['read'])])
  it.each([
    ['baton, baton.key.k-1_x', 101],
    ['baton.key.k-1_x', 101],
    ['baton.key.nobody', 401],
    ['baton.key.reader', 403],
    ['baton', 401],
  ])('that offers %s: %i', async (offered, status) => {
    const { send, participants } = createHarness({ keys, upgrade: answer => answer })
    participants.onAll(() => upgraded('socket'))
    const headers = { upgrade: 'websocket', 'sec-websocket-protocol': offered }
    expect((await send('GET', '/v1/locks/orders/session', undefined, { headers })).status).toBe(status)
  })
})
