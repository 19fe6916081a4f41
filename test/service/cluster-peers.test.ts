/**
 * Peer endpoints: out of reach through the public router, and for everybody that does not have the secret.
 */
import { describe, expect, it } from 'vitest'
import { PEER_SECRET, useCluster } from './cluster-harness.ts'
import { openWatch } from './event-stream.ts'
import { itKeepsEveryPromise } from './harness.ts'
import { request } from './http.ts'
import { expectStatus } from './lock.ts'
import { rawRequest } from './raw-http.ts'
import { openSession } from './session-socket.ts'
import { hmac, type PeerRequestOptions, sha256, signedRequest } from './signing.ts'

const cluster = useCluster(3)

/** What a participant understands, and the ways in which an attacker might try to get there. */
const INNER = ['/call', '/peer', '/watch', '/session?user=abcdefghijklmnopqrstuv', '/', '/other']
const WAYS = [
  '',
  '/participant',
  '/participant/participant',
  '//participant',
  '/Participant',
  '/v1/participant',
]
const OUTER = [
  ...WAYS.flatMap(way => INNER.map(path => way + path)).filter(path => path !== '/'),
  ...INNER.map(path => `/participant%2f${path.slice(1)}`),
  ...INNER.map(path => `/v1/locks/a/participant${path}`),
  '/participant',
  '/v1/locks/a/call',
  '/v1/locks/a/peer',
]
const STATUS = JSON.stringify({ call: { type: 'status' } })
const headers = {
  'content-type': 'application/json',
  'x-baton-lock': 'peers',
  'x-baton-participant': '1',
}

type Options = Omit<PeerRequestOptions, 'to'> & { readonly to?: string }

const send = (url: string, options: Options, more: { readonly [name: string]: string } = {}) => {
  const { path, init } = signedRequest({ to: url, ...options })
  return fetch(`${url}${path}`, { ...init, headers: { ...init.headers, ...more } })
}
const proper = { path: '/call', lock: 'peers', participant: 1, body: STATUS, secret: PEER_SECRET }

describe('without a signature', () => {
  it.each(OUTER)('%s is nothing, at the router and at a participant', async path => {
    for (const url of [cluster.url, cluster.urlOf(1)]) {
      for (const method of ['GET', 'POST', 'PUT']) {
        const body = method === 'GET' ? {} : { body: STATUS }
        const answer = await request(url, method, path, { headers, ...body })
        expect([answer.status, answer.body.code], `${method} ${url}`).toEqual([404, 'no_such_route'])
      }
    }
  })

  it('/ says what is here, and is no way to a participant', async () => {
    for (const url of [cluster.url, cluster.urlOf(1)]) {
      const answer = await request(url, 'GET', '/', { headers })
      expectStatus(answer, 200)
      expect(answer.body).toEqual((await request(url, 'GET', '/')).body)
      for (const method of ['POST', 'PUT']) {
        const refused = await request(url, method, '/', { headers, body: STATUS })
        expect([refused.status, refused.body.code], `${method} ${url}`).toEqual([405, 'method_not_allowed'])
      }
    }
  })
})

describe('with the wrong signature', () => {
  it.each([
    ['of another secret', { ...proper, secret: 'a guess' }],
    ['of no secret', { ...proper, secret: '' }],
    ['of a time long ago', { ...proper, time: Date.now() - 301_000 }],
    ['of a time to come', { ...proper, time: Date.now() + 600_000 }],
    ['of no time', { ...proper, time: Number.NaN }],
  ])('%s', async (_, options) => {
    for (const url of [cluster.url, cluster.urlOf(1)]) {
      const response = await send(url, options)
      expect(response.status).toBe(404)
      expect(((await response.json()) as { code: string }).code).toBe('no_such_route')
    }
  })

  it.each([
    ['lock', { 'x-baton-lock': 'other' }],
    ['participant', { 'x-baton-participant': '2' }],
    ['time', { 'x-baton-time': String(Date.now() - 1_000) }],
    ['process', { 'x-baton-to': 'http://127.0.0.1:1' }],
    ['number', { 'x-baton-nonce': 'another' }],
    ['digest', { 'x-baton-digest': 'f'.repeat(64) }],
    ['signature', { 'x-baton-signature': 'f'.repeat(64) }],
    ['signature, not even one,', { 'x-baton-signature': 'x' }],
    ['signature, in capitals,', { 'x-baton-signature': 'A'.repeat(64) }],
  ])('for another %s than the one that was signed', async (_, changed) => {
    expect((await send(cluster.urlOf(1), proper, changed)).status).toBe(404)
  })

  it('for another path, method or body than the one that was signed', async () => {
    const url = cluster.urlOf(1)
    const { init } = signedRequest({ ...proper, to: url })
    expect((await fetch(`${url}/participant/peer`, init)).status).toBe(404)
    expect((await fetch(`${url}/participant/call?x`, init)).status).toBe(404)
    expect((await fetch(`${url}/participant/call`, { ...init, method: 'PUT' })).status).toBe(404)
    const eject = JSON.stringify({ call: { type: 'eject' } })
    expect((await fetch(`${url}/participant/call`, { ...init, body: eject })).status).toBe(404)
  })
})

