/** `watch` and `session`: the router finds a participant and hands on what it opens. */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createHarness, NEAR_2, never, problemOf, refuse, SHORT_TIMES, socketOf, upgraded } from './fake.ts'

const crash = () => {
  throw new Error('Network connection lost.')
}
const events = (text: string) => new Response(text, { headers: { 'content-type': 'text/event-stream' } })

describe('watch', () => {
  it.each([
    ['/v1/locks/jobs/watch', {}, ''],
    ['/v1/locks/jobs/watch?since=0', {}, '?since=0'],
    ['/v1/locks/jobs/watch?since=7', {}, '?since=7'],
    ['/v1/locks/jobs/watch', { 'last-event-id': '9' }, '?since=9'],
    ['/v1/locks/jobs/watch?since=7', { 'last-event-id': '9' }, '?since=9'],
  ])('%s with %j asks for %j', async (path, headers, search) => {
    const { send, participants } = createHarness()
    participants.onAll(() => events('id: 1\nevent: op\ndata: {}\n\n'))
    const response = await send('GET', path, undefined, { headers, cf: NEAR_2 })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-request-id')).not.toBeNull()
    expect(await response.text()).toBe('id: 1\nevent: op\ndata: {}\n\n')
    const [{ participant, url, headers: asked }] = participants.opened as [
      (typeof participants.opened)[number],
    ]
    expect([participant, url.pathname, url.search]).toEqual([2, '/watch', search])
    expect([asked.get('x-baton-lock'), asked.get('x-baton-participant')]).toEqual(['jobs', '2'])
  })

  it('is handed on as it comes, and ends when the reader leaves', async () => {
    const { send, participants } = createHarness()
    let isCancelled = false
    participants.onAll(() => {
      const stream = new ReadableStream({
        start: controller => controller.enqueue(new TextEncoder().encode(': baton\n\n')),
        cancel: () => {
          isCancelled = true
        },
      })
      return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
    })
    const response = await send('GET', '/v1/locks/jobs/watch')
    const reader = response.body!.getReader()
    const { value } = await reader.read()
    expect(new TextDecoder().decode(value as Uint8Array)).toBe(': baton\n\n')
    await reader.cancel()
    expect(isCancelled).toBe(true)
  })

  it('goes on if it began late, while it was asked in vain whether the participant is there', async () => {
    const { probeAfterMs, probeMs } = SHORT_TIMES
    const { send, participants } = createHarness()
    let signal: AbortSignal | undefined
    participants.onAll(async (_, request) => {
      if (!request.url.includes('/watch')) return never()
      signal = request.signal
      await sleep(probeAfterMs + probeMs / 2)
      return events(': baton\n\n')
    })
    expect((await send('GET', '/v1/locks/jobs/watch')).status).toBe(200)
    await sleep(probeMs)
    expect(signal!.aborted).toBe(false)
  })

  it('begins at the next participant if the nearest one is gone', async () => {
    const { send, participants } = createHarness()
    participants.on(1, crash).on(2, () => events(': baton\n\n'))
    expect((await send('GET', '/v1/locks/jobs/watch')).status).toBe(200)
    expect(participants.opened.map(({ participant }) => participant)).toEqual([1, 2])
  })

  it('is refused as the participant refuses it', async () => {
    const { send, participants } = createHarness()
    participants.onAll(() => refuse('too_many', { retryAfterSeconds: 5 }))
    const response = await send('GET', '/v1/locks/jobs/watch')
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '5'])
    participants.onAll(crash)
    expect((await send('GET', '/v1/locks/jobs/watch')).status).toBe(503)
  })

  it.each(['x', '-1', '1.5', '99999999999999999'])('400 for Last-Event-ID: %s', async id => {
    const { send } = createHarness()
    const response = await send('GET', '/v1/locks/jobs/watch', undefined, {
      headers: { 'last-event-id': id },
    })
    expect(response.status).toBe(400)
    expect((await problemOf(response)).errors).toMatchObject([{ in: 'header', path: 'last-event-id' }])
  })
})

describe('session', () => {
  const upgrade = (answer: Response, headers: Headers) => upgraded(socketOf(answer), headers)
  const open = async (headers: { readonly [name: string]: string }, path = '/v1/locks/jobs/session') => {
    const harness = createHarness({ upgrade })
    harness.participants.onAll(() => upgraded('the socket'))
    const response = await harness.send('GET', path, undefined, {
      headers: { upgrade: 'websocket', ...headers },
    })
    return { ...harness, response }
  }

  it('hands on the socket of the participant', async () => {
    const { response, participants } = await open({}, '/v1/locks/jobs/session?at=3')
    expect([response.status, socketOf(response)]).toEqual([101, 'the socket'])
    const [{ participant, url, headers }] = participants.opened as [(typeof participants.opened)[number]]
    expect([participant, url.pathname]).toEqual([3, '/session'])
    expect(url.searchParams.get('user')).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(headers.get('upgrade')).toBe('websocket')
    expect(headers.get('x-baton-lock')).toBe('jobs')
  })

  it.each([
    [undefined, null],
    ['baton', 'baton'],
    ['chat', null],
    ['baton.key.k', 'baton.key.k'],
    ['baton.key.k, baton', 'baton'],
    ['chat , baton.key.k', 'baton.key.k'],
  ])('of those offered (%s) chooses %s, and hands on no key', async (offered, chosen) => {
    const { response, participants } = await open(
      offered === undefined ? {} : { 'sec-websocket-protocol': offered },
    )
    expect(response.headers.get('sec-websocket-protocol')).toBe(chosen)
    expect(JSON.stringify([...participants.opened[0]!.headers])).not.toContain('baton.key')
  })

  it.each([
    [['acquire', 'read'], 'yes'],
    [['acquire'], null],
    [['*'], 'yes'],
  ])('with a key for %j says whether it may read: %s', async (verbs, read) => {
    const hash = createHash('sha256').update('secret').digest('hex')
    const keys = JSON.stringify([{ name: 'one', hash, locks: ['*'], verbs }])
    const { send, participants } = createHarness({ upgrade, keys })
    participants.onAll(() => upgraded('the socket'))
    const headers = { upgrade: 'websocket', authorization: 'Bearer secret' }
    expect((await send('GET', '/v1/locks/jobs/session', undefined, { headers })).status).toBe(101)
    expect(participants.opened[0]!.url.searchParams.get('read')).toBe(read)
  })

  it('begins at the next participant if the nearest one is gone', async () => {
    const { send, participants } = createHarness({ upgrade })
    participants.on(1, crash).on(2, () => upgraded('second'))
    const response = await send('GET', '/v1/locks/jobs/session', undefined, {
      headers: { upgrade: 'WebSocket' },
    })
    expect(socketOf(response)).toBe('second')
  })

  it('429 with Retry-After if the participant has too many', async () => {
    const { send, participants } = createHarness({ upgrade })
    participants.onAll(() => new Response(null, { status: 429, headers: { 'retry-after': '3' } }))
    const response = await send('GET', '/v1/locks/jobs/session', undefined, {
      headers: { upgrade: 'websocket' },
    })
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '3'])
    expect((await problemOf(response)).code).toBe('too_many')
  })

  it('400 for what is not a WebSocket', async () => {
    const { send, participants } = createHarness({ upgrade })
    const response = await send('GET', '/v1/locks/jobs/session')
    expect(response.status).toBe(400)
    expect((await problemOf(response)).errors).toMatchObject([{ in: 'header', path: 'upgrade' }])
    expect(participants.opened).toEqual([])
  })
})
