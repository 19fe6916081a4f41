/**
 * The life of a grant: `keepalive`, release, expiry and ejection, and `410` for whatever is said after its
 * end.
 */
import { describe, expect, it } from 'vitest'
import { formatGrantId } from '../../shared/api/ids.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import type { Answer } from './http.ts'
import { expectStatus, granted, type TestLock } from './lock.ts'

const service = useService()
const STRANGER = 'abcdefghijklmnopqrstuv'

/**
 * Everything that can be said to a grant, each refused with the code; the operation with what became of it.
 */
async function expectOver(
  lock: TestLock,
  grant: { id: string },
  code: Answer['body']['code'],
): Promise<void> {
  const kept = await lock.keepAlive(grant)
  expect([kept.status, kept.body.code]).toEqual([410, code])
  const issued = await lock.ops(grant, [{ increment: 'late' }])
  expect([issued.status, issued.body.code, issued.body.outcome]).toEqual([410, code, 'not-applied'])
  expect(issued.body.retryable).toBe(false)
  if (code === 'released') return
  const released = await lock.release(grant)
  expect([released.status, released.body.code]).toEqual([410, code])
}

describe('keepalive', () => {
  it('200 with a later expiry', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ ttlMs: 10_000 })
    const kept = expectStatus(await lock.keepAlive(grant), 200).body
    expect(Date.parse(kept.expiresAt)).toBeGreaterThanOrEqual(Date.parse(grant.expiresAt))
    const longer = expectStatus(await lock.keepAlive(grant, { ttlMs: 600_000 }), 200).body
    expect(Date.parse(longer.expiresAt) - Date.now()).toBeGreaterThan(500_000)
    const { holder } = (await lock.status()).body
    const since = expect.any(String)
    const { participant, fence } = grant
    expect(holder).toEqual({ participant, fence, expiresAt: longer.expiresAt, since })
    await lock.released(grant)
  })

  it('keeps a grant beyond its first time to live', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ ttlMs: 1_500 })
    while (Date.now() < Date.parse(grant.expiresAt) + 500) {
      expectStatus(await lock.keepAlive(grant, { ttlMs: 10_000 }), 200)
    }
    await lock.applied(grant, [{ increment: 'n' }])
    await lock.released(grant)
  })

  it('400 for a time to live outside of its limits', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    for (const ttlMs of [0, 999, 600_001]) {
      expect((await lock.keepAlive(grant, { ttlMs })).body).toMatchObject({
        code: 'bad_request',
        status: 400,
      })
    }
    await lock.released(grant)
  })
})

describe('release', () => {
  it('204, and 204 again: a release said twice is a release', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    await lock.released(grant)
    await lock.released(grant)
    expect((await lock.status()).body.holder).toBeNull()
  })

  it('204 again does nothing to the next holder', async () => {
    const lock = service.lock()
    const first = await lock.granted()
    await lock.released(first)
    const second = await lock.granted()
    await lock.released(first)
    await lock.applied(second, [{ increment: 'n' }])
    await lock.released(second)
  })

  it('waits for the operation that is under way', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    const [applied] = await Promise.all([
      lock.ops(grant, [{ increment: 'n' }]),
      // Either may be first. An operation that comes after the end was not applied.
      lock.released(grant),
    ])
    expect([200, 410]).toContain(applied.status)
    const answer = await lock.get('n')
    expect(answer.status).toBe(applied.status === 200 ? 200 : 404)
  })

  it('410 released for what comes after', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    await lock.released(grant)
    await expectOver(lock, grant, 'released')
    expect((await lock.get('late')).body.code).toBe('no_such_key')
  })
})

