/** 401 and 403: who may do what, and a service without keys. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ROUTE_IDS, ROUTES, type Route, VERBS } from '../../shared/api/routes.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus } from './lock.ts'
import { openSession } from './session-socket.ts'

const entry = (name: string, key: string, locks: string[], verbs: string[]) => {
  return { name, hash: createHash('sha256').update(key).digest('hex'), locks, verbs }
}
const keyOf = (name: string) => `key-of-${name}-0123456789`
const ROTATED = 'the-next-key-0123456789'

const service = useService({
  BATON_OPEN: '',
  BATON_KEYS: JSON.stringify([
    entry('operator', keyOf('operator'), ['*'], ['*']),
    entry('operator-next', ROTATED, ['*'], ['*']),
    entry('some', keyOf('some'), ['orders', 'stock-*'], ['acquire', 'read']),
    ...VERBS.map(verb => entry(verb, keyOf(verb), ['*'], [verb])),
  ]),
})
const unset = useService({ BATON_OPEN: '' })
const broken = useService({ BATON_OPEN: '', BATON_KEYS: '[{"name": "x"}]' })

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const pathOf = (route: Route) => {
  const id = route.path.includes('tickets') ? '1-abcdefghijklmnopqrstuv' : '1-1-abcdefghijklmnopqrstuv'
  return route.path
    .replace('{lock}', 'orders')
    .replace('{id}', id)
    .replace('{waiter}', 'abcdefghijklmnopqrstuv')
    .replace('{key}', 'k')
}
const guarded = ROUTE_IDS.filter(id => ROUTES[id].verb !== null).map(id => [id] as const)

describe('401 unauthenticated', () => {
  it.each(guarded)('%s without a key, with a wrong one, or with one in the wrong place', async id => {
    const route: Route = ROUTES[id]
    const wrong: { [name: string]: string }[] = [
      {},
      { authorization: 'Bearer wrong' },
      { authorization: keyOf('operator') },
      { authorization: `Basic ${btoa(keyOf('operator'))}` },
      { authorization: `Bearer ${keyOf('operator')}x` },
      { authorization: `Bearer ${entry('', keyOf('operator'), [], []).hash}` },
      { 'x-api-key': keyOf('operator') },
    ]
    for (const headers of wrong) {
      const {
        status,
        body,
        headers: answered,
      } = await service.send(route.method.toUpperCase(), pathOf(route), {
        headers,
      })
      expect([status, body.code]).toEqual([401, 'unauthenticated'])
      expect(answered.get('www-authenticate')).toContain('Bearer')
    }
  })

  it('not for what needs no key', async () => {
    for (const path of ['/healthz', '/openapi.json', '/docs'])
      expectStatus(await service.send('GET', path), 200)
  })
})

describe('403 forbidden', () => {
  it.each(guarded)('%s with a key of another verb, and not with one of its own', async id => {
    const { method, verb } = ROUTES[id] as Route
    const path = pathOf(ROUTES[id])
    if (id === 'watch') return
    const statusFor = async (name: string) =>
      (await service.send(method.toUpperCase(), path, bearer(keyOf(name)))).status
    for (const other of VERBS.filter(candidate => candidate !== verb))
      expect(await statusFor(other)).toBe(403)
    expect(await statusFor(verb!)).not.toBe(403)
    expect(await statusFor('operator')).not.toBe(403)
  })

  it.each([
    ['orders', 200],
    ['stock-42', 404],
    ['stock-', 404],
    ['orders-2', 403],
    ['stock', 403],
    ['Orders', 403],
  ])('the key of some locks: %s is %i', async (lock, status) => {
    const { body, ...answer } = await service.send('GET', `/v1/locks/${lock}`, bearer(keyOf('some')))
    expect(answer.status).toBe(status)
    // Whoever may read may know that there is no such lock; nobody else.
    if (status === 404) expect(body).toMatchObject({ code: 'no_such_lock' })
    if (status === 403) expect(body).toMatchObject({ code: 'forbidden', retryable: false })
  })
})

describe('keys', () => {
  it('two are valid at once', async () => {
    for (const key of [keyOf('operator'), ROTATED]) {
      expectStatus(await service.send('GET', '/v1/locks/orders', bearer(key)), 200)
    }
  })

  it('a browser gives its key as a subprotocol', async () => {
    const url = `${service.url}/v1/locks/orders/session`
    for (const protocols of [['baton', `baton.key.${keyOf('acquire')}`], [`baton.key.${keyOf('acquire')}`]]) {
      const session = await openSession(url, protocols)
      expect(session.socket.protocol).toBe(protocols[0])
      session.send({ type: 'try' })
      expect(await session.next()).toMatchObject({ type: 'crit' })
      session.send({ type: 'exit' })
      expect(await session.next()).toEqual({ type: 'rem' })
      session.close()
    }
    for (const protocols of [[], ['baton.key.wrong'], [`baton.key.${keyOf('read')}`]]) {
      await expect(openSession(url, protocols)).rejects.toThrow()
    }
  })

  it('are in no answer and in no line of output', async () => {
    await service.send('GET', '/v1/locks/x', bearer(keyOf('some')))
    const { text } = await service.send('GET', '/metrics', bearer(keyOf('metrics')))
    expect(text).not.toContain(keyOf('some'))
    expect(service.output.join('\n')).not.toContain('key-of')
  })
})

describe('a service without keys', () => {
  it('serves nothing while they cannot be understood, and says what is wrong', async () => {
    for (const id of ROUTE_IDS) {
      const route: Route = ROUTES[id]
      const answer = await broken.send(route.method.toUpperCase(), pathOf(route), bearer('any'))
      expect([answer.status, answer.body.code]).toEqual([503, 'misconfigured'])
      expect(answer.body.detail).toContain('BATON_KEYS is not a list of keys: 0.hash is missing')
    }
  })

  it('refuses everything and says what to do', async () => {
    for (const id of ROUTE_IDS) {
      const route: Route = ROUTES[id]
      const answer = await unset.send(route.method.toUpperCase(), pathOf(route), bearer('any'))
      if (route.verb === null) expect(answer.status).toBe(200)
      else expect([answer.status, answer.body.code]).toEqual([401, 'unauthenticated'])
      if (route.verb !== null) expect(answer.body.detail).toContain('BATON_KEYS')
    }
  })
})

itKeepsEveryPromise(service)
