/** Memory is only a cache of storage: objects that crash, objects that are evicted, clients that go away. */
import { describe, expect, it } from 'vitest'
import type { HistoryEvent } from '../../shared/history/events.ts'
import { eventually, sleep } from './eventually.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { byTransact, Load } from './load.ts'
import { expectStatus, granted, type TestLock } from './lock.ts'
import { resettingFetch } from './resetting-fetch.ts'
import { openSession } from './session-socket.ts'
import { signedRequest } from './signing.ts'

const SECRET = 'the secret of the peers'
/** What callers call the process: its address is not known before it runs. */
const PROCESS = 'http://participants'
const service = useService({ BATON_PEER_SECRET: SECRET, BATON_URL: PROCESS }, './test-worker.ts')

async function crash(lock: TestLock, participant: number): Promise<void> {
  const { status } = await fetch(`${service.url}/crash/${lock.name}/${participant}`, { method: 'POST' })
  expect(status).toBe(204)
}

/** Requests to other participants that this one has made since it was loaded: 0 again after an eviction. */
async function peerRequests(lock: TestLock, participant: number): Promise<number> {
  const { path, init } = signedRequest({
    path: '/call',
    lock: lock.name,
    participant,
    body: JSON.stringify({ call: { type: 'status' } }),
    secret: SECRET,
    to: PROCESS,
  })
  const response = await fetch(`${service.url}${path}`, init)
  return ((await response.json()) as { body: { peerRequests: number } }).body.peerRequests
}

describe('an object that crashes', () => {
  it.each([1, 2, 3])('keeps the grant of participant %i, and its place in the queue', async participant => {
    const lock = service.lock()
    const grant = await lock.granted({ ttlMs: 600_000, at: participant })
    await lock.applied(grant, [{ increment: 'n' }])
    const { id } = await lock.queued({ at: participant })
    await crash(lock, participant)
    expect((await lock.applied(grant, [{ increment: 'n' }])).results[0]).toMatchObject({ value: 2 })
    expectStatus(await lock.ticket(id), 202)
    await lock.released(grant)
    await lock.released(granted(await lock.ticket(id, 25_000)))
  })

  it('again and again, under load, loses nothing and applies nothing twice', async () => {
    const lock = service.lock()
    const load = new Load(lock, 8, byTransact(3))
    for (let round = 0; round < 12; round++) {
      await load.untilAcknowledged(8 * round)
      await crash(lock, (round % 3) + 1)
    }
    await load.untilAcknowledged(110)
    await load.finish()
    await load.expectEachOnce()
  })

  it('all of them at once', async () => {
    const lock = service.lock()
    const { sequence } = await lock.transacted([{ put: 'a', value: 1 }])
    await Promise.all([1, 2, 3].map(participant => crash(lock, participant)))
    expect((await lock.get('a')).body).toMatchObject({ value: 1, revision: sequence })
  })

  it('while it is being born', async () => {
    const lock = service.lock()
    const using = [1, 2, 3].map(at => lock.transact([{ increment: 'n' }], { at, opId: `at ${at}` }))
    for (const participant of [1, 2, 3, 1]) await crash(lock, participant)
    await Promise.all(using.map(answer => answer.catch(() => {})))
    for (const at of [1, 2, 3]) {
      await eventually(() => lock.transacted([{ increment: 'n' }], { at, opId: `at ${at}` }))
    }
    expect(await lock.value('n')).toBe(3)
  })
})

