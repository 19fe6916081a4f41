/** What the client says after a request whose answer got lost: call by call, it is true. */
import { describe, expect, it } from 'vitest'
import { ConflictError, createBaton, type Fetch, LockedError } from '../../client/index.ts'
import { PROBLEM_MEDIA_TYPE, type ProblemCode, problem } from '../../shared/api/problems.ts'
import type { Json } from '../../shared/json.ts'
import { createHarness, failure } from './harness.ts'

const ops = [{ increment: 'n' }] as const
const grant = {
  id: '1-1025-abcdefghijklmnopqrstu-',
  fence: 1025,
  participant: 1,
  epoch: 1,
  expiresAt: '2026-11-16T12:00:00.000Z',
}

/**
 * A service that answers each request of this kind with the next of these; `lost` is carried out and not
 * heard of.
 */
function service(kind: RegExp, ...answers: ('lost' | Response)[]): Fetch {
  return request => {
    if (!kind.test(new URL(request.url).pathname)) return Response.json({ grant })
    const next = answers.shift() ?? new Response(null, { status: 204 })
    if (next === 'lost') throw new TypeError('the answer was lost')
    return next
  }
}

function refused(
  code: ProblemCode,
  outcome?: 'not-applied',
  more: { [member: string]: Json } = {},
): Response {
  const body = problem(code, 'Refused by the test.', { outcome, more })
  const headers = { 'content-type': PROBLEM_MEDIA_TYPE }
  return new Response(JSON.stringify(body), { status: body.status, headers })
}

const lockAt = (fetch: Fetch) => createBaton({ fetch, retry: { firstPauseMs: 1 } }).lock('test')

it('a service that fails, and says nothing of the operation, leaves it in doubt', async () => {
  const fetch: Fetch = () => refused('no_quorum')
  const lock = createBaton({ fetch, retry: { totalMs: 0 } }).lock('test')
  expect(await failure(lock.transact(ops, { waitMs: 0 }))).toMatchObject({ outcome: 'unknown' })
})

describe('after a lost answer', () => {
  it('a doubt lasts through all the waits of a transact', async () => {
    const locked = () => refused('locked', 'not-applied')
    const answers = ['lost', locked(), locked(), refused('forbidden')] as const
    const transacted = lockAt(service(/transact$/, ...answers)).transact(ops, { waitMs: 60_000 })
    expect(await failure(transacted)).toMatchObject({ code: 'forbidden', outcome: 'unknown' })
  })

  it.each(['released', 'expired', 'ejected'] as const)(
    '410 %s does not say that an operation was not applied',
    async code => {
      const held = await lockAt(service(/ops$/, 'lost', refused(code, 'not-applied'))).acquire({
        keepAlive: false,
      })
      expect(await failure(held.apply(ops))).toMatchObject({ code, outcome: 'unknown' })
    },
  )

  it.each(['ejected', 'locked', 'conflict', 'forbidden'] as const)(
    '%s does not say that a transact was not applied',
    async code => {
      const lock = lockAt(service(/transact$/, 'lost', refused(code, 'not-applied')))
      expect(await failure(lock.transact(ops, { waitMs: 0 }))).toMatchObject({ code, outcome: 'unknown' })
    },
  )

  it('410 says so if the operation is settled under its grant', async () => {
    const settled = refused('ejected', 'not-applied', { settled: true })
    const held = await lockAt(service(/ops$/, 'lost', settled)).acquire({ keepAlive: false })
    expect(await failure(held.apply(ops))).toMatchObject({ code: 'ejected', outcome: 'not-applied' })
  })

  it('but not of a transact, which has another grant each time', async () => {
    const settled = refused('ejected', 'not-applied', { settled: true })
    expect(await failure(lockAt(service(/transact$/, 'lost', settled)).transact(ops))).toMatchObject({
      outcome: 'unknown',
    })
  })

  it('an eject that is refused then may have been carried out', async () => {
    const { lock, network, inside } = createHarness()
    const held = await lock.acquire({ keepAlive: false })
    const other = lock.acquire({ keepAlive: false, waitMs: 20_000 })
    network.inject('POST eject', 'lose-answer')
    const error = await failure(lock.eject({ fence: held.fence }))
    expect(error).toBeInstanceOf(ConflictError)
    expect(error).toMatchObject({ outcome: 'unknown', detail: expect.stringContaining('may have') })
    expect(inside.holder?.fence).toBe((await other).fence)
  })

  it('a deletion that finds the lock held may still be carried out, and the lock be held by it', async () => {
    const there = Response.json({ generation: 1 })
    const lock = lockAt(service(/locks.test$/, there, 'lost', refused('locked')))
    const error = await failure(lock.delete())
    expect(error).toBeInstanceOf(LockedError)
    expect(error).toMatchObject({ outcome: 'unknown', detail: expect.stringContaining('may still') })
  })

  it('a release that finds the grant over is a release', async () => {
    const { lock, network, inside } = createHarness()
    const held = await lock.acquire({ keepAlive: false })
    network.inject('DELETE grants', 'lose-answer')
    await held.release()
    expect(inside.holder).toBeNull()
  })

  it('a release by id that finds the grant released is a release', async () => {
    const { lock, network, inside } = createHarness()
    const held = await lock.acquire({ keepAlive: false })
    network.inject('DELETE grants', 'lose-answer')
    await lock.grant(held.grant.id).release()
    expect([inside.holder, network.of('DELETE grants').length]).toEqual([null, 2])
  })

  it('a release by id is told whatever else ended the grant', async () => {
    const { lock, network, inside } = createHarness()
    const held = await lock.acquire({ keepAlive: false })
    inside.end('ejected')
    network.inject('DELETE grants', 'lose-request')
    expect(await failure(lock.grant(held.grant.id).release())).toMatchObject({ code: 'ejected' })
  })

  it('a configure finds its own configuration', async () => {
    const { lock, network } = createHarness()
    network.inject('PUT lock', 'lose-answer')
    expect(await lock.configure({ ttlMs: 5_000 })).toMatchObject({ ttlMs: 5_000 })
  })

  it('a ticket gives the same grant again', async () => {
    const { lock, network } = createHarness()
    const first = await lock.acquire({ keepAlive: false, ttlMs: 5_000 })
    network.inject('GET tickets', 'lose-answer')
    const second = await lock.acquire({ keepAlive: false, waitMs: 60_000 })
    expect(second.fence).toBe(first.fence + 1)
  })
})

describe('without a loss', () => {
  it('what the service says is what the client says', async () => {
    const held = await lockAt(service(/ops$/, refused('released', 'not-applied'))).acquire({
      keepAlive: false,
    })
    expect(await failure(held.apply(ops))).toMatchObject({ outcome: 'not-applied' })
    const lock = lockAt(service(/transact$/, refused('conflict', 'not-applied')))
    expect(await failure(lock.transact(ops))).toMatchObject({ outcome: 'not-applied' })
    const eject = await failure(lockAt(service(/eject$/, refused('conflict'))).eject({ fence: 1 }))
    expect(eject.outcome).toBeUndefined()
    const there = Response.json({ generation: 1 })
    const deleted = await failure(lockAt(service(/locks.test$/, there, refused('locked'))).delete())
    expect(deleted.outcome).toBeUndefined()
  })

  it('a grant by its id that others have released cannot be released again', async () => {
    const { lock } = createHarness()
    const held = await lock.acquire({ keepAlive: false })
    await held.release()
    expect(await failure(lock.grant(held.grant.id).release())).toMatchObject({ code: 'released' })
  })
})
