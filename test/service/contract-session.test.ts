/** `session`: the paper's user-stub events over a WebSocket. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { eventually, sleep } from './eventually.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus, granted, type TestLock } from './lock.ts'
import { openSession, type TestSession } from './session-socket.ts'

const service = useService()

const sessionOf = (lock: TestLock, query = ''): Promise<TestSession> =>
  openSession(`${lock.url}/session${query}`)

async function inside(lock: TestLock, query = ''): Promise<TestSession> {
  const session = await sessionOf(lock, query)
  session.send({ type: 'try' })
  await session.nextOf('crit')
  return session
}

describe('a session', () => {
  it.each(['', '?at=1', '?at=2', '?at=3'])('speaks try crit issue outcome exit rem (%s)', async query => {
    const lock = service.lock()
    const session = await sessionOf(lock, query)
    session.send({ type: 'try' })
    const crit = await session.nextOf('crit')
    expect(Number.isSafeInteger(crit.fence)).toBe(true)
    expect(Number.isSafeInteger(crit.epoch)).toBe(true)
    session.send({ type: 'issue', opId: 'one', ops: [{ increment: 'n' }] })
    const outcome = await session.nextOf('outcome')
    const { sequence } = outcome
    expect(outcome).toEqual({
      type: 'outcome',
      opId: 'one',
      sequence,
      applied: true,
      results: [{ value: 1, revision: sequence }],
    })
    session.send({ type: 'exit' })
    expect(await session.next()).toEqual({ type: 'rem' })
    session.send({ type: 'try', waitMs: 20_000, ttlMs: 5_000, confirm: true })
    expect((await session.nextOf('crit')).fence).toBeGreaterThan(crit.fence)
    session.send({ type: 'exit' })
    await session.nextOf('rem')
    session.close()
    expect(await lock.value('n')).toBe(1)
  })

  it('tells a failed condition as an outcome that was not applied', async () => {
    const lock = service.lock()
    const session = await inside(lock)
    session.send({ type: 'issue', opId: 'one', ops: [{ put: 'a', value: 1, ifRevision: 5 }] })
    expect(await session.nextOf('outcome')).toMatchObject({
      applied: false,
      results: [{ error: 'revision_mismatch', revision: 0 }],
    })
    session.close()
    await lock.untilFree()
  })

  it('gives the same outcome for the same opId, also if a call has used it', async () => {
    const lock = service.lock()
    const { sequence, results } = await lock.transacted([{ increment: 'n' }], { opId: 'once' })
    const session = await inside(lock)
    for (let round = 0; round < 2; round++) {
      session.send({ type: 'issue', opId: 'once', ops: [{ increment: 'n' }] })
      expect(await session.nextOf('outcome')).toEqual({
        type: 'outcome',
        opId: 'once',
        sequence,
        applied: true,
        results,
      })
    }
    session.close()
    await lock.untilFree()
    expect(await lock.value('n')).toBe(1)
  })

  it('waits for its turn, and says so to nobody', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    const session = await sessionOf(lock, '?at=2')
    session.send({ type: 'try' })
    await lock.untilQueueIs(1)
    await lock.released(grant)
    expect((await session.nextOf('crit')).fence).toBeGreaterThan(grant.fence)
    session.close()
    await lock.untilFree()
  })

  it('tells locked when its time to wait is over, and stays open', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    const session = await sessionOf(lock)
    session.send({ type: 'try', waitMs: 200 })
    expect((await session.nextOf('error')).code).toBe('locked')
    await lock.released(grant)
    session.send({ type: 'try' })
    await session.nextOf('crit')
    session.close()
    await lock.untilFree()
  })

  it('is kept alive while its client gives signs of life', async () => {
    const lock = service.lock()
    const session = await sessionOf(lock)
    session.send({ type: 'try', ttlMs: 1_000 })
    const { fence, ttlMs } = await session.nextOf('crit')
    expect(ttlMs).toBe(1_000)
    for (let ping = 0; ping < 12; ping++) {
      await sleep(200)
      session.ping()
    }
    expect((await lock.status()).body.holder).toMatchObject({ fence })
    session.send({ type: 'issue', opId: 'late', ops: [{ increment: 'n' }] })
    await session.nextOf('outcome')
    session.send({ type: 'exit' })
    await session.nextOf('rem')
    session.close()
  })
})

describe('a session whose client stands still', () => {
  it('loses its lock after its time to live, though its socket stays open', async () => {
    const lock = service.lock()
    const session = await sessionOf(lock)
    session.send({ type: 'try', ttlMs: 1_000 })
    await session.nextOf('crit')
    const next = await lock.granted({ waitMs: 25_000 })
    expect(await session.next()).toEqual({ type: 'ejected', reason: 'expired' })
    await lock.released(next)
    session.close()
  })
})

describe('when the socket closes', () => {
  it.each(['', '?at=2'])('the grant is over and the lock is free (%s)', async query => {
    const lock = service.lock()
    const session = await inside(lock, query)
    const waiting = lock.acquire({ waitMs: 25_000 })
    await lock.untilQueueIs(1)
    session.close()
    await lock.released(granted(await waiting))
  })

  it('a waiting try is withdrawn', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    const session = await sessionOf(lock)
    session.send({ type: 'try' })
    await lock.untilQueueIs(1)
    session.close()
    await lock.untilQueueIs(0)
    await lock.released(grant)
  })

  it('an operation that is under way is settled first', async () => {
    const lock = service.lock()
    const session = await inside(lock)
    session.send({ type: 'issue', opId: 'last', ops: [{ increment: 'n' }] })
    session.close()
    await lock.untilFree()
    // The message was on its way before the close, so it counts.
    const { results } = await lock.transacted([{ increment: 'n' }], { opId: 'last' })
    expect(results[0]).toMatchObject({ value: 1 })
    expect(await lock.value('n')).toBe(1)
  })
})

describe('ejected', () => {
  it('by an operator', async () => {
    const lock = service.lock()
    const session = await inside(lock)
    expectStatus(await lock.eject(), 200)
    expect(await session.next()).toEqual({ type: 'ejected', reason: 'operator' })
    session.send({ type: 'try' })
    await session.nextOf('crit')
    session.close()
    await lock.untilFree()
  })
})

describe('error, and the session stays open', () => {
  it.each([
    ['issue', { type: 'issue', opId: 'x', ops: [{ get: 'a' }] } as const],
    ['exit', { type: 'exit' } as const],
  ])('for %s without crit', async (_, message) => {
    const lock = service.lock()
    const session = await sessionOf(lock)
    session.send(message)
    expect((await session.nextOf('error')).code).toBe('conflict')
    session.send({ type: 'try' })
    await session.nextOf('crit')
    session.close()
    await lock.untilFree()
  })

  it('for a second try', async () => {
    const lock = service.lock()
    const session = await inside(lock)
    session.send({ type: 'try' })
    expect((await session.nextOf('error')).code).toBe('conflict')
    session.send({ type: 'exit' })
    await session.nextOf('rem')
    session.close()
  })

  it('for a second try while the first one waits', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    const session = await sessionOf(lock)
    session.send({ type: 'try' })
    session.send({ type: 'try' })
    expect((await session.nextOf('error')).code).toBe('conflict')
    expect(await lock.queue()).toBe(1)
    await lock.released(grant)
    await session.nextOf('crit')
    session.close()
    await lock.untilFree()
  })

  it.each([
    ['not JSON', '{', 'bad_request'],
    ['of no type', '{}', 'bad_request'],
    ['of an unknown type', '{"type":"crit"}', 'bad_request'],
    ['with an unknown field', '{"type":"try","wait":1}', 'bad_request'],
    ['with a wrong field', '{"type":"try","waitMs":-1}', 'bad_request'],
    ['without ops', '{"type":"issue","opId":"x"}', 'bad_request'],
    ['binary', new Uint8Array([1, 2, 3]), 'bad_request'],
    ['too large', JSON.stringify({ type: 'issue', opId: 'x', ops: [{ get: 'k'.repeat(600) }] }), 'too_large'],
  ])('for a message that is %s', async (_, data, code) => {
    const lock = service.lock()
    const session = await inside(lock)
    session.sendRaw(data)
    const error = await session.nextOf('error')
    expect(error.code).toBe(code)
    expect(error.detail).not.toBe('')
    session.send({ type: 'issue', opId: 'fine', ops: [{ increment: 'n' }] })
    await session.nextOf('outcome')
    session.close()
    await lock.untilFree()
  })

  it('for an opId that was used for another operation', async () => {
    const lock = service.lock()
    await lock.transacted([{ increment: 'n' }], { opId: 'once' })
    const session = await inside(lock)
    session.send({ type: 'issue', opId: 'once', ops: [{ increment: 'n', by: 2 }] })
    expect((await session.nextOf('error')).code).toBe('conflict')
    session.send({ type: 'exit' })
    await session.nextOf('rem')
    session.close()
  })
})

describe('operations that are sent without waiting', () => {
  it('are all applied, each once', async () => {
    const lock = service.lock()
    const session = await inside(lock)
    const opIds = ['a', 'b', 'c', 'd']
    for (const opId of opIds) session.send({ type: 'issue', opId, ops: [{ increment: 'n' }] })
    const answered = new Set<string>()
    // A message out of turn is refused, and may be repeated; one that is repeated after it was taken is
    // answered twice.
    while (answered.size < opIds.length) {
      const event = await session.next()
      if (event.type === 'outcome') answered.add(event.opId)
      else expect(event).toMatchObject({ type: 'error', code: 'conflict' })
      const left = opIds.filter(opId => !answered.has(opId))
      if (event.type === 'outcome' && left.length > 0) {
        session.send({ type: 'issue', opId: left[0]!, ops: [{ increment: 'n' }] })
      }
    }
    session.close()
    await lock.untilFree()
    expect(await lock.value('n')).toBe(4)
  })
})

describe('the end of a session', () => {
  // The runtime itself ends a socket that nobody has closed after ten seconds.
  it('is answered: a client need not give up on it', { timeout: 9_000 }, async () => {
    const { hostname, port, pathname } = new URL(`${service.lock().url}/session`)
    const socket = connect(Number(port), hostname)
    const headers = ['upgrade: websocket', 'connection: Upgrade', 'sec-websocket-version: 13']
    const key = `sec-websocket-key: ${btoa('x'.repeat(16))}`
    socket.write(`GET ${pathname} HTTP/1.1\r\nhost: localhost\r\n${[...headers, key].join('\r\n')}\r\n\r\n`)
    const [opened] = (await once(socket, 'data')) as [Buffer]
    expect(opened.toString()).toContain('101')
    // A close frame with the code 1000, under a mask of zeros.
    socket.write(Buffer.from('88820000000003e8', 'hex'))
    await once(socket.resume(), 'end')
  })
})

describe('without an upgrade', () => {
  it('400 bad_request, and 400 for a participant that is not there', async () => {
    const lock = await service.lock().created()
    expect((await lock.send('GET', '/session')).body.code).toBe('bad_request')
    await expect(sessionOf(lock, '?at=9')).rejects.toThrow()
    await eventually(() => lock.untilFree())
  })
})

itKeepsEveryPromise(service)
