/** Peer endpoints: out of reach through the public router, and for everybody who does not have the secret. */
import { describe, expect, it } from 'vitest'
import { PEER_SECRET, useCluster } from './cluster-harness.ts'
import { itKeepsEveryPromise } from './harness.ts'
import { request } from './http.ts'
import { type PeerRequestOptions, signedRequest } from './signing.ts'

const cluster = useCluster(3)

/** What a participant understands, and the ways in which somebody might try to get there. */
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
  ...WAYS.flatMap(way => INNER.map(path => way + path)),
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

const send = (url: string, options: PeerRequestOptions, more: { readonly [name: string]: string } = {}) => {
  const { path, init } = signedRequest(options)
  return fetch(`${url}${path}`, { ...init, headers: { ...(init.headers as object), ...more } })
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
})

describe('with the wrong signature', () => {
  it.each([
    ['of another secret', { ...proper, secret: 'a guess' }],
    ['of no secret', { ...proper, secret: '' }],
    ['of a time long ago', { ...proper, time: Date.now() - 61_000 }],
    ['of a time to come', { ...proper, time: Date.now() + 120_000 }],
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
    ['signature', { 'x-baton-signature': 'f'.repeat(64) }],
    ['signature, not even one,', { 'x-baton-signature': 'x' }],
    ['signature, in capitals,', { 'x-baton-signature': 'A'.repeat(64) }],
  ])('for another %s than the one that was signed', async (_, changed) => {
    expect((await send(cluster.urlOf(1), proper, changed)).status).toBe(404)
  })

  it('for another path, method or body than the one that was signed', async () => {
    const { init } = signedRequest(proper)
    const url = cluster.urlOf(1)
    expect((await fetch(`${url}/participant/peer`, init)).status).toBe(404)
    expect((await fetch(`${url}/participant/call?x`, init)).status).toBe(404)
    expect((await fetch(`${url}/participant/call`, { ...init, method: 'PUT' })).status).toBe(404)
    const eject = JSON.stringify({ call: { type: 'eject' } })
    expect((await fetch(`${url}/participant/call`, { ...init, body: eject })).status).toBe(404)
  })
})

describe('with the right signature', () => {
  it('a participant answers', async () => {
    const response = await send(cluster.urlOf(1), proper)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ type: 'done', body: { epoch: 0, queue: 0 } })
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

itKeepsEveryPromise(cluster)
