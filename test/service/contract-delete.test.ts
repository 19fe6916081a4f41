/** `DELETE /v1/locks/{lock}`: the end of a lock, and what comes after it. */
import { describe, expect, it } from 'vitest'
import { NO_SUCH_LOCK } from '../../shared/api/problems.ts'
import { PROTOCOL_NAMES } from '../../shared/protocols/all.ts'
import { openWatch } from './event-stream.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus, type TestLock } from './lock.ts'
import { openSession } from './session-socket.ts'

const service = useService()
const ttlMs = 600_000

const remove = (lock: TestLock, query = '') => lock.send('DELETE', query)
const generationOf = async (lock: TestLock) =>
  (expectStatus(await lock.status(), 200).body as unknown as { readonly generation: number }).generation

describe('a watch that resumes', () => {
  it.each([1, 2, 3])('gets the lock that there is now, if its own was deleted (participant %i)', async at => {
    const lock = service.lock()
    for (let count = 0; count < 6; count++) await lock.transacted([{ put: `old-${count}`, value: count }])
    const { sequence } = await lock.transacted([{ put: 'last', value: 1 }])
    expectStatus(await remove(lock), 204)
    const born = await lock.transacted([{ put: 'new', value: 1 }])
    expect(born.sequence).toBeLessThan(sequence)
    for (const since of [sequence, born.sequence, 2]) {
      const url = `${service.url}/v1/locks/${lock.name}/watch?at=${at}`
      const stream = await openWatch(url, { 'last-event-id': String(since) })
      const { event, data } = await stream.next()
      expect([event, data.anew]).toEqual(['snapshot', true])
      stream.close()
    }
    // Whoever has seen nothing gets everything; and from here on sequences count again.
    const stream = await openWatch(`${service.url}/v1/locks/${lock.name}/watch?at=${at}&since=0`)
    expect((await stream.nextOf('op')).data.changes).toMatchObject([{ key: 'new' }])
    stream.close()
    let later = born.sequence
    for (let count = 0; later <= sequence + 2; count++)
      later = (await lock.transacted([{ put: 'more', value: count }])).sequence
    const resumed = await openWatch(`${service.url}/v1/locks/${lock.name}/watch?since=${later}`)
    const next = await lock.transacted([{ put: 'next', value: 1 }])
    expect(await resumed.nextOf('op')).toMatchObject({ id: next.sequence })
    resumed.close()
  })
})

describe('a lock that nobody holds', () => {
  it.each(PROTOCOL_NAMES)(
    '%s: is deleted, and the next one of its name continues above it',
    async protocol => {
      const lock = service.lock()
      expectStatus(await lock.configure({ protocol }), 201)
      const fences: number[] = []
      for (const at of [2, 1, 3]) {
        const grant = await lock.granted({ at })
        fences.push(grant.fence)
        await lock.released(grant)
        expectStatus(await remove(lock), 204)
      }
      const grant = await lock.granted()
      fences.push(grant.fence)
      expect(fences).toEqual([...fences].sort((left, right) => left - right))
      expect(new Set(fences).size).toBe(fences.length)
      await lock.released(grant)
      expect(await generationOf(lock)).toBe(4)
    },
  )

  it.each(PROTOCOL_NAMES)(
    '%s: is gone for everybody who looks, and 404 to delete once more',
    async protocol => {
      const lock = service.lock()
      expectStatus(await lock.configure({ protocol }), 201)
      expectStatus(await remove(lock), 204)
      const answers = await Promise.all([
        remove(lock),
        remove(lock, '?force=true'),
        lock.status(),
        lock.get('a', '?consistency=local'),
        lock.get('a'),
        lock.list(),
        lock.eject(),
        lock.send('GET', '/history'),
        lock.send('GET', '/watch'),
      ])
      expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
        answers.map(() => [404, 'no_such_lock']),
      )
    },
  )

  it('404 if nobody has ever used it', async () => {
    expect((await remove(service.lock())).body.code).toBe('no_such_lock')
  })

  it('takes its state and its configuration with it', async () => {
    const lock = service.lock()
    expectStatus(await lock.configure({ protocol: 'wme-1', localHandoffs: 7 }), 201)
    await lock.transacted([{ put: 'a', value: 1 }], { opId: 'once' })
    expectStatus(await remove(lock), 204)
    expectStatus(await lock.configure({ protocol: 'wme-2', localHandoffs: 8 }), 201)
    const { results } = await lock.transacted([{ get: 'a' }], { opId: 'once' })
    expect(results).toEqual([{ value: null, revision: 0 }])
    expect((await lock.status()).body.protocol).toBe('wme-2')
  })

  it('can be used at every participant as soon as it is deleted', async () => {
    for (const at of [1, 2, 3]) {
      const lock = service.lock()
      await lock.transacted([{ increment: 'n' }], { at: (at % 3) + 1 })
      expectStatus(await remove(lock), 204)
      const { results } = await lock.transacted([{ increment: 'n' }], { at })
      expect(results[0]).toMatchObject({ value: 1 })
    }
  })
})

