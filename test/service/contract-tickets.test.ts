/**
 * Tickets: a place in the queue that outlives the request. `acquire` with `ticket: true`, then `GET` and
 * `DELETE`.
 */
import { describe, expect, it } from 'vitest'
import { formatTicketId, TICKET_ID_PATTERN } from '../../shared/api/ids.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus, granted } from './lock.ts'

const service = useService()
const STRANGER = 'abcdefghijklmnopqrstuv'

describe('ticket: true', () => {
  it('200 and no ticket if the lock is free', async () => {
    const lock = service.lock()
    const { status, body } = await lock.acquire({ ticket: true })
    expect(status).toBe(200)
    await lock.released(body.grant)
  })

  it.each([0, 200])('202 with the place in the queue after waitMs %i', async waitMs => {
    const lock = service.lock()
    const holder = await lock.granted()
    for (const position of [1, 2, 3]) {
      const { status, body } = await lock.acquire({ waitMs, ticket: true })
      expect([status, body.ticket.position]).toEqual([202, position])
      expect(body.ticket.id).toMatch(TICKET_ID_PATTERN)
      expect(Date.parse(body.ticket.expiresAt)).toBeGreaterThan(Date.now())
      if (position === 3) expectStatus(await lock.withdraw(body.ticket.id), 204)
    }
    expect(await lock.queue()).toBe(2)
    await lock.released(holder)
    await lock.untilQueueIs(1)
  })

  it('grants in time what comes free in time', async () => {
    const lock = service.lock()
    const holder = await lock.granted()
    const waiting = lock.acquire({ waitMs: 25_000, ticket: true })
    await lock.untilQueueIs(1)
    await lock.released(holder)
    await lock.released(granted(await waiting))
  })
})

describe('GET of a ticket', () => {
  it('202 while it waits, with a position that falls', async () => {
    const lock = service.lock()
    const holder = await lock.granted()
    const first = await lock.queued()
    const second = await lock.queued()
    const ask = async (id: string) => expectStatus(await lock.ticket(id), 202).body.ticket
    expect((await ask(first.id)).position).toBe(1)
    expect(await ask(second.id)).toMatchObject({ id: second.id, position: 2 })
    expectStatus(await lock.withdraw(first.id), 204)
    expect((await ask(second.id)).position).toBe(1)
    expectStatus(await lock.withdraw(second.id), 204)
    await lock.released(holder)
  })

  it('202 with a later expiry each time: who asks has not gone away', async () => {
    const lock = service.lock()
    const holder = await lock.granted()
    const { id, expiresAt } = await lock.queued()
    const asked = expectStatus(await lock.ticket(id, 50), 202).body.ticket
    expect(Date.parse(asked.expiresAt)).toBeGreaterThan(Date.parse(expiresAt))
    expectStatus(await lock.withdraw(id), 204)
    await lock.released(holder)
  })

  it.each([1, 2])(
    '200 with the grant once it is granted, and the same each time (participant %i)',
    async at => {
      const lock = service.lock()
      const holder = await lock.granted({ at: 1 })
      const { id } = await lock.queued({ at, ttlMs: 60_000 })
      const waiting = lock.ticket(id, 25_000)
      await lock.released(holder)
      const grant = granted(await waiting)
      expect(grant.fence).toBeGreaterThan(holder.fence)
      expect(grant.participant).toBe(at)
      expect(granted(await lock.ticket(id))).toEqual(grant)
      expect(Date.parse(grant.expiresAt) - Date.now()).toBeGreaterThan(30_000)
      await lock.applied(grant, [{ put: 'a', value: 1 }])
      await lock.released(grant)
    },
  )

  it('waits no longer than it is told', async () => {
    const lock = service.lock()
    const holder = await lock.granted()
    const { id } = await lock.queued()
    expectStatus(await lock.ticket(id, 100), 202)
    expectStatus(await lock.withdraw(id), 204)
    await lock.released(holder)
  })

  it('410 released once the grant that it became is over', async () => {
    const lock = service.lock()
    const holder = await lock.granted()
    const { id } = await lock.queued()
    await lock.released(holder)
    await lock.released(granted(await lock.ticket(id, 25_000)))
    const { status, body } = await lock.ticket(id)
    expect([status, body.code]).toEqual([410, 'released'])
  })

  it('410 expired if nobody fetched the grant while it lasted', async () => {
    const lock = service.lock()
    const holder = await lock.granted()
    const { id } = await lock.queued({ ttlMs: 1_000 })
    await lock.released(holder)
    await lock.untilQueueIs(0)
    await lock.untilFree()
    const { status, body } = await lock.ticket(id)
    expect([status, body.code]).toEqual([410, 'expired'])
  })

  it('400 for a time to wait outside of its limits', async () => {
    const lock = service.lock()
    for (const waitMs of ['-1', '25001', 'soon', '1.5']) {
      const answer = await lock.send('GET', `/tickets/1-${STRANGER}?waitMs=${waitMs}`)
      expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
      expect(answer.body.errors).toMatchObject([{ in: 'query', path: 'waitMs' }])
    }
  })
})

describe('DELETE of a ticket', () => {
  it('204, and those behind it move up', async () => {
    const lock = service.lock()
    const holder = await lock.granted()
    const first = await lock.queued()
    const second = await lock.queued()
    expectStatus(await lock.withdraw(first.id), 204)
    expect((await lock.ticket(second.id)).body.ticket.position).toBe(1)
    expectStatus(await lock.withdraw(second.id), 204)
    expect(await lock.queue()).toBe(0)
    await lock.released(holder)
  })

  it('204 also if it was granted meanwhile, and the lock is free again', async () => {
    const lock = service.lock()
    const holder = await lock.granted()
    const { id } = await lock.queued()
    await lock.released(holder)
    await lock.untilQueueIs(0)
    expectStatus(await lock.withdraw(id), 204)
    await lock.released(await lock.granted({ waitMs: 5_000 }))
  })

  it('404 no_such_ticket afterwards, for GET and DELETE', async () => {
    const lock = service.lock()
    const holder = await lock.granted()
    const { id } = await lock.queued()
    expectStatus(await lock.withdraw(id), 204)
    for (const answer of [await lock.ticket(id), await lock.withdraw(id)]) {
      expect([answer.status, answer.body.code]).toEqual([404, 'no_such_ticket'])
    }
    await lock.released(holder)
  })
})

describe('404 no_such_ticket', () => {
  it.each([
    ['nobody has', formatTicketId(1, STRANGER)],
    ['names a participant that is not there', formatTicketId(9, STRANGER)],
    ['is not the id of a ticket', 'nonsense'],
    ['is the id of a grant', `1-1-${STRANGER}`],
  ])('for an id that %s', async (_, id) => {
    const lock = service.lock()
    for (const answer of [await lock.ticket(id), await lock.withdraw(id)]) {
      expect([answer.status, answer.body.code]).toEqual([404, 'no_such_ticket'])
    }
  })

  it('for the ticket of another lock', async () => {
    const lock = service.lock()
    const holder = await lock.granted()
    const { id } = await lock.queued()
    expect((await service.lock().ticket(id)).body.code).toBe('no_such_ticket')
    expectStatus(await lock.ticket(id), 202)
    expectStatus(await lock.withdraw(id), 204)
    await lock.released(holder)
  })
})

itKeepsEveryPromise(service)
