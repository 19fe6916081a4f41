/** A lock as a whole: `PUT`, `GET`, `history`, `participants`. */
import { describe, expect, it } from 'vitest'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus } from './lock.ts'

const service = useService()

describe('PUT of a lock', () => {
  it('201 created with the defaults, 200 the second time', async () => {
    const lock = service.lock()
    const created = expectStatus(await lock.configure(), 201).body
    expect(created).toEqual({
      lock: lock.name,
      protocol: 'wme-2',
      participants: [
        { id: 1, location: 'weur' },
        { id: 2, location: 'enam' },
        { id: 3, location: 'apac' },
      ],
      ttlMs: 30_000,
      detector: { heartbeatMs: 500, timeoutMs: 2_000 },
      localHandoffs: 1,
    })
    expect(expectStatus(await lock.configure(), 200).body).toEqual(created)
  })

  const own = {
    protocol: 'wme-1',
    participants: [{ location: 'me' }, {}, { location: 'oc' }, { location: 'sam' }, { location: 'afr' }],
    ttlMs: 5_000,
    detector: { heartbeatMs: 100, timeoutMs: 900 },
    localHandoffs: 3,
  } as const

  it('201 created as wanted, and used so', async () => {
    const lock = service.lock()
    const created = expectStatus(
      await lock.configure({ ...own, participants: [...own.participants] }),
      201,
    ).body
    expect(created).toMatchObject({
      protocol: 'wme-1',
      ttlMs: 5_000,
      detector: own.detector,
      localHandoffs: 3,
    })
    expect(created.participants).toEqual(
      own.participants.map((place, index) => ({ id: index + 1, location: null, ...place })),
    )
    const { body } = await lock.status()
    expect(body.protocol).toBe('wme-1')
    expect(body.participants.map(({ location }) => location)).toEqual(['me', null, 'oc', 'sam', 'afr'])
    for (const at of [5, 4, 1]) {
      const { results } = await lock.transacted([{ increment: 'n' }], { at })
      expect(results[0]).toMatchObject({ value: at === 5 ? 1 : at === 4 ? 2 : 3 })
    }
    expect(await lock.value('n', '?at=2')).toBe(3)
  })

  it('200 for the same, 409 conflict for anything else, also once it is used', async () => {
    const lock = service.lock()
    const wanted = { ...own, participants: [...own.participants] }
    expectStatus(await lock.configure(wanted), 201)
    await lock.transacted([{ increment: 'n' }])
    expectStatus(await lock.configure(wanted), 200)
    const others = [
      {},
      { ...wanted, protocol: 'wme-2' as const },
      { ...wanted, participants: wanted.participants.slice(0, 3) },
      { ...wanted, ttlMs: 6_000 },
      { ...wanted, detector: { heartbeatMs: 100, timeoutMs: 901 } },
      { ...wanted, localHandoffs: 0 },
    ]
    for (const other of others) {
      const { status, body } = await lock.configure(other)
      expect([status, body.code]).toEqual([409, 'conflict'])
    }
    expect(await lock.value('n')).toBe(1)
  })

  it('409 conflict for a lock that came to be with the defaults', async () => {
    const lock = service.lock()
    await lock.transacted([{ increment: 'n' }])
    expect((await lock.configure({ ttlMs: 1_000 })).body.code).toBe('conflict')
    expectStatus(await lock.configure({}), 200)
  })

  it('two at once: one is created, the other is told', async () => {
    const lock = service.lock()
    const same = await Promise.all([1, 2, 3, 4].map(() => lock.configure({ localHandoffs: 5 })))
    expect(same.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201])
    const other = service.lock()
    const different = await Promise.all([5, 6, 7].map(localHandoffs => other.configure({ localHandoffs })))
    expect(different.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })

  it.each([
    [{ protocol: 'paxos' }, 'protocol'],
    [{ participants: [] }, 'participants'],
    [{ participants: Array.from({ length: 14 }, () => ({})) }, 'participants'],
    [{ participants: [{ location: 'moon' }] }, 'participants.0.location'],
    [{ participants: [{ url: 'http://elsewhere' }] }, 'participants.0.url'],
    [{ ttlMs: 1 }, 'ttlMs'],
    [{ detector: { timeoutMs: 1 } }, 'detector.timeoutMs'],
    [{ detector: { heartbeatMs: 900, timeoutMs: 900 } }, 'detector.timeoutMs'],
    [{ localHandoffs: -1 }, 'localHandoffs'],
    [{ resource: 'other' }, 'resource'],
  ])('400 for %j', async (body, path) => {
    const answer = await service.lock().send('PUT', '', { body })
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
    expect(answer.body.errors).toMatchObject([{ in: 'body', path }])
  })

  it('one participant is enough', async () => {
    const lock = service.lock()
    expectStatus(await lock.configure({ participants: [{}] }), 201)
    await lock.transacted([{ increment: 'n' }])
    expect(await lock.value('n')).toBe(1)
  })
})

