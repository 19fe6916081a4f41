/** `POST …/transact`: acquire, apply and release in one call. */
import { describe, expect, it } from 'vitest'
import { itKeepsEveryPromise, useService } from './harness.ts'

const service = useService()

describe('transact', () => {
  it('200 with fence, sequence and results, and the lock is free afterwards', async () => {
    const lock = service.lock()
    const { fence, sequence, applied, results } = await lock.transacted([
      { put: 'a', value: 1 },
      { increment: 'n', by: 4 },
    ])
    expect([applied, results]).toEqual([true, [{ revision: sequence }, { value: 4, revision: sequence }]])
    expect(fence).toBeGreaterThan(0)
    expect((await lock.status()).body.holder).toBeNull()
    await lock.released(await lock.granted({ waitMs: 5_000 }))
  })

  it('applies every operation of every client once, at whichever participant', async () => {
    const lock = service.lock()
    const all = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        lock.transacted([{ increment: 'n' }], { at: (index % 3) + 1 }),
      ),
    )
    expect(new Set(all.map(({ fence }) => fence)).size).toBe(30)
    const inOrder = [...all].sort((left, right) => left.fence - right.fence)
    expect(inOrder.map(({ results }) => results[0]!.value)).toEqual(
      Array.from({ length: 30 }, (_, index) => index + 1),
    )
    expect(await lock.value('n')).toBe(30)
  })

  it('is applied once, however often and wherever it is repeated at the same time', async () => {
    const lock = service.lock()
    const all = await Promise.all(
      [1, 2, 3, 1, 2, 3].map(at => lock.transacted([{ increment: 'n' }], { opId: 'once', at })),
    )
    for (const answer of all) expect(answer).toEqual(all[0])
    expect(await lock.value('n')).toBe(1)
  })

  it('under a grant and then by transact: the fence is that of the grant', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ at: 2 })
    const { sequence, results } = await lock.applied(grant, [{ increment: 'n' }], 'once')
    await lock.released(grant)
    const again = await lock.transacted([{ increment: 'n' }], { opId: 'once', at: 3 })
    expect(again).toMatchObject({ fence: grant.fence, sequence, results })
  })

  it('200 with applied: false if a condition fails', async () => {
    const lock = service.lock()
    const { applied, results } = await lock.transacted([{ delete: 'a', ifRevision: 5 }, { increment: 'n' }])
    expect(applied).toBe(false)
    expect(results).toEqual([{ error: 'revision_mismatch', revision: 0 }, { applied: false }])
  })

  it.each([1, 2])(
    '409 locked, not applied, while somebody else holds the lock (participant %i)',
    async at => {
      const lock = service.lock()
      const grant = await lock.granted({ at: 1 })
      const { status, body } = await lock.transact([{ increment: 'n' }], { waitMs: 200, at })
      expect([status, body.code, body.outcome]).toEqual([409, 'locked', 'not-applied'])
      expect(await lock.queue()).toBe(0)
      await lock.released(grant)
      expect((await lock.get('n')).body.code).toBe('no_such_key')
    },
  )

  it('waits for the holder to leave', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    const waiting = lock.transacted([{ increment: 'n' }])
    await lock.untilQueueIs(1)
    await lock.applied(grant, [{ increment: 'n', by: 10 }])
    await lock.released(grant)
    expect((await waiting).results[0]).toMatchObject({ value: 11 })
  })

  it('400 for a participant that the lock does not have', async () => {
    const { status, body } = await service.lock().transact([{ get: 'a' }], { at: 7 })
    expect([status, body.code]).toEqual([400, 'bad_request'])
  })
})

itKeepsEveryPromise(service)