describe('with the right signature', () => {
  it('a participant answers, and signs the answer to this very request', async () => {
    const { path, init } = signedRequest({ ...proper, to: cluster.urlOf(1) })
    const signed = await fetch(cluster.urlOf(1) + path, init)
    const type = signed.headers.get('content-type')
    const text = await signed.text()
    const lines = ['baton answer 2', init.headers['x-baton-signature'], 200, type, sha256(text)]
    expect(signed.headers.get('x-baton-signature')).toBe(hmac(PEER_SECRET, lines))
    const response = await send(cluster.urlOf(1), proper)
    expect(response.status).toBe(200)
    // Nobody has used this lock.
    expect(await response.json()).toMatchObject({ type: 'problem', code: 'no_such_lock' })
  })

  it('a process answers for its own participants alone: it makes no second one of another', async () => {
    for (const lock of ['peers', '.ledger']) {
      const [path, body] = lock === 'peers' ? ['/call', STATUS] : ['/peer', '{"type":"ledger-health"}']
      for (const participant of [1, 2, 3]) {
        const response = await send(cluster.urlOf(1), { ...proper, lock, path, body, participant })
        expect([participant, response.status]).toEqual([participant, participant === 1 ? 200 : 404])
      }
    }
  })

  it('what makes no sense does no harm', async () => {
    const url = cluster.urlOf(1)
    for (const [path, body] of [
      ['/other', STATUS],
      ['/call', '{'],
      ['/call', '{}'],
      ['/peer', '{"type":"messages","from":2,"messages":[{}]}'],
      ['/peer', '{"type":"messages","from":2,"messages":[{"format":99,"configuration":1,"body":{}}]}'],
      ['/peer', '{"type":"nonsense"}'],
    ] as const) {
      const response = await send(url, { ...proper, path, body })
      expect(response.status, body).not.toBe(101)
      await response.text()
    }
    expect((await send(url, proper)).status).toBe(200)
  })
})

describe('a request that was recorded', () => {
  it('is of no use at another process, whatever it calls itself', async () => {
    const { path, init } = signedRequest({ ...proper, to: cluster.urlOf(1) })
    expect((await fetch(cluster.urlOf(1) + path, init)).status).toBe(200)
    for (const url of [cluster.urlOf(2), cluster.url]) {
      expect((await fetch(url + path, init)).status).toBe(404)
      const headers = { ...init.headers, host: new URL(cluster.urlOf(1)).host }
      expect((await rawRequest(url, path, { method: 'POST', headers, body: STATUS })).status).toBe(404)
    }
  })
})

describe('a body that is too long', () => {
  const MEGABYTE = 'x'.repeat(1024 * 1024)
  const endless = (megabytes: number) =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        if (megabytes-- > 0) controller.enqueue(new TextEncoder().encode(MEGABYTE))
        else controller.close()
      },
    })

  it('of a stranger is not read', async () => {
    const before = cluster.memoryOf(1)
    const { path, init } = signedRequest({
      ...proper,
      to: cluster.urlOf(1),
      secret: 'another secret than theirs',
    })
    const options = { ...init, body: endless(300), duplex: 'half' } as RequestInit
    const status = await fetch(cluster.urlOf(1) + path, options).then(
      response => response.status,
      () => 'cut off',
    )
    expect([404, 'cut off']).toContain(status)
    expect(cluster.memoryOf(1) - before).toBeLessThan(100 * 1024 * 1024)
  })

  it('of a peer is read up to the limit and refused with 413', async () => {
    const before = cluster.memoryOf(1)
    const { path, init } = signedRequest({ ...proper, to: cluster.urlOf(1) })
    const options = { ...init, body: endless(300), duplex: 'half' } as RequestInit
    const status = await fetch(cluster.urlOf(1) + path, options).then(
      response => response.status,
      () => 'cut off',
    )
    expect([413, 'cut off']).toContain(status)
    expect(cluster.memoryOf(1) - before).toBeLessThan(100 * 1024 * 1024)
    expect((await send(cluster.urlOf(1), proper)).status).toBe(200)
  })
})

describe('the participants of a cluster', () => {
  it('serve nobody but their router: the public API is closed there', async () => {
    const lock = cluster.lock()
    await lock.transacted([{ increment: 'n' }])
    for (const participant of cluster.participants) {
      const answer = await request(cluster.urlOf(participant), 'GET', `${lock.path}/state/n`)
      expect([answer.status, answer.body.code]).toEqual([401, 'unauthenticated'])
    }
  })
})

describe('streams', () => {
  it.each([1, 2, 3])('pass through the signatures of participant %i', async at => {
    const lock = cluster.lock()
    await lock.transacted([{ increment: 'n' }])
    const watch = await openWatch(`${lock.url}/watch?since=0&at=${at}`)
    const session = await openSession(`${lock.url}/session?at=${at}`)
    session.send({ type: 'try' })
    await session.nextOf('crit')
    session.send({ type: 'issue', opId: 'in-session', ops: [{ increment: 'n' }] })
    expect(await session.nextOf('outcome')).toMatchObject({ applied: true, results: [{ value: 2 }] })
    expect((await watch.nextOf('op')).data).toMatchObject({ changes: [{ key: 'n', value: 1 }] })
    expect((await watch.nextOf('op')).data).toMatchObject({ opId: 'in-session' })
    session.close()
    watch.close()
  })
})

describe('the memory of a process', () => {
  it('does not grow with what strangers send at once', async () => {
    const before = cluster.memoryOf(2)
    const body = new Uint8Array(32 * 1024 * 1024)
    const strangers = Array.from({ length: 8 }, () =>
      fetch(`${cluster.urlOf(2)}/participant/peer`, { method: 'POST', headers, body }).then(
        response => response.status,
        () => 'cut off',
      ),
    )
    for (const status of await Promise.all(strangers)) expect([404, 'cut off']).toContain(status)
    expect(cluster.memoryOf(2) - before).toBeLessThan(100 * 1024 * 1024)
  })
})

itKeepsEveryPromise(cluster)
