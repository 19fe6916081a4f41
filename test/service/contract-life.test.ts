/** A lock's life on the real runtime: names, and looking at a lock that nobody has used. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { rowsOfCopy } from '../sqlite.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus, TestLock } from './lock.ts'

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

itKeepsEveryPromise(service)
