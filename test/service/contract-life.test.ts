/** A lock's life on the real runtime: names, and looking at a lock that nobody has used. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { HistoryEvent } from '../../shared/history/events.ts'
import { rowsOfCopy } from '../sqlite.ts'
import { openWatch } from './event-stream.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus, TestLock } from './lock.ts'
import { openSession } from './session-socket.ts'

const service = useService()
const GRANT = '1-7-abcdefghijklmnopqrstu-'
const TICKET = '2-abcdefghijklmnopqrstu-'
const OPERATION = { opId: 'one', ops: [{ increment: 'n' }] }

/** The tables of all objects of the service: the runtime's own do not count, and an empty one has none. */
function tables(): string[] {
  const folder = join(service.storage, readdirSync(service.storage)[0] ?? '')
  const objects = readdirSync(folder).filter(name => name.endsWith('.sqlite') && !name.startsWith('metadata'))
  const query =
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'"
  return objects.flatMap(name => rowsOfCopy(join(folder, name), query).map(row => `${name}: ${row.name}`))
}

describe('a lock that nobody has used or configured', () => {
  it.each<[string, string, unknown, number, string]>([
    ['GET', '', undefined, 404, 'no_such_lock'],
    ['GET', '/state', undefined, 404, 'no_such_lock'],
    ['GET', '/state/key', undefined, 404, 'no_such_lock'],
    ['GET', '/state/key?consistency=local&at=3', undefined, 404, 'no_such_lock'],
    ['GET', '/history', undefined, 404, 'no_such_lock'],
    ['GET', '/watch', undefined, 404, 'no_such_lock'],
    ['POST', '/eject', {}, 404, 'no_such_lock'],
    ['GET', `/tickets/${TICKET}`, undefined, 404, 'no_such_ticket'],
    ['DELETE', `/tickets/${TICKET}`, undefined, 404, 'no_such_ticket'],
    ['POST', `/grants/${GRANT}/ops`, OPERATION, 410, 'ejected'],
    ['POST', `/grants/${GRANT}/keepalive`, {}, 410, 'ejected'],
    ['DELETE', `/grants/${GRANT}`, undefined, 410, 'ejected'],
  ])('%s %s: %j is answered %i %s, and nothing is stored', async (method, path, body, status, code) => {
    const before = tables()
    const answer = await service.lock().send(method, path, body === undefined ? {} : { body })
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(tables()).toEqual(before)
  })

  it('GET /metrics?lock=: 404, and nothing is stored', async () => {
    const before = tables()
    const answer = await service.send('GET', `/metrics?lock=${service.lock().name}`)
    expect([answer.status, answer.body.code]).toEqual([404, 'no_such_lock'])
    expect(tables()).toEqual(before)
  })

  it('exists once it was configured', async () => {
    const lock = service.lock()
    expectStatus(await lock.status(), 404)
    expectStatus(await lock.configure(), 201)
    expectStatus(await lock.status(), 200)
    expectStatus(await lock.list(), 200)
  })

  it('exists once it was used, whichever participant is asked', async () => {
    const lock = service.lock()
    expectStatus(await lock.get('n'), 404)
    await lock.transacted([{ increment: 'n' }])
    for (const at of [1, 2, 3]) {
      expect(await lock.value('n', `?at=${at}`)).toBe(1)
      expect((await lock.get('other', `?at=${at}`)).body.code).toBe('no_such_key')
    }
    expect(tables().length).toBeGreaterThan(0)
  })
})

describe('a name with a colon', () => {
  it('is a lock of its own', async () => {
    const one = new TestLock('orders:1', () => service.url)
    const other = new TestLock('orders%3A1', () => service.url)
    await one.transacted([{ increment: 'n' }])
    await other.transacted([{ increment: 'n' }])
    expect(await one.value('n')).toBe(2)
    const another = new TestLock('orders:11', () => service.url)
    expectStatus(await another.status(), 404)
    expect(expectStatus(await one.status(), 200).body.lock).toBe('orders:1')
  })
})

