/** `kill -9` of the process that all participants live in, and a new one on the same storage. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../shared/json.ts'
import { Storage } from '../../worker/participant/core/storage.ts'
import { SqlRows } from '../../worker/participant/sql-rows.ts'
import { sqlDatabaseOf } from '../participant/sql-database.ts'
import { Sqlite } from '../sqlite.ts'
import { sleep } from './eventually.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { byGrant, byTransact, Load } from './load.ts'
import { expectStatus, granted } from './lock.ts'
import { openSession } from './session-socket.ts'

const service = useService()

async function crash(downMs = 0): Promise<void> {
  await service.kill()
  await sleep(downMs)
  await service.start()
}

/** Changes records of all participants while nothing runs, as the passing of much time would. */
function editRecords(prefix: string, edit: (value: { [member: string]: Json }) => Json): void {
  const folder = join(service.storage, readdirSync(service.storage)[0]!)
  let edited = 0
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.sqlite') || name.startsWith('metadata')) continue
    const database = new Sqlite(join(folder, name))
    const storage = new Storage(new SqlRows(sqlDatabaseOf(database)), { eventsKept: Number.MAX_SAFE_INTEGER })
    const records = [...storage.protocolRecords()].filter(([key]) => key.startsWith(prefix))
    edited += records.length
    storage.save(records.map(([key, value]) => ({ key, value: edit(value as { [member: string]: Json }) })))
    storage.commit()
    database.close()
  }
  expect(edited).toBeGreaterThan(0)
}

describe('kill -9 with writes under load', () => {
  it.each([
    ['transact at each participant', byTransact(3)],
    ['acquire, ops and release', byGrant],
  ])('loses nothing that was acknowledged and applies nothing twice: %s', async (_, way) => {
    const lock = service.lock()
    const load = new Load(lock, 8, way)
    for (let round = 1; round <= 3; round++) {
      await load.untilAcknowledged(15 * round)
      await crash()
    }
    await load.untilAcknowledged(60)
    await load.finish()
    expect(load.broken).toBeGreaterThan(0)
    await load.expectEachOnce()
  })
})

describe('what survives', () => {
  it('a grant: operations, keepalive and release go on', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ ttlMs: 600_000, at: 2 })
    const before = await lock.applied(grant, [{ increment: 'n' }], 'before')
    await crash()
    expect((await lock.status()).body.holder).toMatchObject({ participant: 2, fence: grant.fence })
    expect(await lock.applied(grant, [{ increment: 'n' }], 'before')).toEqual(before)
    expect((await lock.applied(grant, [{ increment: 'n' }])).results[0]).toMatchObject({ value: 2 })
    expectStatus(await lock.keepAlive(grant), 200)
    await crash()
    await lock.released(grant)
    await crash()
    await lock.released(grant)
    expect((await lock.ops(grant, [{ get: 'n' }])).body.code).toBe('released')
  })

  it('tickets, with their places', async () => {
    const lock = service.lock()
    const holder = await lock.granted({ ttlMs: 600_000 })
    const tickets = [await lock.queued(), await lock.queued(), await lock.queued({ at: 2 })]
    await crash()
    const positions = []
    for (const { id } of tickets)
      positions.push(expectStatus(await lock.ticket(id), 202).body.ticket.position)
    expect(positions).toEqual([1, 2, 1])
    await lock.released(holder)
    await Promise.all(tickets.map(async ({ id }) => lock.released(granted(await lock.ticket(id, 25_000)))))
  })

  it('the order of fences', async () => {
    const lock = service.lock()
    let last = -1
    for (let round = 0; round < 3; round++) {
      const grant = await lock.granted({ at: round + 1 })
      expect(grant.fence).toBeGreaterThan(last)
      last = grant.fence
      await lock.released(grant)
      await crash()
    }
  })

  it('the configuration', async () => {
    const lock = service.lock()
    expectStatus(await lock.configure({ protocol: 'wme-1', participants: [{}, {}, {}, {}, {}] }), 201)
    await crash()
    const { protocol, participants } = (await lock.send('GET', '/history')).body
    expect([protocol, participants.length]).toEqual(['wme-1', 5])
    expect((await lock.configure({ ttlMs: 7_000 })).status).toBe(409)
    expect((await lock.status()).body.participants).toHaveLength(5)
    await lock.transacted([{ increment: 'n' }], { at: 5 })
  })
})

describe('what goes on in time while nobody runs', () => {
  it('a grant runs out', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ ttlMs: 1_000 })
    await crash(1_200)
    await lock.untilFree()
    const late = await lock.ops(grant, [{ increment: 'n' }])
    expect([late.body.code, late.body.outcome]).toEqual(['expired', 'not-applied'])
  })

  it('a ticket that nobody asks for runs out', async () => {
    const lock = service.lock()
    const holder = await lock.granted({ ttlMs: 600_000 })
    const { id } = await lock.queued()
    await service.kill()
    editRecords('waiter/', waiter => ({ ...waiter, waitUntil: Date.now() + 500 }))
    await service.start()
    await lock.untilQueueIs(0)
    expect((await lock.ticket(id)).body.code).toBe('no_such_ticket')
    await lock.released(holder)
  })
})

describe('what ends with its connection', () => {
  const ttlMs = 600_000

  it('the grant of a session', async () => {
    const lock = service.lock()
    const session = await openSession(`${lock.url}/session`)
    session.send({ type: 'try', ttlMs })
    await session.nextOf('crit')
    await crash()
    await lock.released(await lock.granted({ waitMs: 25_000 }))
  })

  it('a session that waits', async () => {
    const lock = service.lock()
    const holder = await lock.granted({ ttlMs })
    const session = await openSession(`${lock.url}/session?at=2`)
    session.send({ type: 'try', ttlMs })
    await lock.untilQueueIs(1)
    await crash()
    await lock.untilQueueIs(0)
    await lock.released(holder)
    await lock.released(await lock.granted({ waitMs: 25_000 }))
  })

  it('a call that waits', async () => {
    const lock = service.lock()
    const holder = await lock.granted({ ttlMs })
    const waiting = lock.acquire({ waitMs: 25_000, ttlMs }).catch(() => 'broken')
    await lock.untilQueueIs(1)
    await crash()
    expect(await waiting).toBe('broken')
    await lock.released(holder)
    await lock.released(await lock.granted({ waitMs: 25_000 }))
  })
})

itKeepsEveryPromise(service)
