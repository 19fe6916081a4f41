/**
 * Every protocol behind the same service, on workerd: what all of them do, and what each says that it cannot.
 */
import { describe, expect, it } from 'vitest'
import type { ConfigureRequest } from '../../shared/api/types.ts'
import { GUARDING_PROTOCOLS, PROTOCOL_NAMES, SHARING_PROTOCOLS } from '../../shared/protocols/all.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus, type TestLock } from './lock.ts'

const service = useService()
const three = [{}, {}, {}]

const GUARDING: [string, ConfigureRequest][] = [
  ['wme-1', { protocol: 'wme-1' }],
  ['wme-2', { protocol: 'wme-2' }],
  ['wme-consensus', { protocol: 'wme-consensus' }],
  ['wme-consensus, few messages', { protocol: 'wme-consensus', options: { consensus: 'message-optimal' } }],
]

const LOCK_ONLY: [string, ConfigureRequest][] = [
  ['ricart-agrawala', { protocol: 'ricart-agrawala' }],
  ['a ring that waits', { protocol: 'ricart-agrawala', options: { ring: 'waiting' } }],
  ['a ring that marks', { protocol: 'ricart-agrawala', options: { ring: 'marking' } }],
  ['numbers modulo 5', { protocol: 'ricart-agrawala', options: { modulus: 5 } }],
  [
    'random increments and names',
    { protocol: 'ricart-agrawala', options: { increment: { type: 'random', most: 9 }, names: [30, 20, 10] } },
  ],
  [
    'implicit replies',
    {
      protocol: 'ricart-agrawala',
      options: { implicitReply: { roundTripMs: 100, assumeNothingIsLostOrLate: true } },
    },
  ],
  ['maekawa', { protocol: 'maekawa' }],
  ['maekawa with seven', { protocol: 'maekawa', participants: [{}, {}, {}, {}, {}, {}, {}] }],
]

async function configured(configuration: ConfigureRequest): Promise<TestLock> {
  const lock = service.lock()
  expectStatus(await lock.configure({ participants: three, ...configuration }), 201)
  return lock
}

describe.each([...GUARDING, ...LOCK_ONLY])('%s', (_name, configuration) => {
  it('keeps its configuration', async () => {
    const lock = await configured(configuration)
    expectStatus(await lock.configure({ participants: three, ...configuration }), 200)
    expect((await lock.status()).body.protocol).toBe(configuration.protocol)
    const other = configuration.protocol === 'maekawa' ? 'wme-2' : 'maekawa'
    const { status, body } = await lock.configure({ participants: three, protocol: other })
    expect([status, body.code]).toEqual([409, 'conflict'])
  })

  it('goes from hand to hand at every participant, with rising fences', async () => {
    const lock = await configured(configuration)
    let last = 0
    for (const at of [1, 1, 2, 3, 1]) {
      const grant = await lock.granted({ at })
      expect(grant.fence).toBeGreaterThan(last)
      last = grant.fence
      await lock.released(grant)
    }
  })

  it('lets one in at a time, wherever they come', async () => {
    const lock = await configured(configuration)
    let inside = 0
    let most = 0
    const visit = async (at: number) => {
      const grant = await lock.granted({ at, waitMs: 25_000 })
      most = Math.max(most, ++inside)
      await lock.keepAlive(grant)
      inside--
      await lock.released(grant)
    }
    await Promise.all([1, 2, 3, 1, 2, 3, 1, 2, 3].map(visit))
    expect(most).toBe(1)
  })

  it('409 locked, tickets, ejection, the end of a time to live', async () => {
    const lock = await configured(configuration)
    const first = await lock.granted({ at: 1 })
    expect((await lock.acquire({ at: 2, waitMs: 0 })).body.code).toBe('locked')
    const ticket = await lock.queued({ at: 2 })
    expectStatus(await lock.eject(), 200)
    expect((await lock.keepAlive(first)).body.code).toBe('ejected')
    const { grant } = expectStatus(await lock.ticket(ticket.id, 20_000), 200).body
    expect(grant.fence).toBeGreaterThan(first.fence)
    await lock.released(grant)
    const short = await lock.granted({ at: 3, ttlMs: 1_000 })
    const next = await lock.granted({ at: 1, waitMs: 25_000 })
    expect(next.fence).toBeGreaterThan(short.fence)
    expect((await lock.release(short)).body.code).toBe('expired')
    const meant = await lock.eject({ fence: short.fence })
    expect([meant.status, meant.body.code]).toEqual([409, 'conflict'])
    await lock.released(next)
  })

  it('who holds it, waits for it or has left it is known after kill -9', async () => {
    const lock = await configured(configuration)
    const grant = await lock.granted({ at: 1, ttlMs: 600_000 })
    const ticket = await lock.queued({ at: 2 })
    await service.kill()
    await service.start()
    expect((await lock.acquire({ at: 3, waitMs: 0 })).body.code).toBe('locked')
    await lock.released(grant)
    const { grant: next } = expectStatus(await lock.ticket(ticket.id, 20_000), 200).body
    expect(next.fence).toBeGreaterThan(grant.fence)
    await lock.released(next)
  })
})

