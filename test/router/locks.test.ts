/** A lock as a whole: its configuration, its status, its history. */
import { describe, expect, it } from 'vitest'
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import type { HistoryAnswer, StatusAnswer } from '../../shared/api/types.ts'
import type { Json } from '../../shared/json.ts'
import {
  createHarness,
  DEFAULTS,
  done,
  EXPIRES_AT,
  type FakeParticipants,
  NEAR_2,
  never,
  place,
  problemOf,
  refuse,
  statusOf,
  usualAnswer,
} from './fake.ts'

const crash = () => {
  throw new Error('Network connection lost.')
}

/** Participants that keep the first configuration that they are given. */
function withMemory(participants: FakeParticipants, born: LockConfiguration | null = null): void {
  let kept = born
  participants.onAll(call => {
    if (call.type !== 'configure') throw new Error(call.type)
    const created = kept === null
    kept ??= call.configuration
    return done(200, { created, configuration: kept as unknown as Json })
  })
}

describe('PUT', () => {
  const located = [{ location: 'weur' }, { location: 'oc' }]
  const noLocation = 'follow cannot be true here: each of the participants needs a location for that.'

  it.each([
    [
      { follow: true, protocol: 'maekawa', participants: located },
      'follow cannot be true here: the protocol maekawa cannot change the participants of a lock.',
    ],
    [{ follow: true, participants: [{ location: 'weur' }, {}] }, noLocation],
  ])('400 if nothing will ever follow: %j', async (wish, detail) => {
    const { send, participants } = createHarness()
    withMemory(participants)
    const response = await send('PUT', '/v1/locks/jobs', wish)
    expect(await problemOf(response)).toMatchObject({ status: 400, detail })
    expect(participants.asked).toEqual([])
    expect((await send('PUT', '/v1/locks/jobs', { ...wish, follow: false })).status).toBe(201)
  })

  it('201 if something will follow', async () => {
    const { send, participants } = createHarness()
    withMemory(participants)
    const wish = { follow: true, participants: located }
    expect((await send('PUT', '/v1/locks/jobs', wish)).status).toBe(201)
  })

  it('201 created, 200 same as before, 409 conflict different', async () => {
    const { send, participants } = createHarness()
    withMemory(participants)
    const wish = {
      protocol: 'wme-1',
      participants: [{ location: 'weur' }, {}, { location: null }],
      ttlMs: 5_000,
    }
    const created = await send('PUT', '/v1/locks/jobs', wish)
    expect(created.status).toBe(201)
    const expected = {
      lock: 'jobs',
      protocol: 'wme-1',
      participants: [
        { id: 1, location: 'weur' },
        { id: 2, location: null },
        { id: 3, location: null },
      ],
      ttlMs: 5_000,
      detector: { heartbeatMs: 500, timeoutMs: 2_000 },
      localHandoffs: 1,
    }
    expect(await created.json()).toEqual(expected)
    const same = await send('PUT', '/v1/locks/jobs', wish)
    expect(same.status).toBe(200)
    expect(await same.json()).toEqual(expected)
    const different = await send('PUT', '/v1/locks/jobs', { ...wish, protocol: 'wme-2', ttlMs: 6_000 })
    expect(different.status).toBe(409)
    const problem = await problemOf(different)
    expect(problem).toMatchObject({ code: 'conflict', retryable: false, configuration: expected })
    expect(problem.detail).toContain('protocol is wme-1 and not wme-2; ttlMs is 5000 and not 6000')
  })

  it.each<[object]>([
    [{ protocol: 'wme-1' }],
    [{ participants: [{ location: 'weur' }, { location: 'enam' }] }],
    [{ participants: [{ location: 'enam' }, { location: 'weur' }, { location: 'apac' }] }],
    [{ ttlMs: 1_000 }],
    [{ detector: { heartbeatMs: 600 } }],
    [{ detector: { timeoutMs: 3_000 } }],
    [{ localHandoffs: 0 }],
  ])('%j is not what a lock with the defaults has', async wish => {
    const { send, participants } = createHarness()
    withMemory(participants, DEFAULTS)
    expect((await send('PUT', '/v1/locks/jobs', wish)).status).toBe(409)
    expect((await send('PUT', '/v1/locks/jobs', {})).status).toBe(200)
    expect((await send('PUT', '/v1/locks/jobs')).status).toBe(200)
  })

  it('who had the token first makes no difference', async () => {
    const { send, participants } = createHarness()
    withMemory(participants, { ...DEFAULTS, firstOwner: 3, number: 4 })
    expect((await send('PUT', '/v1/locks/jobs', {})).status).toBe(200)
  })

  it('the token begins at the participant that is asked, or else at the nearest', async () => {
    const { send, participants } = createHarness()
    const firstOwner = () => {
      const { call } = participants.asked.at(-1)!
      return call.type === 'configure' && call.configuration.firstOwner
    }
    await send('PUT', '/v1/locks/a', {}, { cf: NEAR_2 })
    expect(firstOwner()).toBe(2)
    participants.on(2, crash)
    await send('PUT', '/v1/locks/b', {}, { cf: NEAR_2 })
    expect(firstOwner()).toBe(1)
    participants.on(2, call => usualAnswer(call, 2))
    await send('PUT', '/v1/locks/c', { participants: [{ location: 'oc' }] }, { cf: NEAR_2 })
    expect([participants.asked.at(-1)?.participant, firstOwner()]).toEqual([2, 1])
  })

  it('is asked of the default places, and what is learned is used afterwards', async () => {
    const { send, participants } = createHarness()
    await send('PUT', '/v1/locks/jobs', {
      participants: Array.from({ length: 5 }, () => ({ location: 'oc' })),
    })
    expect(participants.order()).toEqual([1])
    participants.onAll(crash)
    const status = (await (await send('GET', '/v1/locks/jobs')).json()) as StatusAnswer
    expect(status.participants.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5])
  })

  it('keeps the URLs of participants that have one', async () => {
    const defaults = {
      ...DEFAULTS,
      participants: [place(1, null, 'http://one'), place(2, null, 'http://two')],
    }
    const { send, participants } = createHarness({ defaults })
    await send('PUT', '/v1/locks/jobs', { participants: [{ location: 'weur' }, {}] })
    const { call } = participants.asked[0]!
    if (call.type !== 'configure') throw new Error(call.type)
    expect(call.configuration.participants.map(({ url }) => url)).toEqual(['http://one', 'http://two'])
  })

  it('gives no participant a place that is another one at each process', async () => {
    const defaults = {
      ...DEFAULTS,
      participants: [place(1, null, 'http://one'), place(2, null, 'http://two')],
    }
    const { send, participants } = createHarness({ defaults })
    const response = await send('PUT', '/v1/locks/jobs', { participants: [{}, {}, {}] })
    expect(response.status).toBe(400)
    expect((await problemOf(response)).errors).toMatchObject([
      { in: 'body', path: 'participants', message: expect.stringContaining('at most 2') },
    ])
    expect(participants.asked).toEqual([])
    expect((await send('PUT', '/v1/locks/jobs', { participants: [{}] })).status).toBe(201)
  })

  it('a participant that has no part in the lock knows its configuration', async () => {
    const { send, participants } = createHarness()
    participants.onAll(() => ({
      type: 'elsewhere',
      configuration: { ...DEFAULTS, participants: [place(5, 'oc')] },
    }))
    expect((await send('PUT', '/v1/locks/jobs', {})).status).toBe(409)
    participants.onAll(() => ({ type: 'elsewhere', configuration: DEFAULTS }))
    expect((await send('PUT', '/v1/locks/other', {})).status).toBe(200)
  })
})

