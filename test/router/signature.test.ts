/** What passes between processes is signed, both ways: for one process, one request, one time. */
import { describe, expect, it } from 'vitest'
import {
  fetchSigned,
  MAX_AGE_MS,
  PEER_REQUEST_BYTES,
  type PeerDoor,
  readSigned,
} from '../../worker/signature.ts'
import { hmac, sha256 } from '../service/signing.ts'

const NOW = 1_800_000_000_000
const HERE = 'http://a.example'
const SECRET = 'the secret of the peers'
const OLD = 'the secret of long ago'

const HEADERS = { 'x-baton-lock': 'jobs', 'x-baton-participant': '2', 'content-type': 'application/json' }
const ADDRESS = 'x-baton-address'

const call = (body = '{"call":1}', url = `${HERE}/participant/call?x=1`, more = {}) =>
  new Request(url, { method: 'POST', headers: { ...HEADERS, ...more }, body })

/** For a participant that came after the birth of its lock. */
const later = () => call(undefined, undefined, { [ADDRESS]: 'weur@2' })

/** The request as it goes out. */
async function sent(request = call(), options: { to?: string; secret?: string; now?: number } = {}) {
  let seen: Request | undefined
  const fetch = async (outgoing: Request) => {
    seen = outgoing
    return new Response(null, { status: 204 })
  }
  await fetchSigned(request, { to: HERE, secret: SECRET, now: NOW, ...options, fetch }).catch(() => {})
  return seen!
}

const door = (more: Partial<PeerDoor> = {}): PeerDoor => ({
  path: '/participant/call?x=1',
  own: [HERE],
  secrets: [SECRET],
  now: NOW,
  ...more,
})

async function isTaken(request: Request, more: Partial<PeerDoor> = {}): Promise<boolean> {
  return (await readSigned(request, door(more))).type === 'peer'
}

/** The same request with something changed on the way. */
async function changed(
  more: { headers?: { [name: string]: string | null }; method?: string; body?: string },
  original = call(),
) {
  const request = await sent(original)
  const body = more.body ?? (await request.clone().text())
  const headers = new Headers(request.headers)
  for (const [name, value] of Object.entries(more.headers ?? {}))
    value === null ? headers.delete(name) : headers.set(name, value)
  return new Request(request.url, { method: more.method ?? request.method, headers, body })
}

