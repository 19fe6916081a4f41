/** `POST /v1/locks/{lock}/acquire`, and `DELETE` of the grant that it gives. */
import { describe, expect, it } from 'vitest'
import { GRANT_ID_PATTERN } from '../../shared/api/ids.ts'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { granted } from './lock.ts'

const service = useService()

/** A time in the future by the clock of this machine, and not further away than that. */
function expectExpiry(expiresAt: string, ttlMs: number): void {
  const leftMs = Date.parse(expiresAt) - Date.now()
  expect(leftMs).toBeLessThanOrEqual(ttlMs)
  expect(leftMs).toBeGreaterThan(ttlMs - 60_000)
}

describe('acquire', () => {
  it('grants a lock that nobody configured, with the default time to live', async () => {
    const lock = service.lock()
    const answer = await lock.send('POST', '/acquire')
    const { grant } = answer.body
    expect(answer.status).toBe(200)
    expect(grant.id).toMatch(GRANT_ID_PATTERN)
    expect(grant).toMatchObject({ participant: firstOwnerOf(lock.name, 3), epoch: 0 })
    expect(Number.isSafeInteger(grant.fence)).toBe(true)
    expectExpiry(grant.expiresAt, API_LIMITS.ttlMs.default)
    await lock.released(grant)
  })

  it('gives fences that only ever increase, wherever the lock is acquired', async () => {
    const lock = service.lock()
    const fences: number[] = []
    for (const at of [1, 2, 3, 3, 1, 2, 1]) {
      const grant = await lock.granted({ at })
      expect(grant.participant).toBe(at)
      fences.push(grant.fence)
      await lock.released(grant)
    }
    expect(fences).toEqual([...new Set(fences)].sort((left, right) => left - right))
  })

  it('gives ids that cannot be guessed from one another', async () => {
    const lock = service.lock()
    const first = await lock.granted()
    await lock.released(first)
    const second = await lock.granted()
    await lock.released(second)
    const secretOf = (id: string) => GRANT_ID_PATTERN.exec(id)![3]
    expect(secretOf(second.id)).not.toBe(secretOf(first.id))
    const guess = second.id.replace(secretOf(second.id)!, secretOf(first.id)!)
    expect((await lock.ops({ id: guess }, [{ get: 'a' }])).status).toBe(410)
  })

  it('takes the time to live that it is given', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ ttlMs: 600_000 })
    expectExpiry(grant.expiresAt, 600_000)
    await lock.released(grant)
  })

  it.each([false, true])('grants with confirm: %s', async confirm => {
    const lock = service.lock()
    for (const at of [1, 2, 3]) await lock.released(await lock.granted({ at, confirm }))
  })

  it('409 locked at once for waitMs 0, and says who holds the lock', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    const { status, body } = await lock.acquire({ waitMs: 0 })
    expect([status, body.code, body.retryable]).toEqual([409, 'locked', true])
    const { participant, fence, expiresAt } = grant
    expect(body.holder).toEqual({ participant, fence, expiresAt, since: expect.any(String) })
    expect(await lock.queue()).toBe(0)
    await lock.released(grant)
  })

  it.each([1, 2])('409 locked when the time to wait is over at participant %i', async at => {
    const lock = service.lock()
    const grant = await lock.granted({ at: 1 })
    const { status, body } = await lock.acquire({ waitMs: 300, at })
    expect([status, body.code]).toEqual([409, 'locked'])
    expect(await lock.queue()).toBe(0)
    await lock.released(grant)
  })

  it.each([
    ['the same participant', 1, 1],
    ['another participant', 1, 2],
    ['a third one', 2, 3],
  ])('grants a waiting request at %s when the holder leaves', async (_, first, second) => {
    const lock = service.lock()
    const grant = await lock.granted({ at: first })
    const waiting = lock.acquire({ waitMs: 25_000, at: second })
    await lock.untilQueueIs(1)
    await lock.released(grant)
    const next = granted(await waiting)
    expect(next.fence).toBeGreaterThan(grant.fence)
    expect(next.participant).toBe(second)
    await lock.released(next)
  })

  it('grants a free lock for waitMs 0, wherever its token is', async () => {
    const lock = service.lock()
    for (const at of [1, 2, 3, 1]) await lock.released(await lock.granted({ waitMs: 0, at }))
  })

  it('serves those who wait in their order', async () => {
    const lock = service.lock()
    const holder = await lock.granted()
    const order: number[] = []
    const waiting: Promise<void>[] = []
    for (let place = 1; place <= 5; place++) {
      const enter = async () => {
        const grant = await lock.granted({ waitMs: 25_000, at: 1 })
        order.push(place)
        await lock.released(grant)
      }
      waiting.push(enter())
      await lock.untilQueueIs(place)
    }
    await lock.released(holder)
    await Promise.all(waiting)
    expect(order).toEqual([1, 2, 3, 4, 5])
  })

  it('never has two holders at once, however many want it at whichever participant', async () => {
    const lock = service.lock()
    let inside = 0
    let most = 0
    const user = async (at: number) => {
      for (let round = 0; round < 3; round++) {
        const grant = await lock.granted({ waitMs: 25_000, at })
        most = Math.max(most, ++inside)
        await lock.applied(grant, [{ increment: 'n' }])
        inside--
        await lock.released(grant)
      }
    }
    await Promise.all([1, 2, 3, 1, 2, 3].map(user))
    expect(most).toBe(1)
    expect(await lock.value('n')).toBe(18)
  })

  it('400 for a participant that the lock does not have', async () => {
    const { status, body } = await service.lock().acquire({ at: 9 })
    expect([status, body.code]).toEqual([400, 'bad_request'])
    expect(body.errors).toMatchObject([{ in: 'body', path: 'at' }])
  })

  it('501 not_supported for a shared grant', async () => {
    const { status, body } = await service.lock().acquire({ mode: 'shared' })
    expect([status, body.code, body.retryable]).toEqual([501, 'not_supported', false])
  })

  it('400 for a time to wait or to live outside of its limits', async () => {
    const lock = service.lock()
    const wrong = [{ waitMs: -1 }, { waitMs: 25_001 }, { ttlMs: 999 }, { ttlMs: 600_001 }, { waitMs: 0.5 }]
    for (const body of wrong) {
      const answer = await lock.acquire(body)
      expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
      expect(answer.body.errors).toMatchObject([{ in: 'body', path: Object.keys(body)[0] }])
    }
  })
})

itKeepsEveryPromise(service)
