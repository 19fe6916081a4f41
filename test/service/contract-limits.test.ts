/** 429 too_many: how much of something a participant takes, and that it takes more once there is room. */
import { request as httpRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { PROBLEM_MEDIA_TYPE } from '../../shared/api/problems.ts'
import { DEFAULT_LIMITS } from '../../shared/protocols/protocol.ts'
import { openWatch, type TestWatch } from './event-stream.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus, type TestLock } from './lock.ts'
import { openSession, type TestSession } from './session-socket.ts'

const service = useService()

const MAX_SESSIONS = API_LIMITS.sessionsPerParticipant
const MAX_WATCHERS = API_LIMITS.watchersPerParticipant
const AT_ONCE = 40

/** Like `Promise.all`, a few at a time. */
async function many<Result>(count: number, run: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const work = async () => {
    while (next < count) {
      const index = next++
      results[index] = await run(index)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return results
}

function upgradeStatus(
  lock: TestLock,
): Promise<{ status: number; retryAfter: string | undefined; type: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': btoa('0123456789abcdef'),
    }
    const outgoing = httpRequest(`${lock.url}/session`, { headers })
    outgoing.on('error', reject)
    outgoing.on('upgrade', (response, socket) => {
      socket.destroy()
      resolve({ status: response.statusCode!, retryAfter: undefined, type: '' })
    })
    outgoing.on('response', response => {
      response.resume()
      const type = response.headers['content-type'] ?? ''
      resolve({ status: response.statusCode!, retryAfter: response.headers['retry-after'], type })
    })
    outgoing.end()
  })
}

describe('429 too_many with Retry-After', () => {
  it('for one more who waits at a participant than it takes', async () => {
    const lock = service.lock()
    const holder = await lock.granted({ ttlMs: 600_000 })
    const tickets = await many(DEFAULT_LIMITS.waiters, () => lock.queued())
    expect(await lock.queue()).toBe(DEFAULT_LIMITS.waiters)
    for (const answer of [
      await lock.acquire({ waitMs: 1_000 }),
      await lock.acquire({ ticket: true }),
      await lock.transact([{ increment: 'n' }]),
    ]) {
      // The helper has checked that the answer says when to come back.
      expect([answer.status, answer.body.code, answer.body.retryable]).toEqual([429, 'too_many', true])
    }
    expect((await lock.transact([{ increment: 'n' }])).body.outcome).toBe('not-applied')
    const elsewhere = await lock.queued({ at: 2 })
    expectStatus(await lock.withdraw(elsewhere.id), 204)
    expectStatus(await lock.withdraw(tickets[500]!.id), 204)
    const again = await lock.queued()
    expect(again.position).toBe(DEFAULT_LIMITS.waiters)
    await lock.applied(holder, [{ increment: 'n' }])
    await many(tickets.length, async index => {
      if (index !== 500) expectStatus(await lock.withdraw(tickets[index]!.id), 204)
    })
    expectStatus(await lock.withdraw(again.id), 204)
    await lock.released(holder)
  })

  it('for one more session', async () => {
    const lock = service.lock()
    const sessions = await many(MAX_SESSIONS, (): Promise<TestSession> => openSession(`${lock.url}/session`))
    const refused = await upgradeStatus(lock)
    expect(refused).toEqual({ status: 429, retryAfter: '1', type: PROBLEM_MEDIA_TYPE })
    sessions[0]!.send({ type: 'try' })
    expect((await sessions[0]!.next()).type).toBe('crit')
    for (const session of sessions) session.close()
    await eventually(async () => expect((await upgradeStatus(lock)).status).toBe(101))
    await lock.untilFree()
  })

  it('for one more watcher', async () => {
    const lock = await service.lock().created()
    const watchers = await many(MAX_WATCHERS, (): Promise<TestWatch> => openWatch(`${lock.url}/watch`))
    const refused = await lock.send('GET', '/watch')
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many'])
    expect(refused.body.detail).toBe('Too many watch this lock at this participant.')
    await lock.transacted([{ increment: 'n' }], { opId: 'told' })
    for (const watcher of watchers) expect((await watcher.nextOf('op')).data.opId).toBe('told')
    for (const watcher of watchers) watcher.close()
    await eventually(async () => {
      const stream = await openWatch(`${lock.url}/watch`)
      stream.close()
    })
  })
})

itKeepsEveryPromise(service)