describe('a request', () => {
  it('is taken with its body', async () => {
    const read = await readSigned(await sent(), door())
    expect(read).toMatchObject({ type: 'peer' })
    expect(read.type === 'peer' && new TextDecoder().decode(read.body as Uint8Array)).toBe('{"call":1}')
  })

  it('is signed as it is written down', async () => {
    const { headers, method } = await sent()
    const said = ['x-baton-to', 'x-baton-lock', 'x-baton-participant', 'x-baton-time', 'x-baton-nonce']
    const lines = ['baton request 2', method, '/participant/call?x=1', ...said.map(name => headers.get(name))]
    expect(headers.get('x-baton-to')).toBe(HERE)
    expect(headers.get('x-baton-signature')).toBe(hmac(SECRET, [...lines, sha256('{"call":1}')]))
  })

  it('is signed with its address, where it has one', async () => {
    const { headers, method } = await sent(later())
    const said = ['x-baton-to', 'x-baton-lock', 'x-baton-participant', 'x-baton-time', 'x-baton-nonce']
    const lines = ['baton request 3', method, '/participant/call?x=1', ...said.map(name => headers.get(name))]
    const right = hmac(SECRET, [...lines, sha256('{"call":1}'), 'weur@2'])
    expect(headers.get('x-baton-signature')).toBe(right)
  })

  it.each([
    ['lock', { headers: { 'x-baton-lock': 'other' } }],
    ['participant', { headers: { 'x-baton-participant': '3' } }],
    ['time', { headers: { 'x-baton-time': String(NOW + 1) } }],
    ['number', { headers: { 'x-baton-nonce': 'other' } }],
    ['process', { headers: { 'x-baton-to': 'http://b.example' } }],
    ['digest', { headers: { 'x-baton-digest': sha256('{"call":2}') }, body: '{"call":2}' }],
    ['body', { body: '{"call":2}' }],
    ['method', { method: 'PUT' }],
    ['signature', { headers: { 'x-baton-signature': '0'.repeat(64) } }],
    ['signature, which is none', { headers: { 'x-baton-signature': 'x' } }],
  ])('with another %s than the one that was signed is a stranger', async (_, change) => {
    expect(await isTaken(await changed(change))).toBe(false)
    expect(await isTaken(await changed({}))).toBe(true)
  })

  it.each([
    ['added', call, 'weur@2'],
    ['added, and empty', call, ''],
    ['exchanged', later, 'apac@2'],
    ['emptied', later, ''],
    ['removed', later, null],
  ])('whose address was %s on the way is a stranger', async (_, original, address) => {
    expect(await isTaken(await changed({ headers: { [ADDRESS]: address } }, original()))).toBe(false)
    expect(await isTaken(await changed({}, original()))).toBe(true)
  })

  it('for another path is a stranger', async () => {
    expect(await isTaken(await sent(), { path: '/participant/peer?x=1' })).toBe(false)
    expect(await isTaken(await sent(), { path: '/participant/call' })).toBe(false)
  })

  it('for another process is a stranger, also if that one has the secret', async () => {
    expect(await isTaken(await sent(), { own: ['http://b.example'] })).toBe(false)
    expect(await isTaken(await sent(), { own: [] })).toBe(false)
    expect(await isTaken(await sent(), { own: ['http://b.example', HERE] })).toBe(true)
  })

  it('names a process however its address is spelt', async () => {
    const request = await sent(call(undefined, 'http://a.example/locks/participant/call?x=1'), {
      to: 'http://A.example:80/locks/',
    })
    expect(await isTaken(request, { own: ['http://a.example/locks'] })).toBe(true)
  })

  it('is of use for as long as clocks may differ, and no longer', async () => {
    for (const late of [MAX_AGE_MS, -MAX_AGE_MS])
      expect(await isTaken(await sent(), { now: NOW + late })).toBe(true)
    for (const late of [MAX_AGE_MS + 1, -MAX_AGE_MS - 1])
      expect(await isTaken(await sent(), { now: NOW + late })).toBe(false)
    expect(await isTaken(await sent(call(), { now: Number.NaN }))).toBe(false)
  })

  it('follows no redirect', async () => {
    expect((await sent()).redirect).toBe('manual')
  })

  it('is taken with either of two secrets, and with no third', async () => {
    const secrets = [SECRET, OLD]
    expect(await isTaken(await sent(), { secrets })).toBe(true)
    expect(await isTaken(await sent(call(), { secret: OLD }), { secrets })).toBe(true)
    expect(await isTaken(await sent(call(), { secret: 'another secret' }), { secrets })).toBe(false)
    expect(await isTaken(await sent(), { secrets: [] })).toBe(false)
  })
})

describe('a body', () => {
  const watched = (bytes: number, headers: { [name: string]: string }) => {
    let read = 0
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (read >= bytes) return controller.close()
          read += 65_536
          controller.enqueue(new Uint8Array(65_536))
        },
      },
      { highWaterMark: 0 },
    )
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
    return { request: new Request(`${HERE}/participant/call?x=1`, init), wasRead: () => read }
  }

  it('of a stranger is not read', async () => {
    const { headers } = await changed({ headers: { 'x-baton-signature': '0'.repeat(64) } })
    const { request, wasRead } = watched(600 * 1024 * 1024, Object.fromEntries(headers))
    expect(await readSigned(request, door())).toEqual({ type: 'stranger' })
    expect(wasRead()).toBe(0)
  })

  it('that says that it is too long is not read', async () => {
    const headers = {
      ...Object.fromEntries((await sent()).headers),
      'content-length': String(PEER_REQUEST_BYTES + 1),
    }
    const { request, wasRead } = watched(PEER_REQUEST_BYTES + 1, headers)
    expect(await readSigned(request, door())).toMatchObject({ type: 'peer', body: 'too-large' })
    expect(wasRead()).toBe(0)
  })

  it('that is too long is read up to the limit', async () => {
    const { request, wasRead } = watched(600 * 1024 * 1024, Object.fromEntries((await sent()).headers))
    expect(await readSigned(request, door())).toMatchObject({ type: 'peer', body: 'too-large' })
    expect(wasRead()).toBeLessThanOrEqual(PEER_REQUEST_BYTES + 2 * 65_536)
  })

  it('that is as long as it may be is taken', async () => {
    const request = await sent(call('x'.repeat(PEER_REQUEST_BYTES)))
    expect(await isTaken(request)).toBe(true)
  })
})

