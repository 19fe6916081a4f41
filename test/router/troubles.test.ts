/**
 * Participants that break, that have no part in a lock, or that take long, and clients that go away
 * meanwhile.
 */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ANYWHERE, AT_HOME, OPERATION } from './calls-of-a-lock.ts'
import {
  createHarness,
  DEFAULTS,
  done,
  EXPIRES_AT,
  GRANT_ID,
  NEAR_1,
  NEAR_2,
  never,
  place,
  problemOf,
  stubError,
  TICKET_ID,
  usualAnswer,
} from './fake.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('errors of a Durable Object', () => {
  it.each([{ retryable: true }, { durableObjectReset: true }])(
    '%j are tried once more at the same one',
    async marks => {
      const { send, participants } = createHarness()
      let times = 0
      participants.on(1, call => {
        if (++times === 1) throw stubError(marks)
        return usualAnswer(call, 1)
      })
      expect((await send('POST', `/v1/locks/jobs/grants/${GRANT_ID}/ops`, OPERATION)).status).toBe(200)
      expect(participants.order()).toEqual([1, 1])
    },
  )

  it('are tried no oftener', async () => {
    const { send, participants } = createHarness()
    participants.on(1, () => {
      throw stubError({ retryable: true })
    })
    expect((await send('DELETE', `/v1/locks/jobs/grants/${GRANT_ID}`)).status).toBe(503)
    expect(participants.order()).toEqual([1, 1])
  })

  it('overloaded: nobody is asked again, here or elsewhere', async () => {
    for (const [method, path, body] of [...ANYWHERE, ...AT_HOME]) {
      const { send, participants } = createHarness()
      participants.on(1, () => {
        throw stubError({ overloaded: true, retryable: true })
      })
      const response = await send(method, path, body)
      expect(response.status).toBe(429)
      expect(response.headers.get('retry-after')).toBe('1')
      expect(await problemOf(response)).toMatchObject({ code: 'too_many', retryable: true })
      expect(participants.order()).toEqual([1])
    }
  })
})

describe('elsewhere', () => {
  const moved = { ...DEFAULTS, number: 2, participants: [place(4, 'weur'), place(5, 'enam')] }

  it('leads to where the lock is, and is remembered', async () => {
    const { send, participants } = createHarness()
    participants.on(1, () => ({ type: 'elsewhere', configuration: moved }))
    expect((await send('POST', '/v1/locks/jobs/acquire', {}, { cf: NEAR_1 })).status).toBe(200)
    expect((await send('POST', '/v1/locks/jobs/acquire', {}, { cf: NEAR_2 })).status).toBe(200)
    expect((await send('POST', '/v1/locks/other/acquire', {}, { cf: NEAR_2 })).status).toBe(200)
    expect(participants.order()).toEqual([1, 4, 5, 2])
  })

  it('does not lead in circles', async () => {
    const { send, participants } = createHarness()
    let number = 1
    const behaviour = () => {
      const configuration = { ...moved, number: ++number, participants: [place(number + 5, null)] }
      return { type: 'elsewhere', configuration } as const
    }
    for (let id = 1; id < 20; id++) participants.on(id, behaviour)
    expect((await send('POST', '/v1/locks/jobs/acquire')).status).toBe(503)
    expect(participants.asked.length).toBeLessThanOrEqual(3)
  })

  it('of an older configuration does not replace a newer one', async () => {
    const { send, participants } = createHarness()
    participants.on(1, () => ({ type: 'elsewhere', configuration: moved }))
    participants.on(4, () => ({ type: 'elsewhere', configuration: DEFAULTS }))
    await send('POST', '/v1/locks/jobs/acquire', {}, { cf: NEAR_1 })
    expect(participants.order()).toEqual([1, 4, 5])
  })

  it('ends a grant whose participant is not part of the lock any more', async () => {
    const { send, participants } = createHarness()
    participants.on(1, () => ({ type: 'elsewhere', configuration: moved }))
    const response = await send('POST', `/v1/locks/jobs/grants/${GRANT_ID}/ops`, OPERATION)
    expect(response.status).toBe(410)
    expect(await problemOf(response)).toMatchObject({ code: 'ejected', outcome: 'unknown' })
  })

  it('follows a participant to its new address', async () => {
    const { send, participants } = createHarness()
    const configuration = { ...DEFAULTS, number: 2, participants: [place(1, null, 'https://one.example')] }
    let isOld = true
    participants.on(1, call => {
      if (!isOld) return usualAnswer(call, 1)
      isOld = false
      return { type: 'elsewhere', configuration }
    })
    expect((await send('DELETE', `/v1/locks/jobs/grants/${GRANT_ID}`)).status).toBe(204)
    expect(participants.order()).toEqual([1, 1])
  })
})