describe('who holds a lock', () => {
  const near = { since: expect.any(String), expiresAt: expect.any(String) }

  it('is told by its status and by a refusal, whichever participant is asked', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ at: 2, owner: 'checkout-7', ttlMs: 60_000 })
    const holder = { participant: 2, fence: grant.fence, owner: 'checkout-7', ...near }
    const { body } = expectStatus(await lock.status(), 200)
    expect(body).toMatchObject({ holder, waiting: { count: 0, since: null } })
    expect(body.explanation).toMatch(/^held by checkout-7 at 2 \(enam\) for \d+ m?s, expires in \d+ s$/)
    for (const at of [1, 2, 3]) {
      const refused = expectStatus(await lock.acquire({ at, waitMs: 0 }), 409).body
      expect(refused).toMatchObject({ code: 'locked', holder, waiting: { count: 0 } })
      expect(refused.detail).toContain('held by checkout-7 at participant 2')
      const transacted = expectStatus(await lock.transact([{ increment: 'n' }], { at, waitMs: 0 }), 409).body
      expect(transacted).toMatchObject({ code: 'locked', holder, outcome: 'not-applied' })
    }
    await lock.released(grant)
    expect((await lock.status()).body).toMatchObject({ holder: null, explanation: 'free' })
  })

  it('keepalives change until when, and not since when', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ owner: 'one' })
    const before = (await lock.status()).body.holder
    expectStatus(await lock.keepAlive(grant, { ttlMs: 120_000 }), 200)
    const after = (await lock.status()).body.holder
    expect(after?.since).toBe(before?.since)
    expect(Date.parse(after!.expiresAt)).toBeGreaterThan(Date.parse(before!.expiresAt))
  })

  it('says how many wait, and since when', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ at: 1, owner: 'first' })
    for (const at of [1, 3]) {
      expectStatus(await lock.acquire({ at, waitMs: 0, ticket: true, owner: `second at ${at}` }), 202)
    }
    const { body } = await lock.status()
    expect(body.waiting).toEqual({ count: 2, since: expect.any(String) })
    expect(Date.parse(body.waiting.since!)).toBeGreaterThanOrEqual(Date.parse(body.holder!.since))
    expect(body.explanation).toMatch(/, 2 wait \(the first for \d+ m?s\)$/)
    await lock.released(grant)
    // Whoever waited is told by the name that it came with.
    const next = await eventually(async () => {
      const { holder } = (await lock.status()).body
      if (holder === null) throw new Error('nobody holds it yet')
      return holder
    })
    expect(next.owner).toMatch(/^second at [13]$/)
  })

  it('is told of a session, a transact and in the history', async () => {
    const lock = service.lock()
    const session = await openSession(`${lock.url}/session?at=2`)
    session.send({ type: 'try', owner: 'a session' })
    const { fence } = await session.nextOf('crit')
    expect((await lock.status()).body.holder).toMatchObject({ participant: 2, fence, owner: 'a session' })
    session.send({ type: 'try', owner: 'x'.repeat(129) })
    expect(await session.nextOf('error')).toMatchObject({
      code: 'bad_request',
      detail: expect.stringContaining('owner'),
    })
    session.send({ type: 'exit' })
    await session.nextOf('rem')
    session.close()
    expectStatus(await lock.send('POST', '/transact', { body: { ...OPERATION, owner: 'a transact' } }), 200)
    const { participants } = (await lock.send('GET', '/history')).body
    const events = participants.flatMap(one => one.events) as unknown as HistoryEvent[]
    const grants = events.filter(event => event.type === 'crit')
    expect(grants.map(({ owner }) => owner)).toEqual(expect.arrayContaining(['a session', 'a transact']))
    for (const { at, expiresAt } of grants) expect(expiresAt).toBeGreaterThan(at)
  })

  it.each([1, 2, 3])('is told to whoever watches at %i', async at => {
    const lock = await service.lock().created()
    const stream = await openWatch(`${lock.url}/watch?at=${at}`)
    const grant = await lock.granted({ at: 2, owner: 'checkout-7', confirm: true })
    await lock.applied(grant, [{ increment: 'n' }])
    let told = await stream.nextOf('holder')
    while (told.data.owner === undefined) told = await stream.nextOf('holder')
    expect(told.data).toMatchObject({ participant: 2, fence: grant.fence, owner: 'checkout-7', ...near })
    await lock.released(grant)
    stream.close()
  })

  it('survives a restart of all participants', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ at: 3, owner: 'survivor', ttlMs: 120_000 })
    const before = (await lock.status()).body.holder
    await service.kill()
    await service.start()
    for (const at of [1, 2]) {
      const { body } = expectStatus(await lock.acquire({ at, waitMs: 0 }), 409)
      expect(body.holder).toEqual(before)
    }
    expect(before).toMatchObject({ participant: 3, fence: grant.fence, owner: 'survivor' })
    await lock.released(grant)
  })
})

itKeepsEveryPromise(service)