describe('GET of a lock', () => {
  it('200 for one that was only configured', async () => {
    const lock = service.lock()
    expectStatus(await lock.configure(), 201)
    const { body } = expectStatus(await lock.status(), 200)
    expect(body).toMatchObject({ lock: lock.name, protocol: 'wme-2', holder: null, explanation: 'free' })
    expect(
      body.participants.map(({ id, reachable, epoch, queue, suspects }) => ({
        id,
        reachable,
        epoch,
        queue,
        suspects,
      })),
    ).toEqual([1, 2, 3].map(id => ({ id, reachable: true, epoch: 1, queue: 0, suspects: [] })))
  })

  it('200 with the holder, the phases, the queue and the owner', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ at: 2 })
    const ticket = await lock.queued({ at: 3 })
    const { body } = await eventually(async () => {
      const answer = await lock.status()
      expect(answer.body.participants.map(({ owner }) => owner)).toEqual([2, 2, 2])
      // The others know the grant once it is confirmed, in the background.
      expect(answer.body.participants.every(({ sequence }) => sequence! >= 1)).toBe(true)
      return answer
    })
    const { fence, expiresAt } = grant
    expect(body.holder).toEqual({ participant: 2, fence, expiresAt, since: expect.any(String) })
    expect(body.participants.map(({ phase }) => phase)).toEqual(['idle', 'cs-idle', 'requesting'])
    expect(body.participants.map(({ queue }) => queue)).toEqual([0, 0, 1])
    expectStatus(await lock.withdraw(ticket.id), 204)
    await lock.released(grant)
    await eventually(async () => {
      const free = (await lock.status()).body
      expect(free.holder).toBeNull()
      // The request that was withdrawn may still bring the token to participant 3.
      expect(free.participants.map(({ phase }) => phase).sort()).toEqual(['idle', 'idle', 'token-held'])
    })
  })
})

describe('history', () => {
  it('200 with the events of each participant, newest last', async () => {
    const lock = service.lock()
    const grant = await lock.granted({ at: 1 })
    const { sequence } = await lock.applied(grant, [{ put: 'a', value: 1 }], 'first')
    await lock.released(grant)
    await lock.transacted([{ get: 'a' }], { at: 2, opId: 'second' })
    const { body } = expectStatus(await lock.send('GET', '/history'), 200)
    expect(body).toMatchObject({ lock: lock.name, protocol: 'wme-2', resource: 'key-value' })
    const [first, second] = body.participants.map(
      ({ events }) => events as unknown as { type: string; at: number }[],
    )
    expect(first!.filter(event => 'user' in event).map(({ type }) => type)).toEqual([
      ...['try', 'crit', 'issue', 'outcome', 'exit', 'rem'],
    ])
    expect(first!.find(({ type }) => type === 'invoke')).toMatchObject({
      participant: 1,
      fence: grant.fence,
      opId: 'first',
      sequence,
      operation: [{ put: 'a', value: 1 }],
    })
    expect(second!.some(({ type }) => type === 'crit')).toBe(true)
    for (const events of [first!, second!]) {
      expect(events.map(({ at }) => at)).toEqual(
        events.map(({ at }) => at).sort((left, right) => left - right),
      )
    }
  })

  it('is no way to the grants of others: it tells enough of nobody to make the id of a grant', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    const ticket = await lock.queued()
    const { text } = await lock.send('GET', '/history')
    for (const { id } of [grant, ticket]) {
      const secret = id.slice(-22)
      for (let start = 0; start + 12 <= secret.length; start++) {
        expect(text).not.toContain(secret.slice(start, start + 12))
      }
    }
    expectStatus(await lock.withdraw(ticket.id), 204)
    await lock.released(grant)
  })

  it('leaves out what was merely said again, and what was refused', async () => {
    const lock = service.lock()
    const grant = await lock.granted()
    await lock.applied(grant, [{ increment: 'n' }], 'once')
    await lock.applied(grant, [{ increment: 'n' }], 'once')
    await lock.ops(grant, [{ increment: 'n', by: 2 }], 'once')
    await lock.released(grant)
    await lock.released(grant)
    const { participants } = (await lock.send('GET', '/history')).body
    const there = participants.find(({ id }) => id === grant.participant)!
    const types = (there.events as unknown as { type: string }[])
      .filter(event => 'user' in event)
      .map(({ type }) => type)
    expect(types).toEqual(['try', 'crit', 'issue', 'outcome', 'exit', 'rem'])
  })
})

describe('participants', () => {
  it.each([{}, { add: 1 }, { remove: 'x' }, { add: {}, remove: 1 }, { replace: 4_096 }, { participants: 3 }])(
    '400 for %j',
    async body => {
      const answer = await service.lock().send('POST', '/participants', { body })
      expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
    },
  )
})

itKeepsEveryPromise(service)