describe('an object that is evicted', () => {
  it('changes nothing: grant, ticket and session go on with a new instance', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ ttlMs: 600_000, at: 1 })
    await lock.applied(grant, [{ increment: 'n' }])
    const other = service.lock()
    const session = await openSession(`${other.url}/session?at=1`)
    session.send({ type: 'try', ttlMs: 600_000 })
    await session.nextOf('crit')
    session.send({ type: 'issue', opId: 'first', ops: [{ increment: 'n' }] })
    await session.nextOf('outcome')
    expect(await peerRequests(lock, 1)).toBeGreaterThan(0)
    expect(await peerRequests(other, 1)).toBeGreaterThan(0)
    // The runtime evicts an object some ten seconds after its last event, including the time limit of its
    // last call to a peer (4 s); asking it is an event, too.
    await eventually(async () => {
      await sleep(18_000)
      expect([await peerRequests(lock, 1), await peerRequests(other, 1)]).toEqual([0, 0])
    })
    session.send({ type: 'issue', opId: 'second', ops: [{ increment: 'n' }] })
    expect((await session.nextOf('outcome')).results[0]).toMatchObject({ value: 2 })
    session.send({ type: 'exit' })
    await session.nextOf('rem')
    session.close()
    expect((await lock.applied(grant, [{ increment: 'n' }])).results[0]).toMatchObject({ value: 2 })
    await lock.released(grant)
  })
})

describe('a client that goes away while it waits', () => {
  async function leave(lock: TestLock, path: string, body: object): Promise<void> {
    const { status } = await fetch(`${service.url}/leave/${lock.name}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    expect(status).toBe(204)
  }

  /** How long the last user that gave up has waited, by the participant's own record. */
  async function waitedMs(lock: TestLock): Promise<number> {
    const { participants } = (await lock.send('GET', '/history')).body
    const events = participants.flatMap(({ events }) => events) as unknown as HistoryEvent[]
    const withdrawn = events.findLast(event => event.type === 'withdrawn')!
    return withdrawn.at - events.find(event => event.type === 'try' && event.user === withdrawn.user)!.at
  }

  const waitMs = 25_000

  it.each([1, 2])('in acquire at participant %i is withdrawn before its time to wait is over', async at => {
    const lock = service.lock()
    const holder = await lock.granted({ ttlMs: 600_000 })
    await leave(lock, '/acquire', { waitMs, ttlMs: 600_000, at })
    await lock.untilQueueIs(0)
    expect(await waitedMs(lock)).toBeLessThan(waitMs)
    await lock.released(holder)
    await lock.released(await lock.granted({ at: 3 }))
  })

  it('in transact is withdrawn, and its operation is not applied', async () => {
    const lock = service.lock()
    const holder = await lock.granted({ ttlMs: 600_000 })
    await leave(lock, '/transact', { waitMs, opId: 'abandoned', ops: [{ increment: 'n' }] })
    await lock.untilQueueIs(0)
    expect(await waitedMs(lock)).toBeLessThan(waitMs)
    await lock.released(holder)
    expect((await lock.get('n')).body.code).toBe('no_such_key')
  })

  it.each(['/acquire', '/transact'])('in %s over the network, by a connection that is reset', async path => {
    const lock = service.lock()
    const holder = await lock.granted({ ttlMs: 600_000 })
    const client = new AbortController()
    const operation =
      path === '/transact' ? { opId: 'abandoned', ops: [{ increment: 'n' }] } : { ttlMs: 600_000 }
    const waiting = resettingFetch(
      new Request(`${lock.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ waitMs, ...operation }),
        signal: client.signal,
      }),
    ).catch(() => 'gone')
    await lock.untilQueueIs(1)
    client.abort()
    expect(await waiting).toBe('gone')
    await lock.untilQueueIs(0)
    expect(await waitedMs(lock)).toBeLessThan(waitMs)
    await lock.released(holder)
    await lock.released(await lock.granted({ at: 3 }))
    expect((await lock.get('n')).body.code).toBe('no_such_key')
  })

  it('for a ticket keeps its place: the ticket needs no connection', async () => {
    const lock = service.lock()
    const holder = await lock.granted({ ttlMs: 600_000 })
    const { id } = await lock.queued()
    const client = new AbortController()
    const options = { signal: client.signal }
    const waiting = lock.send('GET', `/tickets/${id}?waitMs=${waitMs}`, options).catch(() => 'gone')
    await sleep(200)
    client.abort()
    expect(await waiting).toBe('gone')
    expectStatus(await lock.ticket(id), 202)
    await lock.released(holder)
    await lock.released(granted(await lock.ticket(id, waitMs)))
  })
})

itKeepsEveryPromise(service)