describe('a lock that is held', () => {
  it.each([1, 2, 3])('409 locked with the holder at participant %i, which stays', async at => {
    const lock = service.lock()
    const grant = await lock.granted({ at, ttlMs })
    const { status, body } = await remove(lock)
    expect([status, body.code]).toEqual([409, 'locked'])
    expect(body.detail).toMatch(/^The lock was not deleted: it is held(, or asked for,)? at/)
    expect(body.detail).toContain('`?force=true`')
    expect((await lock.applied(grant, [{ increment: 'n' }])).applied).toBe(true)
    await lock.released(grant)
  })

  it.each(PROTOCOL_NAMES)('%s: is deleted if that is forced, and its holder is out', async protocol => {
    const lock = service.lock()
    expectStatus(await lock.configure({ protocol }), 201)
    const grant = await lock.granted({ at: 2, ttlMs })
    expectStatus(await remove(lock, '?force=true'), 204)
    expect((await lock.keepAlive(grant)).body.code).toBe('ejected')
    expect((await lock.release(grant)).body.code).toBe('ejected')
    const gone = await lock.status()
    expect(gone.body).toMatchObject({ code: 'no_such_lock', detail: NO_SUCH_LOCK })
    const next = await lock.granted({ at: 3 })
    expect(next.fence).toBeGreaterThan(grant.fence)
    await lock.released(next)
  })

  it('is deleted by force although others wait, and those are told that it is gone', async () => {
    const lock = service.lock()
    await lock.granted({ at: 1, ttlMs })
    const waiting = [1, 2, 3].map(at => lock.acquire({ at, waitMs: 25_000, ttlMs }))
    await lock.untilQueueIs(3)
    expectStatus(await remove(lock, '?force=true'), 204)
    for (const answer of await Promise.all(waiting)) {
      if (answer.status === 200) expect((await lock.keepAlive(answer.body.grant)).body.code).toBe('ejected')
      else expect([answer.status, answer.body.code]).toEqual([404, 'no_such_lock'])
    }
  })
})

describe('streams', () => {
  it('a session is told, and closed', async () => {
    const lock = service.lock()
    await lock.transacted([{ increment: 'n' }])
    const session = await openSession(`${lock.url}/session`)
    expectStatus(await remove(lock), 204)
    expect(await session.nextOf('error')).toMatchObject({ code: 'no_such_lock' })
    await eventually(async () => expect(session.socket.readyState).not.toBe(session.socket.OPEN))
  })

  it('a session that holds the lock is ejected first', async () => {
    const lock = service.lock()
    const session = await openSession(`${lock.url}/session`)
    session.send({ type: 'try' })
    await session.nextOf('crit')
    expectStatus(await remove(lock, '?force=true'), 204)
    expect(await session.nextOf('ejected')).toMatchObject({ reason: 'operator' })
    expect(await session.nextOf('error')).toMatchObject({ code: 'no_such_lock' })
  })

  it('a watch ends', async () => {
    const lock = service.lock()
    await lock.transacted([{ increment: 'n' }])
    const watch = await openWatch(`${lock.url}/watch`)
    expectStatus(await remove(lock), 204)
    await eventually(async () => expect(watch.isOver).toBe(true))
  })
})

describe('a call that is repeated', () => {
  it('with the generation: has the answer of the first time, and a new lock stays', async () => {
    const lock = service.lock()
    await lock.transacted([{ increment: 'n' }])
    const query = `?generation=${await generationOf(lock)}`
    expectStatus(await remove(lock, query), 204)
    expectStatus(await remove(lock, query), 204)
    await lock.transacted([{ increment: 'n' }])
    expectStatus(await remove(lock, query), 204)
    expect(await lock.value('n')).toBe(1)
  })

  it('two at once: both are told that it is gone, and one lock is deleted', async () => {
    const lock = service.lock()
    await lock.transacted([{ increment: 'n' }])
    const statuses = (await Promise.all([remove(lock), remove(lock)])).map(({ status }) => status)
    expect(statuses.every(status => status === 204 || status === 404)).toBe(true)
    await lock.transacted([{ increment: 'n' }])
    expect(await generationOf(lock)).toBe(2)
  })
})

describe('what cannot be deleted', () => {
  it('501 where silence or death counts as permission', async () => {
    const lock = service.lock()
    const options = { declareDeadAfterMs: 60_000 }
    expectStatus(await lock.configure({ protocol: 'ricart-agrawala', options }), 201)
    const { status, body } = await remove(lock)
    expect([status, body.code]).toEqual([501, 'not_supported'])
    expect(body.detail).toContain('declareDeadAfterMs')
  })

  it('says which generations there are, if the one that is meant is none of them', async () => {
    const lock = service.lock()
    await lock.transacted([{ increment: 'n' }])
    const { body } = expectStatus(await lock.send('DELETE', '?generation=7'), 409)
    expect(body).toMatchObject({ code: 'conflict', retryable: false, generation: 1 })
    expect(body.detail).toContain('has generation 1; there is none with 7 yet')
    expect(await lock.value('n')).toBe(1)
  })

  it.each(['?force=yes', '?generation=0', '?generation=x', '?what=1'])('400 for %s', async query => {
    expect((await remove(service.lock(), query)).body.code).toBe('bad_request')
  })
})

itKeepsEveryPromise(service)