describe('a wait', () => {
  it('is not given up while the participant is there', async () => {
    vi.useFakeTimers()
    const { send, participants } = createHarness()
    participants.on(1, async call => {
      if (call.type === 'acquire') await new Promise(resolve => setTimeout(resolve, call.waitMs))
      return usualAnswer(call, 1)
    })
    const response = send('POST', '/v1/locks/jobs/acquire', { waitMs: 25_000 })
    await vi.advanceTimersByTimeAsync(25_000)
    expect(await (await response).json()).toMatchObject({ grant: { participant: 1 } })
    expect(participants.order('acquire')).toEqual([1])
    expect(participants.order('status')).toEqual([1])
  })

  it('goes on elsewhere with what is left of the time once the participant is gone', async () => {
    vi.useFakeTimers()
    const { send, participants } = createHarness({ times: {} })
    participants.on(1, never)
    const response = send('POST', '/v1/locks/jobs/acquire', { waitMs: 10_000 })
    await vi.advanceTimersByTimeAsync(4_000)
    expect(await (await response).json()).toMatchObject({ grant: { participant: 2 } })
    const waits = participants.asked.flatMap(({ call }) => (call.type === 'acquire' ? [call.waitMs] : []))
    expect(waits).toEqual([10_000, 6_000])
  })

  it('ends at the latest a while after its time', async () => {
    vi.useFakeTimers()
    const { send, participants } = createHarness({ times: {} })
    participants.onAll(call => (call.type === 'status' ? usualAnswer(call, 1) : never()))
    const response = send('POST', '/v1/locks/jobs/acquire', { waitMs: 10_000 })
    await vi.advanceTimersByTimeAsync(25_000)
    expect((await response).status).toBe(503)
    expect(participants.order('acquire')).toEqual([1])
  })

  it('is withdrawn when the client goes away, and asked of nobody else', async () => {
    for (const [path, body] of [
      ['acquire', { ticket: true }],
      ['transact', OPERATION],
    ] as const) {
      const { send, participants, background, log } = createHarness({ times: {} })
      const client = new AbortController()
      const seen: AbortSignal[] = []
      participants.on(1, (call, request) => {
        seen.push(request.signal)
        return call.type === 'withdraw' ? usualAnswer(call, 1) : never()
      })
      const response = send('POST', `/v1/locks/jobs/${path}`, body, { signal: client.signal })
      await vi.waitFor(() => expect(participants.order()).toEqual([1]))
      client.abort()
      await response
      await Promise.all(background)
      expect(participants.asked.map(({ call }) => call.type)).toEqual([path, 'withdraw'])
      expect(seen[0]?.aborted).toBe(true)
      expect(log).toEqual([])
    }
  })

  it('regression: in the moment of the answer, whose ticket or grant nobody will ever use', async () => {
    for (const [body, given] of [
      [{ ticket: true }, { ticket: { id: TICKET_ID, position: 1, expiresAt: EXPIRES_AT } }],
      [{ ticket: true }, { grant: { id: GRANT_ID, fence: 1025 } }],
      [{}, { grant: { id: GRANT_ID, fence: 1025 } }],
    ] as const) {
      const { send, participants, background } = createHarness({ times: {} })
      const client = new AbortController()
      participants.on(1, call => {
        if (call.type !== 'acquire') return usualAnswer(call, 1)
        client.abort()
        return done('ticket' in given ? 202 : 200, given)
      })
      await send('POST', '/v1/locks/jobs/acquire', body, { signal: client.signal })
      await Promise.all(background)
      const [acquired, withdrawn, ...more] = participants.asked.map(({ call }) => call)
      expect([acquired?.type, withdrawn?.type, more]).toEqual(['acquire', 'withdraw', []])
      expect((withdrawn as { user: string }).user).toBe((acquired as { user: string }).user)
      expect(participants.order()).toEqual([1, 1])
    }
  })

  it('what a transact has done is not withdrawn', async () => {
    const { send, participants, background } = createHarness({ times: {} })
    const client = new AbortController()
    participants.on(1, call => {
      client.abort()
      return usualAnswer(call, 1)
    })
    await send('POST', '/v1/locks/jobs/transact', OPERATION, { signal: client.signal })
    await Promise.all(background)
    expect(participants.asked.map(({ call }) => call.type)).toEqual(['transact'])
  })
})
