/** `transact` and `get` over the WebSocket of a session: the same as the calls of these names. */
import { describe, expect, it } from 'vitest'
import { createBaton } from '../../client/index.ts'
import { sessionEvent } from '../../shared/api/events.ts'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import type { TestLock } from './lock.ts'
import { openSession, type TestSession } from './session-socket.ts'

const service = useService()

const sessionOf = (lock: TestLock, query = ''): Promise<TestSession> =>
  openSession(`${lock.url}/session${query}`)

const say = (session: TestSession, message: object): void => session.sendRaw(JSON.stringify(message))

async function ask(session: TestSession, message: object): Promise<object> {
  say(session, message)
  const event = await session.next()
  expect(sessionEvent.safeParse(event).error).toBeUndefined()
  return event
}

const increment = (opId: string) => ({ type: 'transact', opId, ops: [{ increment: 'n' }] })

describe('transact', () => {
  it.each(['', '?at=1', '?at=2', '?at=3'])('is answered like the call (%s)', async query => {
    const lock = service.lock()
    const session = await sessionOf(lock, query)
    const first = await ask(session, increment('one'))
    expect(first).toMatchObject({ type: 'outcome', opId: 'one', applied: true, results: [{ value: 1 }] })
    const { type: _, opId: __, ...answer } = first as { type: string; opId: string; fence: number }
    expect(await lock.transacted([{ increment: 'n' }], { opId: 'one' })).toEqual(answer)
    const second = (await ask(session, increment('two'))) as { fence: number }
    expect(second.fence).toBeGreaterThan(answer.fence)
    session.close()
    expect(await lock.value('n')).toBe(2)
  })

  it('is applied once, also if a call has the same opId', async () => {
    const lock = service.lock()
    const { fence, ...first } = await lock.transacted([{ increment: 'n' }], { opId: 'once' })
    const session = await sessionOf(lock)
    for (let round = 0; round < 2; round++)
      expect(await ask(session, increment('once'))).toEqual({
        type: 'outcome',
        opId: 'once',
        fence,
        ...first,
      })
    const other = { type: 'transact', opId: 'once', ops: [{ increment: 'm' }] }
    expect(await ask(session, other)).toMatchObject({
      type: 'error',
      code: 'conflict',
      opId: 'once',
      outcome: 'not-applied',
      retryable: false,
    })
    session.close()
    expect(await lock.value('n')).toBe(1)
  })

  it('says which condition did not hold', async () => {
    const session = await sessionOf(service.lock())
    const ops = [{ put: 'a', value: 1, ifRevision: 5 }]
    expect(await ask(session, { type: 'transact', opId: 'o', ops })).toMatchObject({
      type: 'outcome',
      applied: false,
      results: [{ error: 'revision_mismatch', revision: 0 }],
    })
    session.close()
  })

  it('waits for the lock, and says who holds it when its time is over', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ at: 1 })
    const session = await sessionOf(lock, '?at=1')
    const refused = await ask(session, { ...increment('late'), waitMs: 50 })
    expect(refused).toMatchObject({
      type: 'error',
      code: 'locked',
      opId: 'late',
      outcome: 'not-applied',
      retryable: true,
      holder: { fence: grant.fence },
    })
    say(session, { ...increment('waits'), waitMs: 25_000 })
    await lock.untilQueueIs(1)
    await lock.released(grant)
    expect(await session.next()).toMatchObject({ type: 'outcome', opId: 'waits', applied: true })
    session.close()
  })

  it('waits for its own session too, and many of them wait for each other', async () => {
    const lock = service.lock()
    const session = await sessionOf(lock)
    session.send({ type: 'try' })
    await session.nextOf('crit')
    expect(await ask(session, { ...increment('own'), waitMs: 0 })).toMatchObject({ code: 'locked' })
    const opIds = Array.from({ length: 20 }, (_, index) => `op-${index}`)
    for (const opId of opIds) say(session, increment(opId))
    session.send({ type: 'exit' })
    const events = []
    for (let count = 0; count <= opIds.length; count++) events.push(await session.next())
    expect(events.filter(({ type }) => type === 'rem')).toHaveLength(1)
    const outcomes = events.flatMap(event => (event.type === 'outcome' ? [event] : []))
    expect(outcomes.map(({ opId }) => opId).sort()).toEqual([...opIds].sort())
    expect(new Set(outcomes.map(({ fence }) => fence)).size).toBe(opIds.length)
    session.close()
    expect(await lock.value('n')).toBe(opIds.length)
  })

  it('leaves with its socket', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    const session = await sessionOf(lock)
    say(session, { ...increment('gone'), waitMs: 25_000 })
    await lock.untilQueueIs(1)
    session.close()
    await lock.untilQueueIs(0)
    await lock.released(grant)
    expect((await lock.get('n')).status).toBe(404)
  })

  it.each([
    [{ ops: [] }, 'bad_request', 'ops'],
    [{ ops: [{ incr: 'n' }] }, 'bad_request', 'incr'],
    [{ ops: [{ increment: 'n' }], waitMs: API_LIMITS.waitMs.most + 1 }, 'bad_request', 'waitMs'],
    [{ ops: [{ increment: 'n' }], at: 1 }, 'bad_request', 'at is not a known field'],
    [{ ops: new Array(API_LIMITS.opsPerBatch + 1).fill({ get: 'n' }) }, 'too_large', 'ops'],
    [{ ops: [{ put: 'k'.repeat(API_LIMITS.keyLength + 1), value: 1 }] }, 'too_large', 'put'],
  ])('is checked like the call: %o', async (fields, code, detail) => {
    const session = await sessionOf(service.lock())
    const refused = await ask(session, { type: 'transact', opId: 'wrong', ...fields })
    expect(refused).toMatchObject({ type: 'error', code, opId: 'wrong' })
    expect((refused as { detail: string }).detail).toContain(detail)
    expect(await ask(session, increment('right'))).toMatchObject({ type: 'outcome', opId: 'right' })
    session.close()
  })

  it('is not supported where nothing is guarded', async () => {
    const lock = service.lock()
    await lock.configure({ protocol: 'maekawa' })
    const session = await sessionOf(lock)
    expect(await ask(session, increment('o'))).toMatchObject({
      code: 'not_supported',
      opId: 'o',
      outcome: 'not-applied',
    })
    expect(await ask(session, { type: 'get', key: 'n' })).toMatchObject({ code: 'not_supported', key: 'n' })
    session.close()
  })
})