describe('the time to live', () => {
  it('410 expired when it is over, and the lock goes to the next', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ ttlMs: 1_000 })
    const next = granted(await lock.acquire({ waitMs: 25_000 }))
    expect(next.fence).toBeGreaterThan(grant.fence)
    await expectOver(lock, grant, 'expired')
    await lock.released(next)
    expect((await lock.get('late')).body.code).toBe('no_such_key')
  })

  it('frees the lock also if nobody waits, and for another participant', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ ttlMs: 1_000, at: 2 })
    await lock.untilFree()
    await expectOver(lock, grant, 'expired')
    await lock.released(await lock.granted({ at: 3 }))
  })

  it('is by default what the lock was configured with', async () => {
    const lock = service.lock()
    expectStatus(await lock.configure({ ttlMs: 2_000 }), 201)
    const grant = await lock.granted()
    expect(Date.parse(grant.expiresAt) - Date.now()).toBeLessThanOrEqual(2_000)
    await lock.untilFree()
    await expectOver(lock, grant, 'expired')
  })
})

describe('eject', () => {
  it.each([1, 2])('200, and 410 ejected for the holder at participant %i', async at => {
    const lock = service.lock()
    const grant = await lock.granted({ at })
    const { status, body } = await lock.eject()
    expect(status).toBe(200)
    expect(Number.isSafeInteger(body.epoch)).toBe(true)
    expect((await lock.status()).body.holder).toBeNull()
    await expectOver(lock, grant, 'ejected')
    await lock.released(await lock.granted({ at: 3 }))
    expect((await lock.get('late')).body.code).toBe('no_such_key')
  })

  it('lets the next one in', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    const waiting = lock.acquire({ waitMs: 25_000 })
    const remote = lock.acquire({ waitMs: 25_000, at: 2 })
    await lock.untilQueueIs(2)
    expectStatus(await lock.eject(), 200)
    await expectOver(lock, grant, 'ejected')
    for (const answer of [waiting, remote]) await lock.released(granted(await answer))
  })

  it('200 also if nobody holds the lock', async () => {
    const lock = await service.lock().created()
    expectStatus(await lock.eject(), 200)
    await lock.released(await lock.granted())
  })

  it('settles the operation under way: it is applied or it is not, and the answer says which', async () => {
    const lock = service.lock()
    for (let round = 0; round < 5; round++) {
      const grant = await lock.granted({ at: (round % 3) + 1 })
      const key = `n${round}`
      const [applied] = await Promise.all([lock.ops(grant, [{ increment: key }]), lock.eject()])
      if (applied.status === 410)
        expect(applied.body).toMatchObject({ code: 'ejected', outcome: 'not-applied' })
      else expect(applied.status).toBe(200)
      expect((await lock.get(key)).status).toBe(applied.status === 200 ? 200 : 404)
      await lock.untilFree()
    }
  })
})

describe('a grant that is not there', () => {
  it('410 for one that nobody was given, or that is long forgotten', async () => {
    const lock = service.lock()
    for (const id of [formatGrantId(1, 1, STRANGER), formatGrantId(9, 1, STRANGER)]) {
      const issued = await lock.ops({ id }, [{ increment: 'n' }])
      expect([issued.status, issued.body.code]).toEqual([410, 'ejected'])
      expect(['not-applied', 'unknown']).toContain(issued.body.outcome)
      expect((await lock.keepAlive({ id })).status).toBe(410)
      expect((await lock.release({ id })).status).toBe(410)
    }
  })

  it('400 for what is not the id of a grant', async () => {
    const lock = service.lock()
    for (const id of ['nonsense', '1', `0-1-${STRANGER}`, `1-${STRANGER}`, '%00']) {
      const answer = await lock.ops({ id }, [{ get: 'a' }])
      expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
      expect(answer.body.errors).toMatchObject([{ in: 'path', path: 'id' }])
    }
  })

  it('does nothing to the grant of another lock', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    const other = service.lock()
    expect((await other.ops(grant, [{ increment: 'n' }])).status).toBe(410)
    expect((await other.release(grant)).status).toBe(410)
    await eventually(() => lock.applied(grant, [{ increment: 'n' }]))
    await lock.released(grant)
  })
})

itKeepsEveryPromise(service)