describe('GET', () => {
  async function statusWith(prepare: (participants: FakeParticipants) => void): Promise<StatusAnswer> {
    const { send, participants } = createHarness()
    prepare(participants)
    const response = await send('GET', '/v1/locks/jobs')
    expect(response.status).toBe(200)
    return (await response.json()) as StatusAnswer
  }
  const unknown = { phase: null, epoch: null, sequence: null, owner: null, queue: null, suspects: null }

  it('puts the views of all together', async () => {
    const [waitingSince, now] = ['2026-11-16T11:59:10.000Z', '2026-11-16T11:59:41.000Z']
    const since = '2026-11-16T11:59:00.000Z'
    const holder = { participant: 2, fence: 1030, expiresAt: EXPIRES_AT, since, owner: 'checkout-7' }
    const status = await statusWith(participants => {
      participants.on(1, () => done(200, statusOf({ queue: 3, suspects: [3], waitingSince, now })))
      participants.on(2, () => done(200, statusOf({ phase: 'cs-idle', owner: 2, holder, now })))
    })
    expect(status).toEqual({
      lock: 'jobs',
      protocol: 'wme-2',
      generation: 1,
      participants: [
        {
          id: 1,
          location: 'weur',
          reachable: true,
          phase: 'idle',
          epoch: 1,
          sequence: 7,
          owner: 1,
          queue: 3,
          suspects: [3],
        },
        {
          id: 2,
          location: 'enam',
          reachable: true,
          phase: 'cs-idle',
          epoch: 1,
          sequence: 7,
          owner: 2,
          queue: 0,
          suspects: [],
        },
        {
          id: 3,
          location: 'apac',
          reachable: true,
          phase: 'idle',
          epoch: 1,
          sequence: 7,
          owner: 1,
          queue: 0,
          suspects: [],
        },
      ],
      holder,
      waiting: { count: 3, since: waitingSince },
      explanation:
        'held by checkout-7 at 2 (enam) for 41 s, expires in 19 s, 3 wait (the first for 31 s); ' +
        'participant 3 is suspected by 1',
    })
  })

  it('reports who does not answer, and never fails', async () => {
    const some = await statusWith(participants => participants.on(1, never).on(3, crash))
    expect(some.participants.map(({ reachable }) => reachable)).toEqual([false, true, false])
    expect(some.participants[0]).toEqual({ id: 1, location: 'weur', reachable: false, ...unknown })
  })

  it('reports participants that are all silent', async () => {
    const all = await statusWith(participants => participants.onAll(never))
    expect(all.participants.map(({ reachable }) => reachable)).toEqual([false, false, false])
    expect(all.holder).toBeNull()
  })

  it.each([['not able to answer', () => refuse('no_quorum')]])(
    'reports participants that are all %s, if the router has heard of the lock',
    async (_, behaviour) => {
      const { send, participants } = createHarness()
      expect((await send('GET', '/v1/locks/jobs')).status).toBe(200)
      participants.onAll(behaviour)
      const all = (await (await send('GET', '/v1/locks/jobs')).json()) as StatusAnswer
      expect(all.participants.map(({ reachable }) => reachable)).toEqual([false, false, false])
      expect(all.holder).toBeNull()
      // Of this one it knows nothing, not even that there is such a lock.
      const other = await send('GET', '/v1/locks/other')
      expect(await problemOf(other)).toMatchObject({ status: 503, code: 'no_quorum' })
    },
  )

  it('asks all at once', async () => {
    let waiting = 0
    let answerAll = () => {}
    const allAreAsked = new Promise<void>(resolve => {
      answerAll = resolve
    })
    const answers: string[] = []
    await statusWith(participants =>
      participants.onAll(async call => {
        if (++waiting === 3) answerAll()
        // Nobody answers before all are asked.
        await allAreAsked
        answers.push(call.type)
        return usualAnswer(call, 1)
      }),
    )
    expect(answers).toEqual(['status', 'status', 'status'])
  })

  it('of two that think they hold the lock, believes the later', async () => {
    const claim = (participant: number, fence: number) => ({
      holder: { participant, fence, expiresAt: EXPIRES_AT, since: EXPIRES_AT },
    })
    const status = await statusWith(participants => {
      participants.on(1, () => done(200, statusOf(claim(1, 2049))))
      participants.on(2, () => done(200, statusOf(claim(2, 1030))))
    })
    expect(status.holder).toMatchObject({ participant: 1, fence: 2049 })
  })

  it('asks those too of whom it learns by asking', async () => {
    const configuration = {
      ...DEFAULTS,
      protocol: 'wme-1' as const,
      participants: [2, 4, 5].map(id => place(id, 'oc')),
    }
    const status = await statusWith(participants => {
      participants.on(1, () => ({ type: 'elsewhere', configuration }))
      participants.on(2, () => done(200, statusOf({ configuration })))
      participants.on(3, crash)
      participants.on(4, () => done(200, statusOf({ configuration })))
      participants.on(5, never)
    })
    expect(status.protocol).toBe('wme-1')
    expect(status.participants.map(({ id, reachable }) => [id, reachable])).toEqual([
      [2, true],
      [4, true],
      [5, false],
    ])
  })
})