describe('an answer', () => {
  /** What the caller gets if the peer answers this, and an attacker in between does that. */
  async function exchange(
    response: Response,
    between: (answer: Response, signature: string) => Response | Promise<Response> = answer => answer,
    secrets = [SECRET],
  ): Promise<Response> {
    return fetchSigned(call(), {
      to: HERE,
      secret: SECRET,
      now: NOW,
      fetch: async outgoing => {
        const read = await readSigned(outgoing, door({ secrets }))
        if (read.type === 'stranger') return new Response(null, { status: 404 })
        return between(await read.answer(response), outgoing.headers.get('x-baton-signature')!)
      },
    })
  }
  const usual = () => Response.json({ type: 'done' })

  it('comes back whole', async () => {
    const answer = await exchange(usual())
    expect([answer.status, await answer.json()]).toEqual([200, { type: 'done' }])
    expect((await exchange(new Response(null, { status: 204 }))).status).toBe(204)
    expect((await exchange(new Response('no', { status: 413 }))).status).toBe(413)
  })

  it('is signed with the secret of the request, also if that is the old one', async () => {
    expect((await exchange(usual(), undefined, ['the secret to come', SECRET])).status).toBe(200)
  })

  it('is signed as it is written down', async () => {
    await exchange(usual(), async (answer, signature) => {
      const text = await answer.clone().text()
      const lines = ['baton answer 2', signature, 200, answer.headers.get('content-type'), sha256(text)]
      expect(answer.headers.get('x-baton-signature')).toBe(hmac(SECRET, lines))
      return answer
    })
  })

  const replaced =
    (change: { status?: number; body?: string; type?: string; signature?: string }) =>
    async (answer: Response) => {
      const headers = new Headers(answer.headers)
      if (change.type !== undefined) headers.set('content-type', change.type)
      if (change.signature !== undefined) headers.set('x-baton-signature', change.signature)
      return new Response(change.body ?? (await answer.text()), {
        status: change.status ?? answer.status,
        headers,
      })
    }

  it.each([
    ['another status', replaced({ status: 201 })],
    ['another body', replaced({ body: '{"type":"problem"}' })],
    ['another type', replaced({ type: 'text/plain' })],
    ['a type that is not covered', replaced({ type: 'text/event-stream' })],
    ['another signature', replaced({ signature: 'f'.repeat(64) })],
    ['no signature', () => Response.json({ type: 'done' })],
    ['a redirect', () => new Response(null, { status: 307, headers: { location: 'http://b.example' } })],
  ])('with %s is none', async (_, between) => {
    await expect(exchange(usual(), between)).rejects.toThrow(/signed|signature/)
  })

  it('to another request is none', async () => {
    let recorded: Response | undefined
    await exchange(usual(), answer => {
      recorded = answer.clone()
      return answer
    })
    await expect(exchange(usual(), () => recorded!)).rejects.toThrow('signature')
  })

  it('of a process that does not know us is none', async () => {
    await expect(exchange(usual(), undefined, ['another secret'])).rejects.toThrow('status 404')
  })

  it('that is a stream is handed on as it comes', async () => {
    const stream = () => new Response('data: 1\n\n', { headers: { 'content-type': 'text/event-stream' } })
    expect(await (await exchange(stream())).text()).toBe('data: 1\n\n')
    await expect(exchange(stream(), replaced({ status: 201 }))).rejects.toThrow('signature')
  })
})