describe.each(GUARDING)('%s guards state', (_name, configuration) => {
  it('operations, transactions and reads', async () => {
    const lock = await configured(configuration)
    const grant = await lock.granted({ at: 2 })
    expect((await lock.applied(grant, [{ increment: 'n' }])).results).toMatchObject([{ value: 1 }])
    await lock.released(grant)
    const sold = await Promise.all(
      [1, 2, 3, 1, 2, 3].map(at => lock.transacted([{ increment: 'n' }], { at })),
    )
    expect(sold.map(({ results }) => results[0]?.value).sort()).toEqual([2, 3, 4, 5, 6, 7])
    for (const at of [1, 2, 3]) expect(await lock.value('n', `?at=${at}`)).toBe(7)
  })

  it('501 for readers that would share it', async () => {
    const { status, body } = await (await configured(configuration)).acquire({ mode: 'shared' })
    expect([status, body.code]).toEqual([501, 'not_supported'])
  })
})

describe.each(LOCK_ONLY)('%s guards nothing', (_name, configuration) => {
  it('501 for operations, transactions, reads and watching', async () => {
    const lock = await configured(configuration)
    const grant = await lock.granted()
    const answers = [
      await lock.ops(grant, [{ increment: 'n' }]),
      await lock.transact([{ increment: 'n' }]),
      await lock.get('n'),
      await lock.get('n', '?consistency=local'),
      await lock.list(),
      await lock.send('GET', '/watch'),
    ]
    for (const { status, body } of answers) expect([status, body.code]).toEqual([501, 'not_supported'])
    expect(answers[0]!.body.outcome).toBe('not-applied')
    await lock.released(grant)
  })
})

describe('readers and writers of ricart-agrawala', () => {
  it.each([
    ['at different participants', 1, 2],
    ['at one participant', 1, 1],
  ])('readers are inside together %s, a writer is not', async (_where, one, other) => {
    const lock = await configured({ protocol: 'ricart-agrawala' })
    const first = await lock.granted({ at: one, mode: 'shared' })
    const second = await lock.granted({ at: other, mode: 'shared' })
    expect(second.fence).not.toBe(first.fence)
    const ticket = await lock.queued({ at: 3 })
    expect((await lock.ticket(ticket.id)).status).toBe(202)
    await lock.released(first)
    expect((await lock.ticket(ticket.id)).status).toBe(202)
    await lock.released(second)
    const { grant } = expectStatus(await lock.ticket(ticket.id, 20_000), 200).body
    expect(grant.fence).toBeGreaterThan(Math.max(first.fence, second.fence))
    expect((await lock.acquire({ at: one, mode: 'shared', waitMs: 0 })).body.code).toBe('locked')
    await lock.released(grant)
  })

  it('501 for readers of maekawa', async () => {
    const { status, body } = await (await configured({ protocol: 'maekawa' })).acquire({ mode: 'shared' })
    expect([status, body.code]).toEqual([501, 'not_supported'])
  })
})

describe('options that cannot be', () => {
  it.each([
    [{ protocol: 'wme-2', options: { ring: 'waiting' } }, 'do not fit: wme-2 has no option ring"'],
    [{ protocol: 'maekawa', options: { modulus: 9 } }, 'do not fit: maekawa has no option modulus"'],
    [{ protocol: 'ricart-agrawala', options: { modulus: 4 } }, 'at least 2N-1 = 5'],
    [{ protocol: 'ricart-agrawala', options: { names: [1, 1, 2] } }, 'names must differ'],
    [{ protocol: 'ricart-agrawala', options: { consensus: 'latency-optimal' } }, 'no consensus to choose'],
    [{ protocol: 'wme-2', options: { colour: 'red' } }, 'colour'],
  ])('400 for %j', async (body, message) => {
    const answer = await service.lock().send('PUT', '', { body: { participants: three, ...body } })
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.body.errors)).toContain(message)
  })
})

describe('refusals name the protocols that can', () => {
  it.each(PROTOCOL_NAMES)('%s', async protocol => {
    const lock = await configured({ protocol })
    const shared = await lock.acquire({ mode: 'shared' })
    const isSharing = shared.status === 200
    if (isSharing) await lock.released(shared.body.grant)
    else for (const able of SHARING_PROTOCOLS) expect(shared.body.detail).toContain(able)
    expect([isSharing, shared.body.code]).toEqual([
      SHARING_PROTOCOLS.includes(protocol),
      isSharing ? undefined : 'not_supported',
    ])
    const read = await lock.get('a')
    const isGuarding = read.body.code === 'no_such_key'
    if (!isGuarding) for (const able of GUARDING_PROTOCOLS) expect(read.body.detail).toContain(able)
    expect(isGuarding).toBe(GUARDING_PROTOCOLS.includes(protocol))
  })

  it('and an option that stands in the way', async () => {
    const lock = await configured({ protocol: 'ricart-agrawala', options: { modulus: 5 } })
    expect((await lock.acquire({ mode: 'shared' })).body.detail).toContain('these options: modulus')
  })
})

itKeepsEveryPromise(service)