describe('get', () => {
  it.each([
    ['linearizable', '?at=1'],
    ['linearizable', '?at=3'],
    ['local', '?at=1'],
  ])('reads a key, %s %s', async (consistency, query) => {
    const lock = service.lock()
    const { sequence } = await lock.transacted([{ put: 'a/b', value: { text: 'é' } }], { at: 1 })
    const session = await sessionOf(lock, query)
    const value = { text: 'é' }
    const expected = { type: 'value', key: 'a/b', consistency, value, revision: sequence }
    expect(await ask(session, { type: 'get', key: 'a/b', consistency })).toMatchObject(expected)
    session.close()
  })

  it('sees what was answered before, whoever was asked', async () => {
    const lock = service.lock()
    const session = await sessionOf(lock, '?at=3')
    for (let count = 1; count <= 5; count++) {
      await lock.transacted([{ increment: 'n' }], { at: 1 })
      expect(await ask(session, { type: 'get', key: 'n' })).toMatchObject({ value: count })
    }
    session.close()
  })

  it('says that there is no such key', async () => {
    const session = await sessionOf(service.lock())
    expect(await ask(session, { type: 'get', key: 'none' })).toMatchObject({
      type: 'error',
      code: 'no_such_key',
      key: 'none',
      consistency: 'linearizable',
    })
    session.close()
  })

  it.each([
    [{ key: '' }, 'bad_request'],
    [{ key: 'a', consistency: 'strong' }, 'bad_request'],
    [{ key: 'k'.repeat(API_LIMITS.keyLength + 1) }, 'too_large'],
  ])('is checked like the call: %o', async (fields, code) => {
    const session = await sessionOf(service.lock())
    expect(await ask(session, { type: 'get', ...fields })).toMatchObject({ code, key: fields.key })
    session.close()
  })
})

it("the client's session transacts and reads, beside a grant of its own", async () => {
  const lock = service.lock()
  await using session = createBaton({ url: service.url }).lock(lock.name).session()
  expect(await session.get('n')).toEqual({ key: 'n', value: null, revision: 0 })
  const answers = await Promise.all([1, 2, 3].map(() => session.transact([{ increment: 'n' }])))
  expect(answers.map(({ results: [result] }) => (result as { value: number }).value).sort()).toEqual([
    1, 2, 3,
  ])
  expect(await session.get('n', { consistency: 'local' })).toMatchObject({ value: 3 })
  const events = session[Symbol.asyncIterator]()
  session.try()
  expect((await events.next()).value).toMatchObject({ type: 'crit' })
  const refused = session.transact([{ increment: 'n' }], { opId: 'late', waitMs: 0 })
  await expect(refused).rejects.toMatchObject({ code: 'locked', opId: 'late', outcome: 'not-applied' })
  session.issue([{ increment: 'n' }])
  expect((await events.next()).value).toMatchObject({ type: 'outcome', results: [{ value: 4 }] })
  session.exit()
  expect((await events.next()).value).toEqual({ type: 'rem' })
  expect(await session.transact([{ get: 'n' }])).toMatchObject({ applied: true, results: [{ value: 4 }] })
})

it('a session whose calls are answered holds nothing and waits for nothing', async () => {
  const lock = service.lock()
  const session = await sessionOf(lock)
  await ask(session, increment('o'))
  await eventually(async () => {
    const { holder, participants } = (await lock.status()).body
    expect([holder, participants.reduce((sum, { queue }) => sum + (queue ?? 0), 0)]).toEqual([null, 0])
  })
  session.close()
})

itKeepsEveryPromise(service)