describe('history', () => {
  it('is that of each participant, and says whose is missing', async () => {
    const { send, participants } = createHarness()
    participants.on(2, crash)
    const response = await send('GET', '/v1/locks/jobs/history')
    expect(response.status).toBe(200)
    const history = (await response.json()) as HistoryAnswer
    expect(history).toMatchObject({ lock: 'jobs', protocol: 'wme-2', resource: 'key-value' })
    expect(history.participants.map(({ id, reachable, events }) => [id, reachable, events.length])).toEqual([
      [1, true, 1],
      [2, false, 0],
      [3, true, 1],
    ])
  })
})

describe('a resource of one’s own', () => {
  const defaults = (lock: string) =>
    lock.startsWith('counter-') ? { ...DEFAULTS, resource: 'counter' } : DEFAULTS
  const operation = { opId: 'a', ops: ['up', { down: 3 }] }

  it('takes the ops that it likes', async () => {
    const { send, participants } = createHarness({ defaults })
    expect((await send('POST', '/v1/locks/counter-1/transact', operation)).status).toBe(200)
    expect(participants.asked[0]?.call).toMatchObject(operation)
    expect((await send('POST', '/v1/locks/jobs/transact', operation)).status).toBe(400)
  })

  it('has a schema, if it wants one, and limits in any case', async () => {
    const { z } = await import('zod')
    const { send } = createHarness({ defaults, opSchemas: { counter: z.literal('up') } })
    const refused = await send('POST', '/v1/locks/counter-1/transact', operation)
    expect(refused.status).toBe(400)
    expect((await problemOf(refused)).errors).toMatchObject([{ path: 'ops.1' }])
    expect((await send('POST', '/v1/locks/counter-1/transact', { opId: 'a', ops: ['up'] })).status).toBe(200)
    const many = Array.from({ length: 1_001 }, () => 'up')
    expect((await send('POST', '/v1/locks/counter-1/transact', { opId: 'a', ops: many })).status).toBe(413)
    expect((await send('POST', '/v1/locks/counter-1/transact', { opId: 'a', ops: [] })).status).toBe(400)
  })
})
