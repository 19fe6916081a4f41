/**
 * `eject` with the fence of the holder that is meant: repeated, or from anywhere, it never forces out another
 * one.
 */
import { describe, expect, it } from 'vitest'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus } from './lock.ts'

const service = useService()
const ttlMs = 600_000

describe('eject with a fence', () => {
  it.each([1, 2, 3])('forces out the holder at participant %i that has it', async at => {
    const lock = service.lock()
    const grant = await lock.granted({ at, ttlMs })
    expectStatus(await lock.eject({ fence: grant.fence }), 200)
    expect((await lock.ops(grant, [{ increment: 'n' }])).body).toMatchObject({
      code: 'ejected',
      outcome: 'not-applied',
    })
    // If it is repeated while nobody has come since, everything is already as it should be.
    expectStatus(await lock.eject({ fence: grant.fence }), 200)
  })

  it.each([1, 2, 3])('409 conflict if the holder at participant %i has another one: it stays', async at => {
    const lock = service.lock()
    const earlier = await lock.granted({ at: 1, ttlMs })
    expectStatus(await lock.eject({ fence: earlier.fence }), 200)
    const holder = await lock.granted({ at, ttlMs })
    for (const fence of [0, earlier.fence, holder.fence - 1, holder.fence + 1, Number.MAX_SAFE_INTEGER]) {
      const { status, body } = await lock.eject({ fence })
      expect([status, body.code, fence]).toEqual([409, 'conflict', fence])
    }
    expect((await lock.applied(holder, [{ increment: 'n' }])).applied).toBe(true)
    expectStatus(await lock.eject(), 200)
    expect((await lock.ops(holder, [{ increment: 'n' }])).body.code).toBe('ejected')
  })

  it('409 conflict for a lock that nobody ever held', async () => {
    const lock = await service.lock().created()
    expect((await lock.eject({ fence: 5 })).body.code).toBe('conflict')
  })

  it.each([-1, 1.5, 'x', null])('400 for the fence %j', async fence => {
    const answer = await service.lock().send('POST', '/eject', { body: { fence } })
    expect(answer.body.code).toBe('bad_request')
  })

  it('repeated while the lock goes from hand to hand: only those that were meant are out', async () => {
    const lock = service.lock()
    const doomed = new Set<number>()
    for (let round = 0; round < 12; round++) {
      const grant = await lock.granted({ at: (round % 3) + 1, ttlMs, waitMs: 25_000 })
      const isDoomed = round % 2 === 1
      if (isDoomed) doomed.add(grant.fence)
      // Those of the rounds before are repeated, too late.
      const ejects = [...doomed].flatMap(fence => [lock.eject({ fence }), lock.eject({ fence })])
      const statuses = (await Promise.all(ejects)).map(({ status }) => status)
      expect(statuses.slice(0, isDoomed ? -2 : undefined).every(status => status === 409)).toBe(true)
      if (isDoomed) expect(statuses.slice(-2)).toEqual([200, 200])
      const { status, body } = await lock.ops(grant, [{ increment: 'n' }])
      expect([status, body.code]).toEqual(isDoomed ? [410, 'ejected'] : [200, undefined])
      if (!isDoomed) await lock.released(grant)
    }
    await eventually(async () => expect(await lock.value('n')).toBe(6))
  })
})

itKeepsEveryPromise(service)
